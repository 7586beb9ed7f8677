//! Meeting of the ranks for the merge. The recorder has no communicator of its own while the program runs: it makes one when
//! the program has called MPI_Finalize, by a call that does not block (MPI_Comm_idup). A rank without a recorder never makes that
//! call. Nor is it complete where the program has made a collective call on some ranks only; ranks that have told each other so on arrival do not
//! ask MPI for it. Otherwise the wait ends at the deadline, or when /proc shows that a rank of this host has no recorder, or that all ranks have been
//! waiting for long; and the request stays pending.
//!
//! The MPI_Finalize of MPICH and of Open MPI comes through with a request that stays where it is. That of Open MPI crashes if it takes
//! communicators down while the request is on its way to completion. While it waits for the other ranks it still makes progress. So the
//! rank that comes last must not leave before the request is complete: it waits as long as any other from when it has come
//! ([`Patience`]), and at least [`MIN_WAIT`]. The others' requests are complete by then, too, whether they have given up or not.
//!
//! Nothing is sent over the program's own communicators before all ranks have met: a receive from any source with any tag could
//! take it.

use super::failure::ExchangeFailure;
use super::line::{RecorderComm, pause};
use super::neighbours::Neighbours;
use super::patience::Patience;
use crate::mpi::constants::predefined;
use crate::mpi::pmpi;
use crate::mpi::status::Status;
use crate::mpi::types::{MPI_Comm, MPI_Errhandler, MPI_Request};
use crate::platform::mark;
use parking_lot::Mutex;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// The recorder's duplicate of MPI_COMM_WORLD, once the ranks have met.
static COMM: Mutex<Option<RecorderComm>> = Mutex::new(None);

/// First look at the ranks of this host, after the wait has begun.
const FIRST_LOOK: Duration = Duration::from_millis(500);
/// Longest time between two looks.
const MAX_BETWEEN_LOOKS: Duration = Duration::from_secs(8);

/// Least time that a rank gives a request which others may be about to complete.
const MIN_WAIT: Duration = Duration::from_secs(1);

/// Why the ranks have not met.
#[derive(Clone, Debug)]
pub enum MeetingFailure<T> {
    /// Not all ranks came before the deadline.
    Deadline,
    /// MPI returned this error code.
    Mpi(c_int),
    /// Waiting ended because of this finding.
    GivenUp(T),
}

impl<T> MeetingFailure<T> {
    /// This result as the failure of an exchange.
    pub fn failure(self) -> ExchangeFailure {
        match self {
            MeetingFailure::Mpi(code) => ExchangeFailure::Mpi(code),
            MeetingFailure::Deadline | MeetingFailure::GivenUp(_) => ExchangeFailure::Absent,
        }
    }
}

/// Ranks without a recorder.
#[derive(Clone, Debug)]
pub struct AbsentRanks {
    /// The ones of this host.
    pub ranks: Vec<u32>,
    /// Whether all ranks of the run are on this host, and each is known to have a recorder or none.
    pub are_all_here: bool,
}

/// Why the ranks of this host cannot meet.
#[derive(Clone, Debug)]
pub enum Missed {
    /// Some ranks have no recorder.
    Absent(AbsentRanks),
    /// All ranks are here and wait, but have made different numbers of collective calls on MPI_COMM_WORLD: at least and at most so many.
    OutOfStep { least: u64, most: u64 },
    /// All ranks are here and wait, but MPI makes no communicator of them. The program may have begun a nonblocking collective call on MPI_COMM_WORLD that
    /// not all ranks have made, which stands in the way; or ranks have no way to reach each other.
    Apart,
}

/// How long all ranks wait for each other before they are taken for unable to meet. MPI makes a communicator in milliseconds once all have come.
const APART_AFTER: Duration = Duration::from_secs(10);

/// Since when all ranks of the run have been seen waiting in MPI_Finalize.
#[derive(Debug, Default)]
pub struct AllWaiting {
    since: Option<Instant>,
}

impl AllWaiting {
    /// Looks at the ranks of this host, of `size` in all, from one that waits for the others.
    pub fn look(&mut self, size: i32) -> Option<Missed> {
        mark::wait();
        let neighbours = Neighbours::now(size as u32);
        if let Some(absent) = of_absent(&neighbours, size) {
            return Some(Missed::Absent(absent));
        }
        if !neighbours.all_wait(size as u32) {
            self.since = None;
            return None;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        (since.elapsed() >= APART_AFTER).then_some(Missed::Apart)
    }
}

/// Looks for ranks of this host that have no recorder and so will never come.
pub fn absent(size: i32) -> Option<AbsentRanks> {
    of_absent(&Neighbours::now(size as u32), size)
}

fn of_absent(neighbours: &Neighbours, size: i32) -> Option<AbsentRanks> {
    let ranks = neighbours.without_recorder();
    (!ranks.is_empty()).then(|| AbsentRanks {
        ranks,
        are_all_here: neighbours.are_all_known(size as u32),
    })
}

/// Sets the error handler of one of MPI's own communicators aside, so that an error of a call of ours does not end the program.
struct ErrorsReturn {
    comm: MPI_Comm,
    before: MPI_Errhandler,
}

impl ErrorsReturn {
    fn of(name: &str) -> ErrorsReturn {
        let comm: MPI_Comm = predefined(name);
        let mut before: MPI_Errhandler = predefined("MPI_ERRHANDLER_NULL");
        // SAFETY: MPI is initialised; local calls.
        unsafe {
            pmpi::MPI_Comm_get_errhandler(comm, &mut before);
            pmpi::MPI_Comm_set_errhandler(comm, predefined("MPI_ERRORS_RETURN"));
        }
        ErrorsReturn { comm, before }
    }
}

impl Drop for ErrorsReturn {
    fn drop(&mut self) {
        // SAFETY: what was there before. The reference that the question gave is kept: a predefined handler may not be freed.
        unsafe { pmpi::MPI_Comm_set_errhandler(self.comm, self.before) };
    }
}

/// Lets MPI go on with what the program has left to it, while a rank waits for others without a request of its own: a message
/// that was sent with MPI_Bsend, or whose request was freed, may need its sender after that one has called MPI_Finalize, and its
/// receiver waits for it.
pub struct MpiProgress {
    errors: ErrorsReturn,
    rank: c_int,
}

impl MpiProgress {
    /// Progress of the process with this rank in MPI_COMM_WORLD.
    pub fn of(rank: c_int) -> MpiProgress {
        let errors = ErrorsReturn::of("MPI_COMM_WORLD");
        MpiProgress { errors, rank }
    }

    /// Lets MPI go on for a moment, by a look for a message of this process to itself: nothing is sent or taken by it. (On
    /// MPI_COMM_SELF, MPICH 4.0.2 looks without going on with anything else.)
    pub fn make(&self) {
        let (mut flag, mut status) = (0, Status::unset());
        let (rank, world) = (self.rank, self.errors.comm);
        // SAFETY: MPI is initialised and not finalised; places for the answer. An error tells nothing of use here.
        unsafe { pmpi::MPI_Iprobe(rank, 0, world, &mut flag, status.place()) };
    }
}

/// The recorder's communicator; made now, if there is none. Collective over MPI_COMM_WORLD. `look` is asked now and then whether
/// there is a reason to give up.
///
/// # Errors
/// Not all ranks came, and why. The call must not be repeated then.
pub fn meet<T>(
    deadline: Option<Duration>,
    mut look: impl FnMut() -> Option<T>,
) -> Result<RecorderComm, MeetingFailure<T>> {
    if let Some(comm) = *COMM.lock() {
        return Ok(comm);
    }
    let _errors = ErrorsReturn::of("MPI_COMM_WORLD");
    let mut comm: MPI_Comm = predefined("MPI_COMM_NULL");
    // In place until the request is complete; if that never happens, for good.
    let made = Box::into_raw(Box::new(comm));
    let mut request: MPI_Request = predefined("MPI_REQUEST_NULL");
    let mut status = Status::unset();
    // SAFETY: MPI is initialised and not finalised; `made` stays in place.
    let code = unsafe { pmpi::MPI_Comm_idup(predefined("MPI_COMM_WORLD"), made, &mut request) };
    if code != 0 {
        return Err(MeetingFailure::Mpi(code));
    }
    let begun = Instant::now();
    let mut patience = Patience::new(deadline.map(|limit| limit.max(MIN_WAIT)));
    let (mut next_look, mut between) = (FIRST_LOOK, FIRST_LOOK);
    for turn in 0u32.. {
        let mut flag = 0;
        // SAFETY: a request of ours, and a place for its status.
        let code = unsafe { pmpi::MPI_Test(&mut request, &mut flag, status.place()) };
        if code != 0 {
            return Err(MeetingFailure::Mpi(code));
        }
        if flag != 0 {
            break;
        }
        pause(turn);
        let waited = begun.elapsed();
        if waited >= next_look {
            if let Some(reason) = look() {
                return Err(MeetingFailure::GivenUp(reason));
            }
            between = (2 * between).min(MAX_BETWEEN_LOOKS);
            next_look = waited + between;
        }
        if patience.is_over() {
            return Err(MeetingFailure::Deadline);
        }
    }
    // SAFETY: the request is complete: nobody but this function knows the place any more.
    comm = *unsafe { Box::from_raw(made) };
    // SAFETY: a communicator that has just been made.
    unsafe { pmpi::MPI_Comm_set_errhandler(comm, predefined("MPI_ERRORS_RETURN")) };
    *COMM.lock() = Some(RecorderComm(comm));
    Ok(RecorderComm(comm))
}

/// Frees the recorder's communicator. Collective.
pub fn part() {
    if let Some(RecorderComm(mut comm)) = COMM.lock().take() {
        // SAFETY: all ranks are in MPI_Finalize, and no message is under way on it.
        unsafe { pmpi::MPI_Comm_free(&mut comm) };
    }
}
