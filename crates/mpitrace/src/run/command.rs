//! The command line that starts the ranks with the library preloaded.

use super::env_command::{self, assigned};
use super::launcher::{Launch, LauncherKind, ProgramPart};
use super::multi_prog;
use super::open_mpi;
use crate::failure::Failure;
use std::ffi::{OsStr, OsString};

const PRELOAD: &str = "LD_PRELOAD";

/// Program, arguments and environment to execute.
#[derive(Debug, PartialEq, Eq)]
pub struct RunPlan {
    pub argv: Vec<OsString>,
    /// Variables to set for `argv[0]`; only used without a launcher, which must not load the library itself.
    pub env: Vec<(OsString, OsString)>,
}

/// Works the library and the settings into a command line.
///
/// An LD_PRELOAD of the user, in the environment or in the command line, is kept behind the library.
pub fn plan(
    argv: &[OsString],
    launch: &Launch,
    library: &OsStr,
    settings: &[(OsString, OsString)],
) -> Result<RunPlan, Failure> {
    plan_with(argv, launch, library, settings, &|name| {
        std::env::var_os(name)
    })
}

fn plan_with(
    argv: &[OsString],
    launch: &Launch,
    library: &OsStr,
    settings: &[(OsString, OsString)],
    environment: &dyn Fn(&str) -> Option<OsString>,
) -> Result<RunPlan, Failure> {
    // `env` before the launcher may set what the launcher hands on.
    let of_launcher =
        |name: &str| env_command::value_behind(argv, launch.launcher, name, environment(name));
    let inherited = of_launcher(PRELOAD);
    let inherited = inherited.as_deref();
    let mut argv = argv.to_vec();
    let mut variables = vec![(
        OsString::from(PRELOAD),
        joined(library, inherited.unwrap_or_default()),
    )];
    variables.extend_from_slice(settings);
    if launch.kind == LauncherKind::None {
        let end = argv.len();
        take_over_env(&mut argv, 0, end, library, settings);
        return Ok(RunPlan {
            argv,
            env: variables,
        });
    }
    let mut kind = launch.kind;
    if kind == LauncherKind::OpenMpi {
        let list = open_mpi::env_list(&argv, launch);
        let list = list.or_else(|| of_launcher(open_mpi::ENV_LIST_VARIABLE));
        let list = list.filter(|list| !list.is_empty());
        let all = open_mpi::for_app_file(&argv, launch, list.is_some(), &variables)?;
        if let Some(options) = all {
            let start = launch.parts[0].start;
            argv.splice(start..start, options);
            let env = Vec::new();
            return Ok(RunPlan { argv, env });
        }
        if let Some(list) = list {
            // Beside a list Open MPI refuses -x.
            let preload = open_mpi::listed(&list, PRELOAD, inherited);
            variables[0].1 = joined(library, &preload.unwrap_or_default());
            kind = LauncherKind::Other;
        }
    }
    // From the back, so that insertions leave the indices before them right.
    for (number, part) in launch.parts.iter().enumerate().rev() {
        if let Some(program) = part.program {
            take_over_env(&mut argv, program, part.end, library, settings);
        }
        let preloads = take_over(&mut argv, part, library, inherited);
        let own = if preloads {
            &variables[1..]
        } else {
            &variables[..]
        };
        match kind {
            // Open MPI's -x holds for one part only.
            LauncherKind::OpenMpi => {
                let options = own
                    .iter()
                    .flat_map(|(name, value)| ["-x".into(), assignment(name, value)]);
                argv.splice(part.start..part.start, options.collect::<Vec<_>>());
            }
            LauncherKind::Hydra if number == 0 => {
                // A -genv of the user would come later and win, so it was changed in place.
                let global = if preloads && launch.parts.len() == 1 {
                    own
                } else {
                    &variables
                };
                let options = global
                    .iter()
                    .flat_map(|(name, value)| ["-genv".into(), name.clone(), value.clone()]);
                argv.splice(part.start..part.start, options.collect::<Vec<_>>());
            }
            LauncherKind::Hydra => {}
            LauncherKind::Other | LauncherKind::None => {
                if let Some(list) = part.list {
                    let inherited = of_launcher("SLURM_EXPORT_ENV");
                    let options = (part.start, list);
                    multi_prog::export(&mut argv, options, inherited.as_deref(), own);
                    continue;
                }
                let Some(program) = part.program else {
                    let message = "cannot find the program in the command; preload with `env LD_PRELOAD=… PROGRAM`";
                    return Err(Failure::Call(message.into()));
                };
                let mut before = vec![OsString::from("env")];
                before.extend(own.iter().map(|(name, value)| assignment(name, value)));
                argv.splice(program..program, before);
            }
        }
    }
    Ok(RunPlan {
        argv,
        env: Vec::new(),
    })
}

/// Adds the library to an LD_PRELOAD that the command line itself sets for a part. True if the launcher's own options set
/// it, so that no further option is needed.
fn take_over(
    argv: &mut [OsString],
    part: &ProgramPart,
    library: &OsStr,
    inherited: Option<&OsStr>,
) -> bool {
    let mut by_option = false;
    let program = part.program.unwrap_or(part.end);
    let mut at = part.start;
    while at < program {
        let option = argv[at]
            .to_string_lossy()
            .trim_start_matches('-')
            .to_string();
        at += 1;
        if !["x", "genv", "env"].contains(&option.as_str()) || at >= program {
            continue;
        }
        if let Some(value) = assigned(&argv[at], PRELOAD) {
            argv[at] = assignment(PRELOAD.as_ref(), &joined(library, &value));
            by_option = true;
        } else if argv[at] == PRELOAD && option == "x" {
            let value = joined(library, inherited.unwrap_or_default());
            argv[at] = assignment(PRELOAD.as_ref(), &value);
            by_option = true;
        } else if argv[at] == PRELOAD && at + 1 < program {
            argv[at + 1] = joined(library, &argv[at + 1]);
            by_option = true;
        }
    }
    by_option
}

/// Adds the library to what each `env` from `argv[start]` on sets LD_PRELOAD to, and what it takes away otherwise.
fn take_over_env(
    argv: &mut Vec<OsString>,
    start: usize,
    end: usize,
    library: &OsStr,
    settings: &[(OsString, OsString)],
) {
    // From the back, as above.
    for env in env_command::all(argv, start, end).into_iter().rev() {
        let first = env.assignments.start;
        let mut sets = false;
        for argument in &mut argv[env.assignments.clone()] {
            if let Some(value) = assigned(argument, PRELOAD) {
                *argument = assignment(PRELOAD.as_ref(), &joined(library, &value));
                sets = true;
            }
        }
        let mut added = Vec::new();
        if !sets && env.takes_away(PRELOAD) {
            added.push(assignment(PRELOAD.as_ref(), library));
        }
        if env.is_empty {
            let settings = settings.iter();
            added.extend(settings.map(|(name, value)| assignment(name, value)));
        }
        argv.splice(first..first, added);
    }
}

/// The library first, so that it stands before any MPI that is preloaded too.
fn joined(library: &OsStr, others: &OsStr) -> OsString {
    let mut value = library.to_os_string();
    if !others.is_empty() {
        value.push(":");
        value.push(others);
    }
    value
}

fn assignment(name: &OsStr, value: &OsStr) -> OsString {
    let mut text = name.to_os_string();
    text.push("=");
    text.push(value);
    text
}

impl RunPlan {
    /// The command for a shell.
    pub fn shell(&self) -> String {
        let mut words: Vec<String> = Vec::new();
        if !self.env.is_empty() {
            words.push("env".into());
            words.extend(
                self.env
                    .iter()
                    .map(|(name, value)| quoted(&assignment(name, value))),
            );
        }
        words.extend(self.argv.iter().map(|word| quoted(word)));
        words.join(" ")
    }
}

fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(kind: LauncherKind, line: &str, inherited: Option<&str>) -> String {
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut launch = Launch::recognise(&argv);
        launch.kind = kind;
        let settings = [(OsString::from("TRACE_DIR"), OsString::from("/a b"))];
        plan_with(&argv, &launch, "/l.so".as_ref(), &settings, &|name| {
            inherited.filter(|_| name == PRELOAD).map(OsString::from)
        })
        .unwrap()
        .shell()
    }

    #[test]
    fn hydra() {
        assert_eq!(
            planned(LauncherKind::Hydra, "mpiexec.mpich -n 2 ls : -n 1 sh", None),
            "mpiexec.mpich -genv LD_PRELOAD /l.so -genv TRACE_DIR '/a b' -n 2 ls : -n 1 sh"
        );
        assert_eq!(
            planned(
                LauncherKind::Hydra,
                "mpiexec.mpich -genv LD_PRELOAD x.so ls",
                Some("y.so")
            ),
            "mpiexec.mpich -genv TRACE_DIR '/a b' -genv LD_PRELOAD /l.so:x.so ls"
        );
        assert_eq!(
            planned(
                LauncherKind::Hydra,
                "mpiexec.mpich -n 1 -env LD_PRELOAD=x.so ls : ls",
                None
            ),
            "mpiexec.mpich -genv LD_PRELOAD /l.so -genv TRACE_DIR '/a b' -n 1 -env LD_PRELOAD=/l.so:x.so ls : ls"
        );
    }

    #[test]
    fn open_mpi() {
        assert_eq!(
            planned(
                LauncherKind::OpenMpi,
                "mpirun.openmpi -n 2 ls : -n 1 sh",
                Some("y.so")
            ),
            "mpirun.openmpi -x LD_PRELOAD=/l.so:y.so -x 'TRACE_DIR=/a b' -n 2 ls : \
             -x LD_PRELOAD=/l.so:y.so -x 'TRACE_DIR=/a b' -n 1 sh"
        );
        assert_eq!(
            planned(
                LauncherKind::OpenMpi,
                "mpirun.openmpi -x LD_PRELOAD ls",
                Some("y.so")
            ),
            "mpirun.openmpi -x 'TRACE_DIR=/a b' -x LD_PRELOAD=/l.so:y.so ls"
        );
    }

    #[test]
    fn open_mpi_with_a_list_of_variables() {
        assert_eq!(
            planned(
                LauncherKind::OpenMpi,
                "mpirun.openmpi --mca mca_base_env_list A;LD_PRELOAD=z.so -n 2 ls : sh",
                Some("y.so")
            ),
            "mpirun.openmpi --mca mca_base_env_list 'A;LD_PRELOAD=z.so' -n 2 \
             env LD_PRELOAD=/l.so:z.so 'TRACE_DIR=/a b' ls : env LD_PRELOAD=/l.so:z.so 'TRACE_DIR=/a b' sh"
        );
        assert_eq!(
            planned(
                LauncherKind::OpenMpi,
                "env OMPI_MCA_mca_base_env_list=A mpirun.openmpi ls",
                Some("y.so")
            ),
            "env OMPI_MCA_mca_base_env_list=A mpirun.openmpi env LD_PRELOAD=/l.so:y.so 'TRACE_DIR=/a b' ls"
        );
    }

    #[test]
    fn open_mpi_with_a_file_of_programs() {
        assert_eq!(
            planned(
                LauncherKind::OpenMpi,
                "mpirun.openmpi --app no-such-file",
                None
            ),
            "mpirun.openmpi --mca mca_base_env_list 'LD_PRELOAD=/l.so;TRACE_DIR=/a b;' --app no-such-file"
        );
        let line = "mpirun.openmpi -x A --app no-such-file";
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let mut launch = Launch::recognise(&argv);
        launch.kind = LauncherKind::OpenMpi;
        let refused = plan_with(&argv, &launch, "/l.so".as_ref(), &[], &|_| None);
        let Err(Failure::Call(why)) = refused else {
            panic!("it was planned")
        };
        assert!(why.contains("--app no-such-file cannot be traced"), "{why}");
    }

    #[test]
    fn other_launchers() {
        assert_eq!(
            planned(LauncherKind::Other, "srun -n 2 ls -l", None),
            "srun -n 2 env LD_PRELOAD=/l.so 'TRACE_DIR=/a b' ls -l"
        );
        assert_eq!(
            planned(
                LauncherKind::Other,
                "srun -n 2 env A=1 LD_PRELOAD=x.so ls LD_PRELOAD=z",
                None
            ),
            "srun -n 2 env LD_PRELOAD=/l.so 'TRACE_DIR=/a b' env A=1 LD_PRELOAD=/l.so:x.so ls LD_PRELOAD=z"
        );
    }

    #[test]
    fn env_before_the_launcher_or_the_program_keeps_its_preload() {
        assert_eq!(
            planned(
                LauncherKind::Hydra,
                "env LD_PRELOAD=z.so mpiexec.mpich -n 2 ls",
                Some("y.so")
            ),
            "env LD_PRELOAD=z.so mpiexec.mpich -genv LD_PRELOAD /l.so:z.so -genv TRACE_DIR '/a b' -n 2 ls"
        );
        assert_eq!(
            planned(
                LauncherKind::Other,
                "env -u LD_PRELOAD srun ls",
                Some("y.so")
            ),
            "env -u LD_PRELOAD srun env LD_PRELOAD=/l.so 'TRACE_DIR=/a b' ls"
        );
        assert_eq!(
            planned(
                LauncherKind::Hydra,
                "mpiexec.mpich nice -n 5 env -u A LD_PRELOAD=z.so ls : env -u LD_PRELOAD B=1 ls",
                None
            ),
            "mpiexec.mpich -genv LD_PRELOAD /l.so -genv TRACE_DIR '/a b' nice -n 5 env -u A LD_PRELOAD=/l.so:z.so ls \
             : env -u LD_PRELOAD LD_PRELOAD=/l.so B=1 ls"
        );
        assert_eq!(
            planned(LauncherKind::None, "env -i LD_PRELOAD=z.so ls", None),
            "env LD_PRELOAD=/l.so 'TRACE_DIR=/a b' env -i 'TRACE_DIR=/a b' LD_PRELOAD=/l.so:z.so ls"
        );
    }

    #[test]
    fn no_launcher() {
        assert_eq!(
            planned(LauncherKind::None, "./app it's", None),
            r"env LD_PRELOAD=/l.so 'TRACE_DIR=/a b' ./app 'it'\''s'"
        );
    }
}
