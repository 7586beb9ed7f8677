//! The job that a process belongs to, told by its environment and by /proc: all processes of one MPI_COMM_WORLD have
//! the same job, on all hosts, and those of another one have another job.

use crate::platform::host;
use crate::platform::launcher::{ProcessEnvironment, read};

/// Variables that together name one start of a program by a batch system's own launcher.
const STEPS: [&[&str]; 3] = [
    &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    &["PALS_APID"],
    &["FLUX_JOB_ID"],
];

/// Identity of an MPI_COMM_WORLD, equal for all its processes on all hosts and different for all others: the name that the
/// launcher has given to it. `pid` is the process whose environment this is. `None` where nothing tells.
pub fn job(environment: &ProcessEnvironment, pid: u32) -> Option<String> {
    if let Some(space) = environment.variable("PMIX_NAMESPACE") {
        // Open MPI 4 numbers its name spaces, and numbers come again: address and random key of mpirun do not.
        let origin = |name| environment.variable(name).unwrap_or_default();
        let (uri, key) = (
            origin("OMPI_MCA_orte_hnp_uri"),
            origin("OMPI_MCA_orte_precondition_transports"),
        );
        return Some(format!("pmix {space} {uri} {key}"));
    }
    if environment.rank().is_some()
        && let Some(proxy) = proxy(pid)
    {
        return Some(proxy);
    }
    let step = STEPS.iter().find_map(|names| {
        let values: Option<Vec<String>> = names
            .iter()
            .map(|name| environment.variable(name))
            .collect();
        environment.rank().and(values)
    });
    if let Some(values) = step {
        return Some(format!("step {}", values.join(" ")));
    }
    // A program that runs alone.
    match environment.rank() {
        None => Some(format!("{} {pid} {}", host::boot_id(), born(pid)?)),
        Some(_) => None,
    }
}

/// This process's job as a number that is not 0; `None` if not known. See [`job`].
pub fn identity() -> Option<u64> {
    job(&ProcessEnvironment::Own, std::process::id()).map(|job| hash(&job) | 1)
}

/// A number for a text: FNV-1a of 64 bits.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Hydra's process on this host that has started process `pid`: the address of its mpiexec and the group of processes, which are
/// the same on all hosts, or else its own number and time of start.
fn proxy(mut pid: u32) -> Option<String> {
    // A few shells and tools may be in between.
    for _ in 0..8 {
        pid = parent(pid)?;
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        if !name.starts_with("hydra") {
            continue;
        }
        let line = read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|&b| b == 0).collect();
        let option = |name: &str| {
            let at = words.iter().position(|word| *word == name.as_bytes())?;
            Some(String::from_utf8_lossy(words.get(at + 1)?).into_owned())
        };
        return match (option("--control-port"), option("--pgid")) {
            (Some(port), Some(group)) => Some(format!("hydra {port} {group}")),
            _ => Some(format!("{} {pid} {}", host::boot_id(), born(pid)?)),
        };
    }
    None
}

/// Field `n` of /proc/PID/stat after the name, which is in parentheses and may have any character.
fn stat(pid: u32, n: usize) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    fields.split(' ').nth(n)?.parse().ok()
}

fn parent(pid: u32) -> Option<u32> {
    u32::try_from(stat(pid, 1)?).ok().filter(|&pid| pid > 1)
}

/// When the process began, in ticks since the system did.
fn born(pid: u32) -> Option<u64> {
    stat(pid, 19)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> ProcessEnvironment {
        let pairs = pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        ProcessEnvironment::Other(pairs.collect())
    }

    #[test]
    fn ranks_of_one_start_have_the_same_job_on_every_host() {
        let of = |rank: &str, server: &str| {
            let rank = [
                ("PMIX_NAMESPACE", "1243348993"),
                (
                    "OMPI_MCA_orte_hnp_uri",
                    "1243348992.0;tcp://192.0.2.2:47247",
                ),
                ("PMIX_SERVER_URI2", server),
                ("PMIX_RANK", rank),
            ];
            job(&environment(&rank), 1)
        };
        assert!(of("0", "a").is_some());
        assert_eq!(of("0", "tcp4://host-a:1"), of("1", "tcp4://host-b:2"));
    }

    #[test]
    fn steps_of_a_batch_job_are_told_apart() {
        let step = |step| {
            let all = [
                ("SLURM_JOB_ID", "7"),
                ("SLURM_STEP_ID", step),
                ("PMI_RANK", "0"),
            ];
            job(&environment(&all), std::process::id())
        };
        assert_ne!(step("0"), step("1"));
        // Without a rank the variables are those of the batch script.
        let script = environment(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0")]);
        assert_eq!(
            job(&script, std::process::id()),
            job(&environment(&[]), std::process::id())
        );
    }

    #[test]
    fn a_rank_of_an_unknown_launcher_has_no_job() {
        assert_eq!(
            job(&environment(&[("PMI_RANK", "3")]), std::process::id()),
            None
        );
    }
}
