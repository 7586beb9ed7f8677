//! Finds the launcher in a command line, and the programs that it starts.

use super::multi_prog::OPTION;
use super::option_values::{among, values};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The kinds of launcher, by how they are told about environment variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LauncherKind {
    /// `-genv NAME VALUE`: MPICH's mpiexec and its relatives.
    Hydra,
    /// `-x NAME=VALUE`: Open MPI's mpirun.
    OpenMpi,
    /// Any other (srun, aprun, …): `env NAME=VALUE` goes before the program.
    Other,
    /// None; the command is the program.
    None,
}

/// A command line, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Launch {
    pub kind: LauncherKind,
    /// Index of the launcher (or of the program, if there is none).
    pub launcher: usize,
    /// Per `:`-separated part of the command line, where its options begin and where its program stands.
    pub parts: Vec<ProgramPart>,
}

/// One part of a multi-program command line.
#[derive(Debug, PartialEq, Eq)]
pub struct ProgramPart {
    /// Index of the first argument behind the launcher or the `:`.
    pub start: usize,
    /// Index of the program, if it was found.
    pub program: Option<usize>,
    /// Index of the file in which the programs stand instead (`srun --multi-prog`).
    pub list: Option<usize>,
    /// Index behind the last argument.
    pub end: usize,
}

/// Commands that start a command and may stand before a launcher.
pub const PREFIXES: &str = "env time timeout nice nohup stdbuf taskset numactl strace";

/// Launchers that are not asked what they are.
const OTHERS: &str = "srun aprun jsrun ibrun prun lrun";

impl Launch {
    /// Takes a command line apart. May run the launcher with `--version`.
    pub fn recognise(argv: &[OsString]) -> Self {
        let launcher = match argv.first() {
            Some(first) if among(PREFIXES, &name(first)) => argv
                .iter()
                .position(|argument| is_launcher_name(&name(argument))),
            Some(first) if is_launcher_name(&name(first)) => Some(0),
            _ => None,
        };
        let Some(launcher) = launcher else {
            let parts = vec![ProgramPart {
                start: 0,
                program: Some(0),
                list: None,
                end: argv.len(),
            }];
            return Launch {
                kind: LauncherKind::None,
                launcher: 0,
                parts,
            };
        };
        Launch::with_kind(argv, launcher, kind(&argv[launcher]))
    }

    fn with_kind(argv: &[OsString], launcher: usize, kind: LauncherKind) -> Self {
        let mut parts = Vec::new();
        let mut start = launcher + 1;
        let of_part = |start, end, any| program(argv, (launcher, kind), start, end, any);
        loop {
            let colon = argv[start..].iter().position(|argument| argument == ":");
            let end = colon.map_or(argv.len(), |length| start + length);
            let is_listed =
                kind == LauncherKind::Other && argv[start..end].iter().any(|a| a == OPTION);
            let list = is_listed.then(|| of_part(start, end, true));
            parts.push(ProgramPart {
                start,
                program: match is_listed {
                    true => None,
                    false => of_part(start, end, false),
                },
                list: list.flatten(),
                end,
            });
            if colon.is_none() {
                break;
            }
            start = end + 1;
        }
        Launch {
            kind,
            launcher,
            parts,
        }
    }
}

/// Position of the program in `argv[start..end]`: the first argument that is neither an option nor its value and that
/// can be executed, or may be `any` file. `launcher` is the launcher's index and kind.
fn program(
    argv: &[OsString],
    launcher: (usize, LauncherKind),
    start: usize,
    end: usize,
    any: bool,
) -> Option<usize> {
    let is_other = launcher.1 == LauncherKind::Other;
    let launcher = name(&argv[launcher.0]);
    let mut at = start;
    while at < end {
        let argument = argv[at].to_string_lossy();
        match argument.starts_with('-') {
            true => at += 1 + values(&argument, argv.get(at + 1), is_other, &launcher),
            false if any || executable(&argv[at]).is_some() => return Some(at),
            false => at += 1,
        }
    }
    None
}

/// The file that would be executed as `command`, if there is one.
pub fn executable(command: &OsStr) -> Option<PathBuf> {
    let can_run = |path: &Path| {
        let found = path.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    let path = Path::new(command);
    if command.as_encoded_bytes().contains(&b'/') {
        return can_run(path).then(|| path.to_path_buf());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(path))
        .find(|path| can_run(path))
}

/// File name of a command.
pub fn name(command: &OsStr) -> String {
    Path::new(command)
        .file_name()
        .unwrap_or(command)
        .to_string_lossy()
        .into_owned()
}

fn is_launcher_name(name: &str) -> bool {
    let starts = ["mpiexec", "mpirun", "orterun", "ompirun", "prterun"];
    starts.iter().any(|start| name.starts_with(start)) || among(OTHERS, name)
}

/// Kind of a launcher: by its name, that of the file it links to, or the version that it prints.
fn kind(launcher: &OsStr) -> LauncherKind {
    let by_name = |name: &str| {
        let has = |part: &str| name.contains(part);
        if among(OTHERS, name) {
            Some(LauncherKind::Other)
        } else if has("hydra") || has("mpich") {
            Some(LauncherKind::Hydra)
        } else if has("openmpi") || has("orterun") || has("ompirun") || has("prterun") {
            Some(LauncherKind::OpenMpi)
        } else {
            None
        }
    };
    let file = executable(launcher);
    let target = file.as_ref().and_then(|file| file.canonicalize().ok());
    by_name(&name(launcher))
        .or_else(|| target.and_then(|target| by_name(&name(target.as_os_str()))))
        .or_else(|| {
            file.and_then(|file| version(&file))
                .and_then(|text| kind_by_version(&text))
        })
        .unwrap_or(LauncherKind::Other)
}

fn version(launcher: &Path) -> Option<String> {
    // A preloaded library has no business in a program that only says its version.
    let output = Command::new(launcher)
        .arg("--version")
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn kind_by_version(text: &str) -> Option<LauncherKind> {
    let has = |part: &str| text.contains(part);
    if has("HYDRA") || has("Intel(R) MPI Library") || has("MVAPICH") {
        Some(LauncherKind::Hydra)
    } else if has("Open MPI") || has("OpenRTE") || has("PRRTE") || has("prterun") {
        Some(LauncherKind::OpenMpi)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn programs(line: &str) -> Vec<String> {
        let argv = argv(line);
        let kind = if line.starts_with("srun") {
            LauncherKind::Other
        } else {
            LauncherKind::Hydra
        };
        let launch = Launch::with_kind(&argv, 0, kind);
        let found = launch.parts.iter().map(|part| {
            part.program
                .map(|at| argv[at].to_string_lossy().into_owned())
        });
        found.map(|found| found.unwrap_or_default()).collect()
    }

    #[test]
    fn the_program_stands_behind_options_and_their_values() {
        for line in [
            "mpiexec ls -n",
            "mpiexec -n 4 -genv PATH sh -genv A=sh ls -l",
            "mpirun -np 2 --mca plm sh --bind-to core --oversubscribe -x sh ls",
            "mpirun --host=sh --map-by ppr:1:node ls : x",
            "srun -n2 -J sh --mpi=pmix ls sh",
            "srun --account test --job-name sh -M sh -L test -U sh --partition test ls",
            "srun --task-prolog sh --exclusive -H -lu ls -n sh",
            "mpirun -q -d ls",
        ] {
            assert_eq!(programs(line)[0], "ls", "{line}");
        }
    }

    #[test]
    fn every_part_has_its_program() {
        assert_eq!(
            programs("mpiexec -n 1 ls -l : -n 2 sh -c ls : -n 3 no-such-program"),
            ["ls", "sh", ""]
        );
    }

    #[test]
    fn a_command_without_launcher_is_the_program() {
        let launch = Launch::recognise(&argv("./app mpiexec -n 2 ls"));
        assert_eq!(launch.kind, LauncherKind::None);
    }

    #[test]
    fn a_launcher_may_stand_behind_a_prefix() {
        let launch = Launch::recognise(&argv("env A=1 srun -n 2 ls"));
        assert_eq!((launch.kind, launch.launcher), (LauncherKind::Other, 2));
        assert_eq!(launch.parts[0].program, Some(5));
    }

    #[test]
    fn programs_may_stand_in_a_file() {
        let argv = argv("srun -n 2 --multi-prog -J sh no-such-file arguments");
        let launch = Launch::with_kind(&argv, 0, LauncherKind::Other);
        assert_eq!(
            (launch.parts[0].program, launch.parts[0].list),
            (None, Some(6))
        );
    }

    #[test]
    fn versions_tell_the_kind() {
        assert_eq!(
            kind_by_version("HYDRA build details:\n    Version: 4.0.2"),
            Some(LauncherKind::Hydra)
        );
        assert_eq!(
            kind_by_version("Intel(R) MPI Library for Linux* OS, Version 2021.15"),
            Some(LauncherKind::Hydra)
        );
        assert_eq!(
            kind_by_version("mpirun (OpenRTE) 4.1.4"),
            Some(LauncherKind::OpenMpi)
        );
        assert_eq!(
            kind_by_version("mpirun (Open MPI) 5.0.7"),
            Some(LauncherKind::OpenMpi)
        );
        assert_eq!(kind_by_version("something else"), None);
    }
}
