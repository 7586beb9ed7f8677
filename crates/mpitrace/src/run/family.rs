//! Finds the MPI that a program uses, because libtrace.so is built for one ABI.

use super::launcher::{Launch, LauncherKind, executable, name};
use super::multi_prog;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// An MPI ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum AbiFamily {
    /// MPICH, Intel MPI, MVAPICH.
    Mpich,
    /// Open MPI.
    Openmpi,
    /// Standard ABI of MPI 5 (libmpi_abi.so) of any vendor.
    Abi,
}

impl AbiFamily {
    pub const ALL: [AbiFamily; 3] = [AbiFamily::Mpich, AbiFamily::Openmpi, AbiFamily::Abi];

    /// The word for it: in a library's own words, in `--mpi`, and its usual folder under `lib/`.
    pub fn word(self) -> &'static str {
        match self {
            AbiFamily::Mpich => "mpich",
            AbiFamily::Openmpi => "openmpi",
            AbiFamily::Abi => "abi",
        }
    }

    /// The family with this word.
    pub fn of_word(word: &[u8]) -> Option<AbiFamily> {
        let is = |family: &AbiFamily| family.word().as_bytes() == word;
        AbiFamily::ALL.into_iter().find(is)
    }

    /// Names of its MPI libraries, the usual ones.
    fn libraries(self) -> &'static [&'static str] {
        match self {
            AbiFamily::Mpich => &["libmpich.so.12", "libmpi.so.12"],
            AbiFamily::Openmpi => &["libmpi.so.40"],
            AbiFamily::Abi => &["libmpi_abi.so.1"],
        }
    }
}

impl fmt::Display for AbiFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            AbiFamily::Mpich => "MPICH",
            AbiFamily::Openmpi => "Open MPI",
            AbiFamily::Abi => "the standard ABI of MPI 5",
        })
    }
}

/// The MPI of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredMpi {
    /// ABI of the MPI library.
    pub family: AbiFamily,
    /// File of the MPI library, where that is known.
    pub library: Option<PathBuf>,
    /// Reason for the user: `as ring loads libmpi.so.12`.
    pub why: String,
}

/// The libraries that the programs of a command line load.
#[derive(Debug, Default)]
pub struct ProgramLibraries {
    /// The program that decided, and its MPI.
    loads: Option<(String, RequiredMpi)>,
    /// A program that is statically linked, if one was seen.
    is_static: Option<String>,
    /// Whether Python is started, where a variable may tell mpi4py which MPI to load.
    is_python: bool,
}

/// Looks at the programs of a command line and at what they start in turn, as far as their arguments tell.
pub fn of_programs(argv: &[OsString], launch: &Launch) -> ProgramLibraries {
    let mut found = ProgramLibraries::default();
    for part in &launch.parts {
        if let Some(list) = part.list {
            for program in multi_prog::programs(Path::new(&argv[list])) {
                if found.look_at(&program) {
                    return found;
                }
            }
        }
        // The first may be a wrapper (env, valgrind, sh); what it starts stands among its arguments.
        if let Some(program) = part.program
            && found.look_at(&argv[program..part.end])
        {
            return found;
        }
    }
    found
}

/// The libraries with the calls first: those of the Fortran bindings, say, are not asked for their functions.
fn decisive(
    libraries: &[(String, Option<String>)],
) -> impl Iterator<Item = &(String, Option<String>)> {
    let is_main = |(name, _): &&(String, Option<String>)| {
        ["libmpi.so", "libmpich.so", "libmpi_abi.so"]
            .iter()
            .any(|main| name.starts_with(main))
    };
    let others = libraries.iter().filter(move |library| !is_main(library));
    libraries.iter().filter(is_main).chain(others)
}

/// Python itself or a script of it.
fn is_python(program: &Path) -> bool {
    let is = |name: &str| name.starts_with("python");
    if is(&name(program.as_os_str())) {
        return true;
    }
    let mut line = Vec::new();
    let read = File::open(program)
        .and_then(|file| BufReader::new(file.take(256)).read_until(b'\n', &mut line));
    read.is_ok()
        && line.starts_with(b"#!")
        && String::from_utf8_lossy(&line[2..])
            .split_whitespace()
            .any(|word| is(&name(word.as_ref())))
}

impl ProgramLibraries {
    /// Looks at a program and what may be others among its arguments; true as soon as one decides.
    fn look_at(&mut self, words: &[OsString]) -> bool {
        for argument in words {
            let Some(path) = executable(argument) else {
                continue;
            };
            self.is_python |= is_python(&path);
            match libraries(&path) {
                Libraries::Static => self.is_static = Some(name(argument)),
                Libraries::NotElf => {}
                Libraries::Names(libraries) => {
                    let decides = |(library, path): &(String, Option<String>)| {
                        family_of(library, path.as_deref()).map(|family| RequiredMpi {
                            family,
                            library: path.as_ref().map(PathBuf::from),
                            why: format!("as {} loads {library}", name(argument)),
                        })
                    };
                    if let Some(wanted) = decisive(&libraries).find_map(decides) {
                        self.loads = Some((name(argument), wanted));
                        return true;
                    }
                }
            }
        }
        false
    }

    /// The MPI to preload for: what a program loads; else what `TRACE_LIBMPI` or `MPI4PY_MPIABI` names; else the launcher's.
    pub fn wanted(&self, argv: &[OsString], launch: &Launch) -> Option<RequiredMpi> {
        if let Some((_, wanted)) = &self.loads {
            return Some(wanted.clone());
        }
        self.named(argv).or_else(|| {
            let family = launch_family(launch)?;
            Some(RequiredMpi {
                family,
                library: of_launcher(&argv[launch.launcher], family),
                why: "as its launcher is used".into(),
            })
        })
    }

    /// The MPI that a variable names, in the command line or in the environment.
    fn named(&self, argv: &[OsString]) -> Option<RequiredMpi> {
        if let Some(path) = variable(argv, "TRACE_LIBMPI") {
            let file = name(path.as_ref());
            let family = family_of(&file, Some(&path))?;
            return Some(RequiredMpi {
                family,
                library: Some(path.into()).filter(|path: &PathBuf| path.is_file()),
                why: format!("as TRACE_LIBMPI names {file}"),
            });
        }
        let named = variable(argv, "MPI4PY_MPIABI").filter(|_| self.is_python)?;
        // As mpi4py reads it.
        let word = named.replace([' ', '-', '_'], "").to_lowercase();
        let family = match word.as_str() {
            "mpich" | "impi" => AbiFamily::Mpich,
            "openmpi" => AbiFamily::Openmpi,
            "mpiabi" => AbiFamily::Abi,
            _ => return None,
        };
        Some(RequiredMpi {
            family,
            library: None,
            why: format!("as MPI4PY_MPIABI is {named}"),
        })
    }

    /// Warnings about what will probably not work.
    pub fn warnings(&self, launch: &Launch) -> Vec<String> {
        let mut warnings = Vec::new();
        match (&self.loads, launch_family(launch)) {
            // Whose library the standard ABI is, its name does not tell.
            (Some((_, wanted)), Some(_)) if wanted.family == AbiFamily::Abi => {}
            (Some((program, wanted)), Some(launcher)) if wanted.family != launcher => warnings.push(format!(
                "warning: {program} uses {}, but the launcher is that of {launcher}; each process may run alone",
                wanted.family
            )),
            _ => {}
        }
        if let (None, Some(program)) = (&self.loads, &self.is_static) {
            warnings.push(format!(
                "warning: {program} is statically linked; preloading has no effect on it"
            ));
        }
        warnings
    }
}

/// The last value that the command line gives a variable (`-x A=B`, `-genv A B`, `env A=B`), else that of the environment.
fn variable(argv: &[OsString], wanted: &str) -> Option<String> {
    let in_one = |argument: &OsString| {
        let value = argument.to_str()?.strip_prefix(wanted)?.strip_prefix('=')?;
        Some(value.to_owned())
    };
    let in_two = |words: &[OsString]| {
        let option = words[0].to_str()?.trim_start_matches('-');
        let is = ["genv", "env"].contains(&option) && words[1] == wanted;
        is.then(|| words[2].to_string_lossy().into_owned())
    };
    let one = argv.iter().rev().find_map(in_one);
    one.or_else(|| argv.windows(3).rev().find_map(in_two))
        .or_else(|| std::env::var(wanted).ok())
        .filter(|value| !value.is_empty())
}

fn launch_family(launch: &Launch) -> Option<AbiFamily> {
    match launch.kind {
        LauncherKind::Hydra => Some(AbiFamily::Mpich),
        LauncherKind::OpenMpi => Some(AbiFamily::Openmpi),
        LauncherKind::Other | LauncherKind::None => None,
    }
}

/// The MPI library that belongs to a launcher: in the `lib` beside its `bin`, else where the system has it.
fn of_launcher(launcher: &OsStr, family: AbiFamily) -> Option<PathBuf> {
    let file = executable(launcher)?;
    let file = file.canonicalize().unwrap_or(file);
    let above = file.parent()?.parent()?;
    let beside = ["lib", "lib64"].iter().flat_map(|folder| {
        let names = family.libraries().iter();
        names.map(move |name| above.join(folder).join(name))
    });
    let beside: Vec<PathBuf> = beside.filter(|path| path.is_file()).collect();
    beside.into_iter().next().or_else(|| system(family))
}

/// Path of a library of this family in the cache of the dynamic loader.
fn system(family: AbiFamily) -> Option<PathBuf> {
    let run = |program: &str| {
        let mut command = Command::new(program);
        command.arg("-p").env_remove("LD_PRELOAD");
        command.stdin(Stdio::null()).output().ok()
    };
    let output = run("ldconfig").or_else(|| run("/sbin/ldconfig"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Lines are `NAME (ABI) => PATH`.
    family.libraries().iter().find_map(|name| {
        let of_name = |line: &&str| line.split_whitespace().next() == Some(name);
        let path = text.lines().find(of_name)?.split_once(" => ")?.1;
        Some(PathBuf::from(path))
    })
}

enum Libraries {
    /// A script or anything else.
    NotElf,
    /// An executable without a dynamic section.
    Static,
    /// Names of all libraries, direct and indirect, and where they were found.
    Names(Vec<(String, Option<String>)>),
}

/// All libraries a program loads, as the dynamic loader resolves them.
fn libraries(program: &Path) -> Libraries {
    let mut magic = [0; 4];
    let is_elf = File::open(program)
        .and_then(|mut file| file.read_exact(&mut magic))
        .is_ok()
        && magic == *b"\x7fELF";
    if !is_elf {
        return Libraries::NotElf;
    }
    let run = Command::new("ldd")
        .arg(program)
        .env_remove("LD_PRELOAD")
        .stdin(Stdio::null())
        .output();
    match run {
        Ok(output) if output.status.success() => {
            Libraries::Names(parse_ldd(&String::from_utf8_lossy(&output.stdout)))
        }
        // ldd ends with 1 for a static program, and says so in the user's language.
        Ok(_) => Libraries::Static,
        Err(_) => Libraries::Names(Vec::new()),
    }
}

/// Lines are `NAME => PATH (ADDRESS)`, `NAME => not found` or `NAME (ADDRESS)`.
fn parse_ldd(text: &str) -> Vec<(String, Option<String>)> {
    let parse = |line: &str| {
        let line = line.trim();
        let (name, rest) = line.split_once(" => ").or_else(|| line.split_once(" ("))?;
        let path = rest.split(" (").next().filter(|path| path.starts_with('/'));
        Some((
            super::launcher::name(name.as_ref()),
            path.map(str::to_string),
        ))
    };
    text.lines().filter_map(parse).collect()
}

/// The family a library belongs to, if it is one of MPI.
fn family_of(library: &str, path: Option<&str>) -> Option<AbiFamily> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| library.starts_with(prefix));
    if starts(&["libmpi_abi.", "libmpifort_abi."]) {
        Some(AbiFamily::Abi)
    } else if starts(&[
        "libmpich.",
        "libmpichfort.",
        "libmpichcxx.",
        "libmpi.so.12",
        "libmpifort.so.12",
        "libmpicxx.so.12",
    ]) {
        Some(AbiFamily::Mpich)
    } else if starts(&[
        "libmpi.so.40",
        "libmpi_mpifh.",
        "libmpi_usempi",
        "libmpi_cxx.",
        "libopen-rte.",
        "libopen-pal.",
    ]) {
        Some(AbiFamily::Openmpi)
    } else if starts(&["libmpi.so"]) {
        // Another number than those in use today: only Open MPI has this object.
        let is_open_mpi = has_name(Path::new(path?), "ompi_mpi_comm_world")?;
        Some(match is_open_mpi {
            true => AbiFamily::Openmpi,
            false => AbiFamily::Mpich,
        })
    } else {
        None
    }
}

/// Whether a symbol's name stands in a library; `None` if the file cannot be read.
pub fn has_name(library: &Path, symbol: &str) -> Option<bool> {
    let bytes = std::fs::read(library).ok()?;
    let name = regex::bytes::Regex::new(&format!(r"(?-u)\x00P?{symbol}\x00")).ok()?;
    Some(name.is_match(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ldd_lines() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x00007f)\n\
                    \tlibx.so.3 => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n";
        let path = Some("/lib/x86_64-linux-gnu/libmpich.so.12".to_string());
        assert_eq!(
            parse_ldd(text),
            [
                ("linux-vdso.so.1".to_string(), None),
                ("libmpich.so.12".to_string(), path),
                ("libx.so.3".to_string(), None),
                ("ld-linux-x86-64.so.2".to_string(), None)
            ]
        );
    }

    #[test]
    fn library_names_tell_the_family() {
        assert_eq!(family_of("libmpich.so.12", None), Some(AbiFamily::Mpich));
        assert_eq!(family_of("libmpi.so.12", None), Some(AbiFamily::Mpich));
        assert_eq!(family_of("libmpi.so.40", None), Some(AbiFamily::Openmpi));
        assert_eq!(
            family_of("libmpi_mpifh.so.40", None),
            Some(AbiFamily::Openmpi)
        );
        assert_eq!(family_of("libmpi_abi.so.1", None), Some(AbiFamily::Abi));
        assert_eq!(family_of("libc.so.6", None), None);
    }

    #[test]
    fn variables_of_the_command_line() {
        let argv = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        for line in [
            "mpiexec -genv T_NAME value ls",
            "mpirun -x T_NAME=value ls",
            "srun env T_NAME=other T_NAME=value ls",
        ] {
            assert_eq!(
                variable(&argv(line), "T_NAME").as_deref(),
                Some("value"),
                "{line}"
            );
        }
        assert_eq!(variable(&argv("mpirun -x T_NAME ls"), "T_NAME"), None);
    }

    #[test]
    fn scripts_tell_their_interpreter() {
        let folder = tempfile::tempdir().expect("a folder");
        for (first, python) in [
            ("#!/usr/bin/env python3", true),
            ("#!/opt/x/bin/python3.11 -u", true),
            ("#!/bin/sh", false),
            ("python", false),
        ] {
            let path = folder.path().join("script");
            std::fs::write(&path, format!("{first}\npython3\n")).expect("own folder");
            assert_eq!(is_python(&path), python, "{first}");
        }
    }
}
