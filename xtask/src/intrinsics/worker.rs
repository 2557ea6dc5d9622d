//! A process that may die: it compiles what comes on its standard input with the plain library.

use std::ffi::{CString, c_char};
use std::io::{Read, Write};
use std::path::Path;
use std::ptr;

use cuda_program::Toolkit;
use cuda_program::sys::Nvvm;

use crate::error::{Error, Result};

/// What came of a compilation that came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Code without a call to anything.
    Code,
    /// Code that calls what nobody defines.
    Unresolved,
    /// An error.
    Refused,
}

/// The byte that stands for it between the processes.
impl Answer {
    fn byte(self) -> u8 {
        match self {
            Answer::Code => b'c',
            Answer::Unresolved => b'u',
            Answer::Refused => b'r',
        }
    }

    /// What a byte stands for.
    pub fn of(byte: u8) -> Option<Self> {
        [Answer::Code, Answer::Unresolved, Answer::Refused]
            .into_iter()
            .find(|answer| answer.byte() == byte)
    }
}

/// Reads modules, each behind its length in four bytes, until there are no more, and answers each with
/// one byte.
pub fn serve(toolkit: &Path, options: &[String]) -> Result<()> {
    let toolkit = Toolkit::at(toolkit)?;
    let api = toolkit.nvvm()?.api;
    let options: Vec<CString> = options
        .iter()
        .map(|option| CString::new(option.as_str()).unwrap_or_default())
        .collect();
    let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let pipe = |e| Error::io("read", Path::new("the standard input"))(e);
    loop {
        let mut length = [0; 4];
        match input.read_exact(&mut length) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(pipe(e)),
        }
        let mut module = vec![0; u32::from_le_bytes(length) as usize];
        input.read_exact(&mut module).map_err(pipe)?;
        let answer = compile(&api, &options, &module);
        output
            .write_all(&[answer.byte()])
            .and_then(|()| output.flush())
            .map_err(pipe)?;
    }
}

fn compile(api: &Nvvm, options: &[*const c_char], module: &[u8]) -> Answer {
    let mut options = options.to_vec();
    let Ok(count) = i32::try_from(options.len()) else {
        return Answer::Refused;
    };
    let mut program = ptr::null_mut();
    // SAFETY: the places are valid, the module outlives the call that copies it, the options end in
    // NULs, and the result gets as many bytes as the library said that it has.
    unsafe {
        if (api.nvvmCreateProgram)(&mut program) != 0 {
            return Answer::Refused;
        }
        let bytes = module.as_ptr().cast();
        let mut answer = Answer::Refused;
        if (api.nvvmAddModuleToProgram)(program, bytes, module.len(), c"m".as_ptr()) == 0
            && (api.nvvmCompileProgram)(program, count, options.as_mut_ptr()) == 0
        {
            let mut size = 0;
            (api.nvvmGetCompiledResultSize)(program, &mut size);
            let mut ptx = vec![0_u8; size];
            (api.nvvmGetCompiledResult)(program, ptx.as_mut_ptr().cast());
            answer = read(&String::from_utf8_lossy(&ptx));
        }
        (api.nvvmDestroyProgram)(&mut program);
        answer
    }
}

fn read(ptx: &str) -> Answer {
    if ptx.contains(".extern .func") {
        Answer::Unresolved
    } else {
        Answer::Code
    }
}
