//! Finds the MPI that a program uses: an MPI program under the launcher of another MPI runs as so many single processes.

use super::launcher::{Launch, LauncherKind, executable, name};
use super::multi_prog;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// An MPI ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AbiFamily {
    /// MPICH, Intel MPI, MVAPICH.
    Mpich,
    /// Open MPI.
    Openmpi,
    /// Standard ABI of MPI 5 (libmpi_abi.so) of any vendor.
    Abi,
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

/// The libraries that the programs of a command line load.
#[derive(Debug, Default)]
pub struct ProgramLibraries {
    /// The program that decided, and its MPI.
    loads: Option<(String, AbiFamily)>,
    /// A program that is statically linked, if one was seen.
    is_static: Option<String>,
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

impl ProgramLibraries {
    /// Looks at a program and what may be others among its arguments; true as soon as one decides.
    fn look_at(&mut self, words: &[OsString]) -> bool {
        for argument in words {
            let Some(path) = executable(argument) else {
                continue;
            };
            match libraries(&path) {
                Libraries::Static => self.is_static = Some(name(argument)),
                Libraries::NotElf => {}
                Libraries::Names(libraries) => {
                    let decides = |(library, path): &(String, Option<String>)| {
                        family_of(library, path.as_deref())
                    };
                    if let Some(family) = decisive(&libraries).find_map(decides) {
                        self.loads = Some((name(argument), family));
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Warnings about what will probably not work.
    pub fn warnings(&self, launch: &Launch) -> Vec<String> {
        let mut warnings = Vec::new();
        match (&self.loads, launch_family(launch)) {
            // Whose library the standard ABI is, its name does not tell.
            (Some((_, AbiFamily::Abi)), Some(_)) => {}
            (Some((program, family)), Some(launcher)) if *family != launcher => warnings.push(format!(
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

fn launch_family(launch: &Launch) -> Option<AbiFamily> {
    match launch.kind {
        LauncherKind::Hydra => Some(AbiFamily::Mpich),
        LauncherKind::OpenMpi => Some(AbiFamily::Openmpi),
        LauncherKind::Other | LauncherKind::None => None,
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
}
