//! The MPI implementations the tests know: how to tell that one is installed, its commands, its environment.
//!
//! Only names with the implementation's suffix are used: which MPI plain `mpicc` means depends on the order of installation.

use std::path::PathBuf;
use std::process::Command;

/// An MPI implementation: the two that Debian packages, and newer versions, which `ci/deps` installs as Python wheels.
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
    /// MPICH 5 through the standard ABI of MPI 5: the programs know `mpi_abi.h` and `libmpi_abi.so.1` only.
    Abi,
    /// Intel MPI, whose ABI is MPICH's (`ci/deps --intel`).
    Intel,
    /// The standard ABI in Intel's library: programs compiled with MPICH's header, as the standard promises.
    IntelAbi,
}

impl Mpi {
    /// The two that everything is tested with.
    pub const ALL: [Mpi; 2] = [Mpi::Mpich, Mpi::OpenMpi];

    /// [`Mpi::ALL`] and the newest versions of both.
    pub const EVERY: [Mpi; 4] = [Mpi::Mpich, Mpi::OpenMpi, Mpi::Mpich5, Mpi::OpenMpi5];

    /// All: with the standard ABI and Intel's library.
    pub const KNOWN: [Mpi; 7] = [
        Mpi::Mpich,
        Mpi::OpenMpi,
        Mpi::Mpich5,
        Mpi::OpenMpi5,
        Mpi::Abi,
        Mpi::Intel,
        Mpi::IntelAbi,
    ];

    /// Those beyond [`Mpi::ALL`] that a test is to take in full: none unless the variable EVERY_MPI is set, to `1` for all that
    /// are installed or to a list of suffixes (`abi,intel`). Prints a line where that leaves some out.
    pub fn newer(what: &str) -> Vec<Mpi> {
        let wanted = std::env::var("EVERY_MPI").unwrap_or_default();
        if wanted.is_empty() {
            crate::skip(&format!(
                "{what} on newer versions of MPI: only with EVERY_MPI=1"
            ));
            return Vec::new();
        }
        let named = |mpi: &Mpi| wanted == "1" || wanted.split(',').any(|word| word == mpi.suffix());
        let newer = Mpi::KNOWN.into_iter().filter(|mpi| !Mpi::ALL.contains(mpi));
        newer.filter(|mpi| named(mpi) && mpi.installed()).collect()
    }

    /// The suffix of Debian's commands; for all, the name in folders of the tests.
    pub fn suffix(self) -> &'static str {
        match self {
            Mpi::Mpich => "mpich",
            Mpi::OpenMpi => "openmpi",
            Mpi::Mpich5 => "mpich5",
            Mpi::OpenMpi5 => "openmpi5",
            Mpi::Abi => "abi",
            Mpi::Intel => "intel",
            Mpi::IntelAbi => "intel-abi",
        }
    }

    /// Name in the docs.
    pub fn title(self) -> &'static str {
        match self {
            Mpi::Mpich => "MPICH 4.0",
            Mpi::OpenMpi => "Open MPI 4.1",
            Mpi::Mpich5 => "MPICH 5.0",
            Mpi::OpenMpi5 => "Open MPI 5.0",
            Mpi::Abi => "MPICH 5.0, standard ABI",
            Mpi::Intel => "Intel MPI 2021.18",
            Mpi::IntelAbi => "Intel MPI, standard ABI",
        }
    }

    /// Whether it is an MPICH of any version or descent, else an Open MPI.
    pub fn is_mpich(self) -> bool {
        !matches!(self, Mpi::OpenMpi | Mpi::OpenMpi5)
    }

    /// The Python environment in `target/` of one that is installed as a wheel.
    fn wheel(self) -> PathBuf {
        let name = match self {
            Mpi::Abi => "mpich5",
            Mpi::IntelAbi => "intel",
            _ => self.suffix(),
        };
        crate::target().join(format!("venv-{name}"))
    }

    /// Whether programs can be compiled and launched. Prints a line where not.
    pub fn installed(self) -> bool {
        let here = self.is_here();
        if !here {
            crate::skip(&format!("{self:?} is not installed"));
        }
        here
    }

    /// As [`Mpi::installed`], without a word.
    pub fn is_here(self) -> bool {
        which(&self.compiler()) && which(&self.launcher())
    }

    /// A command of one that is installed as a wheel.
    fn in_wheel(self, name: &str) -> String {
        let path = self.wheel().join("bin").join(name);
        path.to_string_lossy().into_owned()
    }

    fn launcher(self) -> String {
        match self {
            Mpi::Mpich => "mpiexec.mpich".into(),
            Mpi::OpenMpi => "mpirun.openmpi".into(),
            _ => self.in_wheel("mpiexec"),
        }
    }

    fn compiler(self) -> String {
        match self {
            Mpi::Mpich | Mpi::OpenMpi => format!("mpicc.{}", self.suffix()),
            Mpi::Abi | Mpi::IntelAbi => Mpi::Abi.in_wheel("mpicc_abi"),
            Mpi::Mpich5 | Mpi::OpenMpi5 | Mpi::Intel => self.in_wheel("mpicc"),
        }
    }

    /// The C compiler wrapper.
    pub fn mpicc(self) -> Command {
        let mut command = Command::new(self.compiler());
        if self == Mpi::Intel {
            command.env("I_MPI_ROOT", self.wheel()); // else the script uses folders that are not there
        }
        command
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

    /// Variables that tests need: permission to run as root and with more ranks than cores, and in Open MPI 4.1
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
        if self == Mpi::OpenMpi {
            // No search for InfiniBand of two kinds, which it waits for: starting takes less than half the time.
            command.env("OMPI_MCA_mtl", "^ofi,psm,psm2");
        }
        if self == Mpi::OpenMpi5 {
            // No search for networks: starting takes a tenth of the time.
            command
                .env("OMPI_MCA_pml", "ob1")
                .env("OMPI_MCA_btl", "self,sm")
                .env("OMPI_MCA_osc", "^ucx");
        }
        if matches!(self, Mpi::Intel | Mpi::IntelAbi) {
            command
                .env("I_MPI_ROOT", self.wheel())
                .env("I_MPI_FABRICS", "shm");
        }
        if self == Mpi::IntelAbi {
            // The programs' own search path leads to MPICH's.
            command.env("LD_LIBRARY_PATH", self.wheel().join("lib"));
        }
    }

    /// The library itself, of one that is installed as a wheel.
    pub fn library_of_mpi(self) -> PathBuf {
        let name = match self {
            Mpi::Abi | Mpi::IntelAbi => "libmpi_abi.so.1",
            _ if self.is_mpich() => "libmpi.so.12",
            _ => "libmpi.so.40",
        };
        self.wheel().join("lib").join(name)
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
