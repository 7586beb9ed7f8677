//! Names of files: patterns in them, and the escape that lets any character stand in one word of `dumpi.conf`.
//!
//! `dumpi.conf` has no quotes: blanks, tabs, `=` and `#` end a value. A name from the environment may contain them, so
//! names are kept with such characters written as `%xHH`, which [`expand`] turns back.

/// Values of the patterns in names.
#[derive(Clone, Copy, Debug)]
pub struct NameValues<'a> {
    /// `%p`: name of the program, without directory.
    pub program: &'a str,
    /// `%j`: number or name of the batch job ([`job_id`]), else rank 0's process id.
    pub job: &'a str,
    /// `%a`: number of the task of an array of batch jobs ([`array_task`]).
    pub task: &'a str,
    /// `%d`: start of the run as DUMPI writes it in file names, `YYYY.MM.DD.HH.MM.SS` (`spec/dumpi.md` section 1).
    pub date: &'a str,
    /// `%h`: name of the host.
    pub host: &'a str,
    /// `%n`: number of ranks.
    pub ranks: u32,
    /// `%r`, `%t`: rank in MPI_COMM_WORLD of the writing process (0 for merged files).
    pub rank: u32,
    /// `%i`: process id of the writing process.
    pub pid: u32,
}

/// The patterns and their meaning, for the documentation.
#[cfg(test)]
pub const PATTERNS: &[(&str, &str)] = &[
    (
        "%p",
        "program without directory; of a Python program, its script or module without ending (also Julia, Perl, Ruby)",
    ),
    (
        "%j",
        "batch job (`SLURM_JOB_ID`, `PBS_JOBID`, `LSB_JOBID`, `FLUX_JOB_ID`, `COBALT_JOBID`, `OAR_JOB_ID`, `PJM_JOBID`, `JOB_ID`), else the process id of rank 0",
    ),
    (
        "%a",
        "task of an array of batch jobs (`SLURM_ARRAY_TASK_ID`, `PBS_ARRAY_INDEX`, `PBS_ARRAYID`, `LSB_JOBINDEX`, `SGE_TASK_ID`, `FLUX_JOB_CC`)",
    ),
    (
        "%d",
        "start of the run, local time, as DUMPI writes it: `YYYY.MM.DD.HH.MM.SS`",
    ),
    ("%n", "number of ranks"),
    (
        "%h",
        "host of the writing process (rank 0 for merged files)",
    ),
    ("%r", "rank of the writing process (0 for merged files)"),
    ("%t", "the same, as Slurm writes it"),
    ("%i", "process id of the writing process"),
    (
        "%xHH",
        "the ASCII character with this hexadecimal code, as `%x20` for a blank, `%x23` for `#`, `%x3D` for `=`",
    ),
    ("%%", "a percent sign"),
];

/// `pattern` with every pattern replaced by what it stands for. A `%` that begins no pattern stays as it is.
///
/// Inserted values cannot change the directory: `/` and control characters in them become `_`, an empty value becomes `unknown`.
pub fn expand(pattern: &str, names: &NameValues<'_>) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(start) = rest.find('%') {
        text.push_str(&rest[..start]);
        let after = &rest[start + 1..];
        let mut used = 1;
        match after.as_bytes().first() {
            Some(b'p') => part(&mut text, names.program),
            Some(b'j') => part(&mut text, names.job),
            Some(b'a') => part(&mut text, names.task),
            Some(b'd') => part(&mut text, names.date),
            Some(b'h') => part(&mut text, names.host),
            Some(b'n') => text.push_str(&names.ranks.to_string()),
            Some(b'r' | b't') => text.push_str(&names.rank.to_string()),
            Some(b'i') => text.push_str(&names.pid.to_string()),
            Some(b'%') => text.push('%'),
            Some(b'x') => match coded(&after[1..]) {
                Some(c) => {
                    text.push(c);
                    used = 3;
                }
                None => text.push_str("%x"),
            },
            _ => {
                text.push('%');
                used = 0;
            }
        }
        rest = &after[used..];
    }
    text.push_str(rest);
    text
}

/// Most bytes of what is put in: names of files have at most 255, and endings follow.
const MAX_BYTES: usize = 160;

/// `name`, its end left out where it is too long for a part of a file name.
pub fn shortened(name: &str) -> &str {
    let mut ends = (0..=name.len().min(MAX_BYTES)).rev();
    let end = ends.find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    &name[..end]
}

/// Appends `value` as a part of one file name.
fn part(text: &mut String, value: &str) {
    if value.is_empty() {
        text.push_str("unknown");
    }
    text.extend(
        shortened(value)
            .chars()
            .map(|c| if c == '/' || c.is_control() { '_' } else { c }),
    );
}

/// The ASCII character whose code the first two characters of `text` give; no file name can hold code 0.
fn coded(text: &str) -> Option<char> {
    let digits = text
        .get(..2)
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let code = u8::from_str_radix(digits, 16).ok()?;
    (1..0x80).contains(&code).then_some(code as char)
}

/// `name` as one word of `dumpi.conf`: what would end it is written `%xHH`. NUL, which no file name can hold, becomes `_`.
pub fn escape(name: &str) -> String {
    let mut word = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '\0' => word.push('_'),
            ' ' | '=' | '#' => word += &format!("%x{:02X}", c as u32),
            c if c.is_ascii_control() => word += &format!("%x{:02X}", c as u32),
            c => word.push(c),
        }
    }
    word
}

/// Whether a name, as it is when its patterns are replaced, has control characters: no name of a file that anybody means, but a
/// way to make lines of messages that seem to be others.
pub fn has_controls(pattern: &str) -> bool {
    let plain = NameValues {
        program: "",
        job: "",
        task: "",
        date: "",
        host: "",
        ranks: 0,
        rank: 0,
        pid: 0,
    };
    expand(pattern, &plain).chars().any(char::is_control)
}

/// Variables by which batch systems name a job: Slurm, PBS, LSF, Flux, Cobalt, OAR, Fujitsu's, Grid Engine.
const JOBS: [&str; 8] = [
    "SLURM_JOB_ID",
    "PBS_JOBID",
    "LSB_JOBID",
    "FLUX_JOB_ID",
    "COBALT_JOBID",
    "OAR_JOB_ID",
    "PJM_JOBID",
    "JOB_ID",
];

/// Variables by which batch systems number the tasks of an array of jobs: Slurm, PBS, Torque, LSF, Grid Engine, Flux.
const TASKS: [&str; 6] = [
    "SLURM_ARRAY_TASK_ID",
    "PBS_ARRAY_INDEX",
    "PBS_ARRAYID",
    "LSB_JOBINDEX",
    "SGE_TASK_ID",
    "FLUX_JOB_CC",
];

/// The batch job that `env` names.
pub fn job_id(env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    JOBS.iter()
        .find_map(|name| env(name).filter(|value| !value.is_empty()))
}

/// The task of an array of batch jobs that `env` numbers; `None` in a job that is no part of an array, of which LSF says `0` and Grid
/// Engine `undefined`.
pub fn array_task(env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is_one = |name: &str, value: &str| match name {
        "LSB_JOBINDEX" => value != "0",
        _ => !value.is_empty() && value != "undefined",
    };
    TASKS
        .iter()
        .find_map(|name| env(name).filter(|value| is_one(name, value)))
}

/// Whether a folder's name has the number of the batch job `job` in it, as names of folders have that the batch system makes for
/// a job and removes at its end.
pub fn is_of_job(folder: &str, job: &str) -> bool {
    // `123.head` of PBS, `123[4]` of its arrays: the number comes first. Flux has numbers in letters.
    let number = job.split(|c: char| !c.is_ascii_digit()).next();
    let number = number.filter(|number| !number.is_empty()).unwrap_or(job);
    let is_long = number.bytes().all(|b| b.is_ascii_digit()) || number.len() >= 6;
    let mut words = folder.split(|c: char| !c.is_alphanumeric());
    !number.is_empty() && is_long && words.any(|word| word == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: NameValues<'_> = NameValues {
        program: "lmp",
        job: "12[3]/a",
        task: "17",
        date: "2026.11.20.05.42.39",
        host: "",
        ranks: 4,
        rank: 2,
        pid: 77,
    };

    #[test]
    fn every_pattern_is_replaced() {
        assert_eq!(
            expand("%p-%j-%d", &NAMES),
            "lmp-12[3]_a-2026.11.20.05.42.39"
        );
        assert_eq!(expand("%a/%t", &NAMES), "17/2");
        assert_eq!(expand("%n.%r.%i.%h%%p", &NAMES), "4.2.77.unknown%p");
        assert_eq!(expand("/a%x20b/%x3d%x23", &NAMES), "/a b/=#");
        for (pattern, _) in PATTERNS.iter().filter(|(pattern, _)| *pattern != "%xHH") {
            assert!(
                !expand(pattern, &NAMES).contains(pattern),
                "{pattern} is documented"
            );
        }
    }

    #[test]
    fn folders_of_a_job_have_its_number_in_their_names() {
        for (folder, job) in [
            ("/tmp/slurm.123", "123"),
            ("/scratch/job_123/tmp", "123"),
            ("/var/tmp/pbs.7.head", "7.head"),
            ("/tmp/123.1.all.q", "123"),
            ("/tmp/flux-x/jobtmp-0-ƒ2oLkTLb", "ƒ2oLkTLb"),
        ] {
            assert!(is_of_job(folder, job), "{folder}");
        }
        for (folder, job) in [
            ("/tmp", "123"),
            ("/tmp/1234", "123"),
            ("/tmp/a", "a"),
            ("/", ""),
        ] {
            assert!(!is_of_job(folder, job), "{folder}");
        }
    }

    #[test]
    fn tasks_of_arrays_are_numbered_by_each_batch_system() {
        let task = |variable: &'static str, value: &'static str| {
            array_task(&|name: &str| (name == variable).then(|| value.to_owned()))
        };
        for variable in TASKS {
            assert_eq!(task(variable, "4").as_deref(), Some("4"), "{variable}");
        }
        assert_eq!(task("SLURM_ARRAY_TASK_ID", "0").as_deref(), Some("0"));
        assert_eq!(task("LSB_JOBINDEX", "0"), None);
        assert_eq!(task("SGE_TASK_ID", "undefined"), None);
    }

    #[test]
    fn a_percent_sign_that_begins_no_pattern_stays() {
        for text in [
            "", "100%", "%q", "%é", "%x", "%x2", "%xé", "%x00", "%xFF", "%x+1", "é%",
        ] {
            assert_eq!(expand(text, &NAMES), text);
        }
    }

    #[test]
    fn an_escaped_name_is_one_word_and_expands_to_itself() {
        let name = "/my dir/a=b #1\t\n\u{7f}é";
        let word = escape(name);
        assert!(!word.contains([' ', '=', '#', '\t', '\n']), "{word}");
        assert_eq!(escape(&word), word);
        assert_eq!(expand(&word, &NAMES), name);
    }

    #[test]
    fn the_first_batch_system_that_names_a_job_counts() {
        let env = |name: &str| match name {
            "SLURM_JOB_ID" => Some(String::new()),
            "PBS_JOBID" => Some("7.head".into()),
            "JOB_ID" => Some("8".into()),
            _ => None,
        };
        assert_eq!(job_id(&env).as_deref(), Some("7.head"));
        assert_eq!(job_id(&|_| None), None);
    }
}
