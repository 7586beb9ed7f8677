//! The command `mpitrace`; everything it does is in the library of its name.

use std::process::ExitCode;

fn main() -> ExitCode {
    mpitrace::main()
}
