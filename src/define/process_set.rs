//! The group of all processes where there is no MPI_COMM_WORLD: that of the process set `mpi://WORLD`, made from a session of
//! the program's whenever a communicator is described, and freed at once. Kept, it would be in the way of
//! MPI_Session_finalize: MPICH counts what has been made of a session.

use crate::mpi::constants::{self, predefined};
use crate::mpi::handles::Handle;
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Group, MPI_Info, MPI_Session};
use parking_lot::Mutex;
use std::ffi::{CStr, c_char, c_int};

/// Name of the set, in which case makes no difference.
const WORLD: &CStr = c"mpi://WORLD";

/// A session that has begun and not ended.
struct OpenSession {
    handle: u64,
    /// Whether it has the set, once that was asked: where it has not, asking for its group calls the session's error handler,
    /// which may end the program.
    has_world: Option<bool>,
}

static SESSIONS: Mutex<Vec<OpenSession>> = Mutex::new(Vec::new());

/// A session has begun; `None` where the program did not want its handle.
pub fn opened(session: Option<MPI_Session>) {
    if let Some(session) = session {
        SESSIONS.lock().push(OpenSession {
            handle: session.bits(),
            has_world: None,
        });
    }
}

/// A session is about to end; `None` where the program named none.
pub fn closing(session: Option<MPI_Session>) {
    if let Some(session) = session {
        SESSIONS.lock().retain(|s| s.handle != session.bits());
    }
}

/// Result of `f` with the group of all processes; `None` if no session has the set. The group is freed after `f`.
pub fn with_world<T>(f: impl FnOnce(MPI_Group) -> T) -> Option<T> {
    // Held all the time, so that no session ends meanwhile.
    let mut sessions = SESSIONS.lock();
    let session = sessions.iter_mut().find_map(|session| {
        let handle: MPI_Session = Handle::from_bits(session.handle);
        let has = *session.has_world.get_or_insert_with(|| has_world(handle));
        has.then_some(handle)
    })?;
    let mut group: MPI_Group = predefined("MPI_GROUP_NULL");
    // SAFETY: the session is alive and has a set of this name.
    let code = unsafe { pmpi::MPI_Group_from_session_pset(session, WORLD.as_ptr(), &mut group) };
    if code != 0 || group.bits() == constants::handle("MPI_GROUP_NULL") {
        return None;
    }
    let made = f(group);
    // SAFETY: the group is ours.
    unsafe { pmpi::MPI_Group_free(&mut group) };
    Some(made)
}

fn has_world(session: MPI_Session) -> bool {
    let info: MPI_Info = predefined("MPI_INFO_NULL");
    let mut sets: c_int = 0;
    // SAFETY: the session is alive.
    if unsafe { pmpi::MPI_Session_get_num_psets(session, info, &mut sets) } != 0 {
        return false;
    }
    (0..sets).any(|nth| {
        let mut name = [0 as c_char; 32];
        // Room for a name and its end; longer ones are cut, and are others.
        let mut length = name.len() as c_int - 1;
        let to = name.as_mut_ptr();
        // SAFETY: as above; there is room for `length` characters.
        let code = unsafe { pmpi::MPI_Session_get_nth_pset(session, info, nth, &mut length, to) };
        // SAFETY: it ends with the zero at the end of the array at the latest.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        code == 0 && name.to_bytes().eq_ignore_ascii_case(WORLD.to_bytes())
    })
}
