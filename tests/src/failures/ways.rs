//! The ways in which runs end, and what is expected of each.

/// Who comes to an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Victim {
    /// Nobody: the run goes to its end.
    Nobody,
    /// The last rank, by its own hand.
    One,
    /// Every rank, by its own hand.
    Each,
    /// Every rank, by SIGKILL from outside.
    All,
    /// The launcher, by this signal.
    Launcher(&'static str),
}

/// When that is, counted from what the program has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndTime {
    /// At some time in the run.
    Anywhen,
    /// While MPI_Init goes on, or soon after it.
    Init,
    /// From the moment at which MPI_Finalize is called.
    Merge,
}

/// A way to end.
#[derive(Clone, Copy, Debug)]
pub struct EndKind {
    /// Name of the way for the program `ends`.
    pub name: &'static str,
    /// For readers.
    pub what: &'static str,
    pub(super) who: Victim,
    pub(super) when: EndTime,
    /// Threads that call MPI, where it is not left to chance.
    pub(super) threads: Option<u32>,
    /// Text that `mpitrace recover` must print about the rank that came to its end, if that is sure.
    pub(super) printed: Option<&'static str>,
    /// Whether the program must end as if nothing had happened.
    pub(super) runs_on: bool,
    /// Whether some ranks have no recorder. Such a run must come to the same end without any recorder, and by itself.
    pub(super) partly: bool,
    /// Whether all ranks write the merged files together, and each has so many calls that this takes its time.
    pub(super) parallel: bool,
}

const fn way(name: &'static str, what: &'static str, who: Victim, when: EndTime) -> EndKind {
    EndKind {
        name,
        what,
        who,
        when,
        threads: None,
        printed: None,
        runs_on: false,
        partly: false,
        parallel: false,
    }
}

impl EndKind {
    const fn printed(self, printed: &'static str) -> EndKind {
        EndKind {
            printed: Some(printed),
            ..self
        }
    }

    const fn runs_on(self) -> EndKind {
        EndKind {
            runs_on: true,
            ..self
        }
    }

    const fn partly(self) -> EndKind {
        EndKind {
            partly: true,
            ..self
        }
    }

    const fn parallel(self) -> EndKind {
        EndKind {
            parallel: true,
            threads: Some(1),
            ..self
        }
    }

    const fn threads(self, threads: u32) -> EndKind {
        EndKind {
            threads: Some(threads),
            ..self
        }
    }

    /// Whether the run must come to its end without being killed, in whatever time.
    pub(super) fn ends_by_itself(self) -> bool {
        self.runs_on || self.partly
    }

    /// The argument by which the program `ends` knows this way.
    pub(super) fn ends_by(self) -> &'static str {
        match self.name {
            "partly" => "nothing",
            "merge-kill-all" | "parallel-kill" | "parallel-kill-all" => "merge-kill",
            "parallel-stop" => "merge-stop",
            "parallel-as" => "merge-as",
            name => name.strip_prefix("partly-").unwrap_or(name),
        }
    }

    /// Exchanges of a run that comes to MPI_Finalize; otherwise more than it has time for.
    pub(super) fn rounds(self) -> u32 {
        match self.when {
            _ if self.who == Victim::Nobody => 60,
            EndTime::Merge if self.partly => 60,
            _ if self.parallel => 200,
            _ if self.name == "hang" => 500,
            EndTime::Merge => 4000,
            EndTime::Anywhen | EndTime::Init => 1 << 30,
        }
    }

    /// Messages to itself that a rank makes in a round.
    pub(super) fn local(self) -> u32 {
        if self.parallel { 1000 } else { 0 }
    }

    /// Whether a rank is stopped, and goes on when the others may have given up.
    pub(super) fn stops(self) -> bool {
        self.ends_by() == "merge-stop"
    }

    /// The way of this name.
    pub fn named(name: &str) -> Option<EndKind> {
        WAYS.into_iter().find(|way| way.name == name)
    }
}

/// The ways, in the order of the table in docs/user/reliability.md.
pub const WAYS: [EndKind; 28] = {
    use EndTime::{Anywhen, Init, Merge};
    use Victim::{All, Each, Launcher, Nobody, One};
    [
        way("kill", "SIGKILL of one rank", One, Anywhen).printed("died"),
        way("kill-all", "SIGKILL of all ranks", All, Anywhen).printed("died"),
        way("term", "SIGTERM of one rank", One, Anywhen).printed("died"),
        way("segv", "SIGSEGV in one rank", One, Anywhen).printed("died"),
        way("abort", "abort() in one rank", One, Anywhen).printed("died"),
        way("quick", "_exit() of one rank", One, Anywhen).printed("died"),
        way("quick-exit", "quick_exit() of one rank", One, Anywhen)
            .printed("exited without MPI_Finalize"),
        way("mpi-abort", "MPI_Abort by another rank", One, Anywhen)
            .printed("called MPI_Abort")
            .threads(1),
        way("mpi-error", "a fatal MPI error", One, Anywhen)
            .printed("died in MPI_Send")
            .threads(1),
        way(
            "launcher-kill",
            "SIGKILL of mpiexec",
            Launcher("KILL"),
            Anywhen,
        ),
        way(
            "launcher-term",
            "SIGTERM to mpiexec, as batch systems do",
            Launcher("TERM"),
            Anywhen,
        ),
        way("exit", "exit() without MPI_Finalize", Each, Anywhen)
            .printed("exited without MPI_Finalize")
            .threads(1),
        way("exit-thread", "exit() while threads call MPI", One, Anywhen)
            .printed("exited without MPI_Finalize")
            .threads(3),
        // Calls of other threads while MPI_Finalize runs are not recorded: they are an error of the program.
        way(
            "hang",
            "a rank that never comes to MPI_Finalize (`deadline`)",
            One,
            Merge,
        )
        .threads(1),
        way("merge-kill", "SIGKILL of one rank in the merge", One, Merge).threads(1),
        way(
            "merge-kill-all",
            "SIGKILL of all ranks in the merge",
            Each,
            Merge,
        )
        .threads(1),
        way("merge-term", "SIGTERM of one rank in the merge", One, Merge).threads(1),
        way(
            "merge-as",
            "no more address space in the merge (`ulimit -v`)",
            Each,
            Merge,
        )
        .threads(1)
        .runs_on(),
        way(
            "merge-data",
            "no more data in the merge (`ulimit -d`)",
            Each,
            Merge,
        )
        .threads(1)
        .runs_on(),
        way(
            "merge-stop",
            "SIGSTOP of one rank in the merge, and SIGCONT (`deadline`)",
            One,
            Merge,
        )
        .threads(1)
        .runs_on(),
        way(
            "parallel-kill",
            "SIGKILL of one rank in the parallel merge",
            One,
            Merge,
        )
        .parallel(),
        way(
            "parallel-kill-all",
            "SIGKILL of all ranks in the parallel merge",
            Each,
            Merge,
        )
        .parallel(),
        way(
            "parallel-stop",
            "SIGSTOP of one rank in the parallel merge, and SIGCONT (`deadline`)",
            One,
            Merge,
        )
        .parallel()
        .runs_on(),
        way(
            "parallel-as",
            "no more address space on one rank in the parallel merge (`ulimit -v`)",
            One,
            Merge,
        )
        .parallel()
        .runs_on(),
        way("init-kill", "SIGKILL of one rank in MPI_Init", One, Init),
        way(
            "partly",
            "some ranks without a recorder, to the end",
            Nobody,
            Anywhen,
        )
        .partly()
        .threads(1)
        .runs_on(),
        way(
            "partly-kill",
            "some ranks without a recorder, SIGKILL of one rank",
            One,
            Anywhen,
        )
        .partly()
        .printed("died"),
        way(
            "partly-merge-kill",
            "some ranks without a recorder, SIGKILL of one rank in the merge",
            One,
            Merge,
        )
        .partly()
        .threads(1),
    ]
};
