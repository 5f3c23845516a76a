//! `glyphoxa`: arguments to a command to an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    glyphoxa::cli::main()
}
