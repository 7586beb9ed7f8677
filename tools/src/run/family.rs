//! Which MPI a program uses: libtrace.so is built for one ABI.

use super::launcher::{Kind, Launch, executable, name};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// An MPI ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Family {
    /// MPICH, Intel MPI, MVAPICH.
    Mpich,
    /// Open MPI.
    Openmpi,
}

impl Family {
    pub const ALL: [Family; 2] = [Family::Mpich, Family::Openmpi];

    /// The name of its folder under `lib/`.
    pub fn folder(self) -> &'static str {
        match self {
            Family::Mpich => "mpich",
            Family::Openmpi => "openmpi",
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Mpich => "MPICH",
            Family::Openmpi => "Open MPI",
        })
    }
}

/// What the programs of a command line load.
#[derive(Debug, Default)]
pub struct Found {
    /// Program and library that decided.
    loads: Option<(Family, String, String)>,
    /// A program that is statically linked, if one was seen.
    is_static: Option<String>,
}

/// Looks at the programs of a command line and at what they start in turn, as far as their arguments tell.
pub fn of_programs(argv: &[OsString], launch: &Launch) -> Found {
    let mut found = Found::default();
    for part in &launch.parts {
        let Some(program) = part.program else {
            continue;
        };
        // The first may be a wrapper (env, valgrind, sh); what it starts stands among its arguments.
        for argument in &argv[program..part.end] {
            let Some(path) = executable(argument) else {
                continue;
            };
            match libraries(&path) {
                Libraries::Static => found.is_static = Some(name(argument)),
                Libraries::NotElf => {}
                Libraries::Names(libraries) => {
                    let decides = |(library, path): &(String, Option<String>)| {
                        family_of(library, path.as_deref())
                            .map(|family| (family, name(argument), library.clone()))
                    };
                    if let Some(loads) = libraries.iter().find_map(decides) {
                        found.loads = Some(loads);
                        return found;
                    }
                }
            }
        }
    }
    found
}

impl Found {
    /// The family to preload for, and why.
    pub fn family(&self, launch: &Launch) -> Option<(Family, String)> {
        match (&self.loads, launch_family(launch)) {
            (Some((family, program, library)), _) => {
                Some((*family, format!("as {program} loads {library}")))
            }
            (None, Some(family)) => Some((family, "as its launcher is used".to_string())),
            (None, None) => None,
        }
    }

    /// What will probably not work.
    pub fn warnings(&self, launch: &Launch) -> Vec<String> {
        let mut warnings = Vec::new();
        match (&self.loads, launch_family(launch)) {
            (Some((family, program, _)), Some(launcher)) if *family != launcher => warnings.push(format!(
                "warning: {program} uses {family}, but the launcher is that of {launcher}; each process may run alone"
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

fn launch_family(launch: &Launch) -> Option<Family> {
    match launch.kind {
        Kind::Hydra => Some(Family::Mpich),
        Kind::OpenMpi => Some(Family::Openmpi),
        Kind::Other | Kind::None => None,
    }
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
fn family_of(library: &str, path: Option<&str>) -> Option<Family> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| library.starts_with(prefix));
    if starts(&[
        "libmpich.",
        "libmpichfort.",
        "libmpichcxx.",
        "libmpi.so.12",
        "libmpifort.so.12",
        "libmpicxx.so.12",
    ]) {
        Some(Family::Mpich)
    } else if starts(&[
        "libmpi.so.40",
        "libmpi_mpifh.",
        "libmpi_usempi",
        "libmpi_cxx.",
        "libopen-rte.",
        "libopen-pal.",
    ]) {
        Some(Family::Openmpi)
    } else if starts(&["libmpi.so"]) {
        // Another number than those in use today: only Open MPI has this object.
        let bytes = std::fs::read(path?).ok()?;
        let open_mpi = b"ompi_mpi_comm_world";
        let is_open_mpi = bytes.windows(open_mpi.len()).any(|part| part == open_mpi);
        Some(if is_open_mpi {
            Family::Openmpi
        } else {
            Family::Mpich
        })
    } else {
        None
    }
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
        assert_eq!(family_of("libmpich.so.12", None), Some(Family::Mpich));
        assert_eq!(family_of("libmpi.so.12", None), Some(Family::Mpich));
        assert_eq!(family_of("libmpi.so.40", None), Some(Family::Openmpi));
        assert_eq!(family_of("libmpi_mpifh.so.40", None), Some(Family::Openmpi));
        assert_eq!(family_of("libc.so.6", None), None);
    }
}
