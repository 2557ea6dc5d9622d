//! The commands of this workspace: `cargo xtask help` lists them.

#[cfg(feature = "bindgen")]
mod bindgen;
mod bundle;
mod cargo;
mod cli;
#[cfg(feature = "demo")]
mod demo;
mod error;
mod headers;
#[cfg(feature = "intrinsics")]
mod intrinsics;
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
        #[cfg(feature = "demo")]
        Command::Demo => demo::run(&workspace),
        #[cfg(not(feature = "demo"))]
        Command::Demo => cargo::Cargo::on_xtask("run", "demo")
            .passing(&["demo".into()])
            .run("the demo", &workspace),
        Command::Bindgen => headers::write_bindings(&workspace),
        Command::GpuBundle { out } => bundle::write(&workspace, out.as_deref()),
        #[cfg(feature = "intrinsics")]
        Command::Intrinsics(how) => intrinsics::run(&workspace, how),
        #[cfg(not(feature = "intrinsics"))]
        Command::Intrinsics(how) => cargo::Cargo::on_xtask("run", "intrinsics")
            .passing(&how.arguments())
            .run("the trials of intrinsics", &workspace),
        Command::Test { arguments } => suite::run(&workspace, &arguments),
    }
}
