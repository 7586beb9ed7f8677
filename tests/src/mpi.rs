//! The MPI implementations the tests know: how to tell that one is installed, its commands, its environment.
//!
//! Only names with the implementation's suffix are used: which MPI plain `mpicc` means depends on the order of installation.

use std::path::PathBuf;
use std::process::Command;

/// An MPI implementation: the two that Debian packages, and their newest versions, which `ci/deps` installs as Python wheels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mpi {
    /// MPICH, Hydra launcher.
    Mpich,
    /// Open MPI, ORTE or PRRTE launcher.
    OpenMpi,
    /// MPICH 5.
    Mpich5,
    /// Open MPI 5.
    OpenMpi5,
}

impl Mpi {
    /// The two that everything is tested with.
    pub const ALL: [Mpi; 2] = [Mpi::Mpich, Mpi::OpenMpi];

    /// These and their newest versions.
    pub const EVERY: [Mpi; 4] = [Mpi::Mpich, Mpi::OpenMpi, Mpi::Mpich5, Mpi::OpenMpi5];

    /// The suffix of its commands and the name of its folder in `target/lib`.
    pub fn suffix(self) -> &'static str {
        match self {
            Mpi::Mpich => "mpich",
            Mpi::OpenMpi => "openmpi",
            Mpi::Mpich5 => "mpich5",
            Mpi::OpenMpi5 => "openmpi5",
        }
    }

    /// Whether it is an MPICH of any version, else an Open MPI.
    pub fn is_mpich(self) -> bool {
        matches!(self, Mpi::Mpich | Mpi::Mpich5)
    }

    /// Whether programs can be compiled and launched. Prints a line where not.
    pub fn installed(self) -> bool {
        let here = which(&self.compiler()) && which(&self.launcher());
        if !here {
            crate::skip(&format!("{self:?} is not installed"));
        }
        here
    }

    /// A command of one that is installed as a wheel.
    fn in_wheel(self, name: &str) -> String {
        let folder = crate::target().join(format!("venv-{}/bin", self.suffix()));
        folder.join(name).to_string_lossy().into_owned()
    }

    fn launcher(self) -> String {
        match self {
            Mpi::Mpich => "mpiexec.mpich".into(),
            Mpi::OpenMpi => "mpirun.openmpi".into(),
            Mpi::Mpich5 | Mpi::OpenMpi5 => self.in_wheel("mpiexec"),
        }
    }

    fn compiler(self) -> String {
        match self {
            Mpi::Mpich | Mpi::OpenMpi => format!("mpicc.{}", self.suffix()),
            Mpi::Mpich5 | Mpi::OpenMpi5 => self.in_wheel("mpicc"),
        }
    }

    /// The C compiler wrapper.
    pub fn mpicc(self) -> Command {
        Command::new(self.compiler())
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
        let mut command = Command::new(self.launcher());
        self.environment(&mut command);
        command.args(["-n", &ranks.to_string()]);
        command
    }

    /// What tests need in the environment: permission to run as root and with more ranks than cores, and in Open MPI 4.1
    /// the one-sided components that work (its `rdma` component crashes in MPI_Win_create on a single node).
    pub fn environment(self, command: &mut Command) {
        if !self.is_mpich() {
            command
                .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
                .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
                .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
                .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
                .env("OMPI_MCA_osc", "sm,pt2pt");
        }
        if self == Mpi::OpenMpi5 {
            // No search for networks: starting takes a tenth of the time.
            command
                .env("OMPI_MCA_pml", "ob1")
                .env("OMPI_MCA_btl", "self,sm")
                .env("OMPI_MCA_osc", "^ucx");
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

/// Whether a command is in the path, or stands where a name with folders says.
pub fn which(name: &str) -> bool {
    if name.contains('/') {
        return PathBuf::from(name).is_file();
    }
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}
