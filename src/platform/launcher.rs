//! Information from the launcher for the processes that it starts: rank and number of ranks. All of it comes from the
//! environment, without a
//! call of MPI, so that it is known before MPI_Init and also of other processes of this host.

use std::collections::HashMap;
use std::path::Path;

/// Variables that hold the rank in MPI_COMM_WORLD, by launcher.
const RANK: [&str; 3] = ["PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"];
/// Variables that hold the number of ranks.
const SIZE: [&str; 2] = ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE"];
/// Variables that hold the number of ranks on this host.
const LOCAL_SIZE: [&str; 2] = ["MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"];
/// Most bytes of an environment that is read.
const MAX_ENVIRONMENT_BYTES: u64 = 4 << 20;

/// The environment of a process.
pub enum ProcessEnvironment {
    /// This process's own, as it is now.
    Own,
    /// Another process's, as it was when its program began.
    Other(HashMap<String, String>),
}

impl ProcessEnvironment {
    /// The environment with which process `pid` began; `None` if this user may not read it.
    pub fn of(pid: u32) -> Option<ProcessEnvironment> {
        let bytes = read(format!("/proc/{pid}/environ"))?;
        let words = bytes.split(|&b| b == 0);
        let pairs = words.filter_map(|word| {
            let at = word.iter().position(|&b| b == b'=')?;
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            Some((text(&word[..at]), text(&word[at + 1..])))
        });
        Some(ProcessEnvironment::Other(pairs.collect()))
    }

    pub(super) fn variable(&self, name: &str) -> Option<String> {
        match self {
            ProcessEnvironment::Own => std::env::var(name).ok(),
            ProcessEnvironment::Other(all) => all.get(name).cloned(),
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
}

/// Rank of this process as the launcher tells it in the environment, for the time before MPI_Init and for programs without it. A
/// number does no harm, so it is believed also where other variables are not: it decides which rank speaks.
pub fn rank() -> Option<u32> {
    ProcessEnvironment::Own.rank()
}

/// Number of ranks as the launcher tells it in the environment.
pub fn size() -> Option<u32> {
    ProcessEnvironment::Own.size()
}

/// Contents of a file of /proc, up to [`MAX_ENVIRONMENT_BYTES`].
pub(super) fn read(path: impl AsRef<Path>) -> Option<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    file.take(MAX_ENVIRONMENT_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    Some(bytes)
}
