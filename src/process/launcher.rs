//! What a launcher tells the processes that it starts: rank, number of ranks, and which start of the launcher they belong to.
//! All of it comes from the environment and from /proc, without a call of MPI, so that it is known before MPI_Init and also of
//! other processes of this host.

use crate::define;
use std::collections::HashMap;
use std::path::Path;

/// Variables that hold the rank in MPI_COMM_WORLD, by launcher.
const RANK: [&str; 3] = ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"];
/// Variables that hold the number of ranks.
const SIZE: [&str; 2] = ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE"];
/// Variables that hold the number of ranks on this host.
const LOCAL_SIZE: [&str; 2] = ["MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"];
/// Variables that together name one start of a program by a batch system's own launcher.
const STEPS: [&[&str]; 3] = [
    &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    &["PALS_APID"],
    &["FLUX_JOB_ID"],
];
/// Most bytes of an environment that is read.
const MAX_ENVIRONMENT_BYTES: u64 = 4 << 20;

/// The environment of a process.
pub enum Environment {
    /// This process's own, as it is now.
    Own,
    /// Another process's, as it was when its program began.
    Other(HashMap<String, String>),
}

impl Environment {
    /// The environment with which process `pid` began; `None` if this user may not read it.
    pub fn of(pid: u32) -> Option<Environment> {
        let bytes = read(format!("/proc/{pid}/environ"))?;
        let words = bytes.split(|&b| b == 0);
        let pairs = words.filter_map(|word| {
            let at = word.iter().position(|&b| b == b'=')?;
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            Some((text(&word[..at]), text(&word[at + 1..])))
        });
        Some(Environment::Other(pairs.collect()))
    }

    fn variable(&self, name: &str) -> Option<String> {
        match self {
            Environment::Own => std::env::var(name).ok(),
            Environment::Other(all) => all.get(name).cloned(),
        }
    }

    fn number(&self, names: &[&str]) -> Option<u32> {
        names
            .iter()
            .find_map(|name| self.variable(name)?.parse().ok())
    }

    /// Rank in MPI_COMM_WORLD.
    pub fn rank(&self) -> Option<u32> {
        self.number(&RANK)
    }

    /// Number of ranks of MPI_COMM_WORLD.
    pub fn size(&self) -> Option<u32> {
        self.number(&SIZE)
    }

    /// Number of ranks of MPI_COMM_WORLD on this host.
    pub fn local_size(&self) -> Option<u32> {
        self.number(&LOCAL_SIZE)
    }

    /// What all processes of one MPI_COMM_WORLD have in common and those of no other have, on all hosts: the name that the
    /// launcher has given to it. `pid` is the process whose environment this is. `None` where nothing tells.
    pub fn job(&self, pid: u32) -> Option<String> {
        if let Some(space) = self.variable("PMIX_NAMESPACE") {
            // Open MPI 4 numbers its name spaces, and numbers come again: address and random key of mpirun do not.
            let origin = |name| self.variable(name).unwrap_or_default();
            let (uri, key) = (
                origin("OMPI_MCA_orte_hnp_uri"),
                origin("OMPI_MCA_orte_precondition_transports"),
            );
            return Some(format!("pmix {space} {uri} {key}"));
        }
        if self.number(&RANK).is_some()
            && let Some(proxy) = proxy(pid)
        {
            return Some(proxy);
        }
        let step = STEPS.iter().find_map(|names| {
            let values: Option<Vec<String>> =
                names.iter().map(|name| self.variable(name)).collect();
            self.rank().and(values)
        });
        if let Some(values) = step {
            return Some(format!("step {}", values.join(" ")));
        }
        // A program that runs alone.
        match self.rank() {
            None => Some(format!("{} {pid} {}", define::boot_id(), born(pid)?)),
            Some(_) => None,
        }
    }
}

/// This process's job as a number that is not 0; `None` where nothing tells. See [`Environment::job`].
pub fn identity() -> Option<u64> {
    Environment::Own
        .job(std::process::id())
        .map(|job| hash(&job) | 1)
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
            _ => Some(format!("{} {pid} {}", define::boot_id(), born(pid)?)),
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

/// What is in a file of /proc, up to [`MAX_ENVIRONMENT_BYTES`].
fn read(path: impl AsRef<Path>) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(MAX_ENVIRONMENT_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        let pairs = pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        Environment::Other(pairs.collect())
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
            environment(&rank).job(1)
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
            environment(&all).job(std::process::id())
        };
        assert_ne!(step("0"), step("1"));
        // Without a rank the variables are those of the batch script.
        let script = environment(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0")]);
        assert_eq!(
            script.job(std::process::id()),
            environment(&[]).job(std::process::id())
        );
    }

    #[test]
    fn a_rank_of_an_unknown_launcher_has_no_job() {
        assert_eq!(
            environment(&[("PMI_RANK", "3")]).job(std::process::id()),
            None
        );
    }
}
