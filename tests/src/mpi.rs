//! The MPI implementations the tests know: how to tell that one is installed, its commands, its environment.
//!
//! Only names with the implementation's suffix are used: which MPI plain `mpicc` means depends on the order of installation.

use std::path::PathBuf;
use std::process::Command;

/// An MPI implementation as Debian packages it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mpi {
    /// MPICH, Hydra launcher.
    Mpich,
    /// Open MPI, ORTE or PRRTE launcher.
    OpenMpi,
}

impl Mpi {
    /// Both.
    pub const ALL: [Mpi; 2] = [Mpi::Mpich, Mpi::OpenMpi];

    /// The suffix of its commands and the name of its folder in `target/lib`.
    pub fn suffix(self) -> &'static str {
        match self {
            Mpi::Mpich => "mpich",
            Mpi::OpenMpi => "openmpi",
        }
    }

    /// Whether programs can be compiled and launched. Prints a line where not.
    pub fn installed(self) -> bool {
        let here = which(&format!("mpicc.{}", self.suffix())) && which(&self.launcher_name());
        if !here {
            crate::skip(&format!("{self:?} is not installed"));
        }
        here
    }

    fn launcher_name(self) -> String {
        match self {
            Mpi::Mpich => "mpiexec.mpich".into(),
            Mpi::OpenMpi => "mpirun.openmpi".into(),
        }
    }

    /// The C compiler wrapper.
    pub fn mpicc(self) -> Command {
        Command::new(format!("mpicc.{}", self.suffix()))
    }

    /// The Fortran compiler wrapper. Without the `-L`, Open MPI's links the libmpi.so that Debian's alternatives chose,
    /// which may be MPICH's.
    pub fn mpifort(self) -> Command {
        let mut command = Command::new(format!("mpifort.{}", self.suffix()));
        if self == Mpi::OpenMpi {
            for folder in ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"] {
                command.arg(format!("-L{folder}/openmpi/lib"));
            }
        }
        command
    }

    /// `mpiexec -n RANKS`, to which the program is to be appended.
    pub fn mpiexec(self, ranks: usize) -> Command {
        let mut command = Command::new(self.launcher_name());
        self.environment(&mut command);
        command.args(["-n", &ranks.to_string()]);
        command
    }

    /// What tests need in the environment: permission to run as root and with more ranks than cores, and in Open MPI 4.1
    /// the one-sided components that work (its `rdma` component crashes in MPI_Win_create on a single node).
    pub fn environment(self, command: &mut Command) {
        if self == Mpi::OpenMpi {
            command
                .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
                .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
                .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
                .env("OMPI_MCA_osc", "sm,pt2pt");
        }
    }

    /// The recorder built for this MPI.
    pub fn library(self) -> PathBuf {
        let path = crate::target()
            .join("lib")
            .join(self.suffix())
            .join("libtrace.so");
        assert!(path.exists(), "{} is missing: run ci/build", path.display());
        path
    }
}

/// Whether a command is in the path.
pub fn which(name: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}
