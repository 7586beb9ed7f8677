//! Compiling the programs of `tests/programs`, each once per implementation and variant.

use crate::process::{self, TestFolder};
use crate::{Mpi, tally};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

/// A program of `tests/programs` and how it is to be compiled.
#[derive(Clone, Copy)]
pub struct Program {
    /// File name of the source without extension.
    pub name: &'static str,
    /// Whether calls are turned into their large-count forms.
    pub large_count: bool,
    /// Further arguments of the compiler, after the source.
    pub options: &'static [&'static str],
}

/// Diagnostics of MPICH's header about its own sentinels and of names the programs use because they are deprecated.
const C_OPTIONS: [&str; 9] = [
    "-O1",
    "-g",
    "-Wall",
    "-Wno-deprecated-declarations",
    "-Wno-stringop-overflow",
    "-Wno-stringop-overread",
    "-Wno-unused-function",
    "-Werror=incompatible-pointer-types",
    "-Werror=implicit-function-declaration",
];

impl Program {
    /// A C program in its plain variant.
    pub const fn c(name: &'static str) -> Program {
        Program {
            name,
            large_count: false,
            options: &[],
        }
    }

    /// Compiles it and returns the executable, at once if that is newer than its sources.
    #[track_caller]
    pub fn compile(&self, mpi: Mpi) -> PathBuf {
        let folder = crate::target().join("tests-programs").join(mpi.suffix());
        fs::create_dir_all(&folder).expect("a folder below target/");
        let sources = crate::root().join("tests/programs");
        let c = sources.join(format!("{}.c", self.name));
        let mut command = mpi.mpicc();
        if self.large_count {
            command.arg("-DLARGE_COUNT");
        }
        command
            .args(C_OPTIONS)
            .arg("-I")
            .arg(header(mpi))
            .arg("-I")
            .arg(&sources)
            .arg(&c);
        command.args(self.options).arg("-lpthread");
        let variant = if self.large_count { "-large" } else { "" };
        let executable = folder.join(format!("{}{variant}", self.name));
        let shared = ["check.h", "waits.h"].map(|name| sources.join(name));
        let inputs = [&[c, header(mpi).join("tally.h")], &shared[..]].concat();
        build(command, &executable, &inputs, !self.options.is_empty());
        executable
    }
}

/// Runs a compiler, unless the executable is newer than the inputs and `always` is not set.
#[track_caller]
pub fn build(mut command: Command, executable: &Path, inputs: &[PathBuf], always: bool) {
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    let newest: Option<SystemTime> = inputs.iter().filter_map(|path| time(path)).max();
    if !always && time(executable) > newest {
        return;
    }
    // Some wrappers leave their object file where they run.
    command.current_dir(executable.parent().expect("a folder below target/"));
    command.arg("-o").arg(executable);
    process::run(&mut command, Duration::from_secs(120)).succeeded();
}

/// The functions that the implementation's `mpi.h` declares, asked for once.
pub fn declared(mpi: Mpi) -> &'static BTreeSet<String> {
    static DECLARED: [OnceLock<BTreeSet<String>>; Mpi::KNOWN.len()] =
        [const { OnceLock::new() }; Mpi::KNOWN.len()];
    DECLARED[mpi as usize].get_or_init(|| tally::declared(mpi))
}

/// The folder with this implementation's `tally.h`, rewritten only when it changed.
fn header(mpi: Mpi) -> PathBuf {
    static WRITTEN: [OnceLock<()>; Mpi::KNOWN.len()] =
        [const { OnceLock::new() }; Mpi::KNOWN.len()];
    let folder = crate::target().join("tests-programs").join(mpi.suffix());
    WRITTEN[mpi as usize].get_or_init(|| {
        let fresh = TestFolder::new("tally");
        tally::write_header(fresh.path(), declared(mpi));
        let old = fs::read(folder.join("tally.h")).unwrap_or_default();
        let new = fs::read(fresh.path().join("tally.h")).expect("just written");
        if old != new {
            fs::create_dir_all(&folder).expect("a folder below target/");
            fs::write(folder.join("tally.h"), new).expect("a file below target/");
        }
    });
    folder
}
