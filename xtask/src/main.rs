//! The commands of this workspace: `cargo xtask help` lists them.

#[cfg(feature = "bindgen")]
mod bindgen;
mod cargo;
mod cli;
mod error;
mod headers;
mod suite;
mod toolkit;
mod workspace;

use std::process::ExitCode;

use cli::Command;
use error::Result;
use workspace::Workspace;

fn main() -> ExitCode {
    let command = match cli::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(problem) => {
            eprintln!("error: {problem}\n\n{}", cli::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    let workspace = Workspace::current();
    match command {
        Command::Help => {
            println!("{}", cli::USAGE);
            Ok(())
        }
        Command::Toolkit { versions } => toolkit::install(&workspace, &versions),
        Command::Bindgen => headers::write_bindings(&workspace),
        Command::Test { arguments } => suite::run(&workspace, &arguments),
    }
}
