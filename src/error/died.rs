//! A compiler that ended the process it ran in.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Error;

/// A worker process that ended while it ran a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CompilerDied {
    /// The job, as in ``NVVM IR `k.ll` to PTX for sm_90``.
    pub job: String,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
    /// The code that it left with, where it left by itself.
    pub code: Option<i32>,
    /// The end of what it wrote to its standard error.
    pub stderr: String,
}

impl CompilerDied {
    /// The signal's name, where it is one that a compiler dies of.
    #[must_use]
    pub fn signal_name(&self) -> Option<&'static str> {
        Some(match self.signal? {
            4 => "SIGILL",
            5 => "SIGTRAP",
            6 => "SIGABRT",
            7 => "SIGBUS",
            8 => "SIGFPE",
            9 => "SIGKILL",
            11 => "SIGSEGV",
            15 => "SIGTERM",
            _ => return None,
        })
    }
}

impl std::error::Error for CompilerDied {}

impl fmt::Display for CompilerDied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ended its worker process ", self.job)?;
        match (self.signal, self.signal_name(), self.code) {
            (_, Some(name), _) => write!(f, "by {name}")?,
            (Some(signal), None, _) => write!(f, "by signal {signal}")?,
            (None, _, Some(code)) => write!(f, "with status {code}")?,
            (None, _, None) => f.write_str("without a trace")?,
        }
        f.write_str(&said(&self.stderr))?;
        match self.signal {
            Some(9) => f.write_str(
                "; something killed it from outside, as the system does where memory is short: run \
                 fewer at once, or set a ceiling of memory",
            ),
            _ => f.write_str(
                "; the compiler cannot take this input, and everything else goes on: change the \
                 input, or try another version of the compiler",
            ),
        }
    }
}

impl From<CompilerDied> for Error {
    fn from(e: CompilerDied) -> Self {
        Error::CompilerDied(Box::new(e))
    }
}

/// What a process wrote before it ended, as part of a sentence.
pub(super) fn said(text: &str) -> String {
    let last: Vec<&str> = text.trim().lines().rev().take(3).collect();
    if last.is_empty() {
        return String::new();
    }
    let last: Vec<&str> = last.into_iter().rev().map(str::trim).collect();
    format!(" (it said: {})", last.join(" / "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_it_and_its_last_words_are_told() {
        let mut died = CompilerDied {
            job: "NVVM IR `k.ll` to PTX".to_owned(),
            signal: Some(6),
            code: None,
            stderr: "one\ntwo\nthree\nLLVM ERROR: four\n".to_owned(),
        };
        insta::assert_snapshot!(died, @"NVVM IR `k.ll` to PTX ended its worker process by SIGABRT (it said: two / three / LLVM ERROR: four); the compiler cannot take this input, and everything else goes on: change the input, or try another version of the compiler");
        died.signal = Some(9);
        died.stderr.clear();
        insta::assert_snapshot!(died, @"NVVM IR `k.ll` to PTX ended its worker process by SIGKILL; something killed it from outside, as the system does where memory is short: run fewer at once, or set a ceiling of memory");
        died.signal = None;
        died.code = Some(1);
        insta::assert_snapshot!(died, @"NVVM IR `k.ll` to PTX ended its worker process with status 1; the compiler cannot take this input, and everything else goes on: change the input, or try another version of the compiler");
    }
}
