//! The bytes of a file that an MPI_File sees: each view, flattened to pieces when it is set, and the individual file pointer
//! before each access that uses it. From these and the arguments of an access a reader knows the bytes it asks for.

mod contents;
mod flatten;

use crate::call::Call;
use crate::mpi::constants;
use crate::mpi::family::family;
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Count, MPI_Datatype, MPI_File, MPI_Offset};
use crate::platform::environment;
use crate::thread::records::put_definition;
use crate::thread::state::Thread;
use blockfile::define::{Definition, FileView};
use blockfile::layout::Family;
use flatten::FlatDatatype;
use parking_lot::Mutex;
use settings::{Posix, Settings};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Pieces of a view whose places MPI is asked for: to answer for later ones, ROMIO goes through all before.
const COMPARED_PIECES: usize = 8;

/// A file that the program has open.
struct ViewedFile {
    /// The handle.
    file: u64,
    /// Whether it was opened with MPI_MODE_SEQUENTIAL. MPI tells nothing of places in such a file: a question is an error of the program's.
    is_sequential: bool,
    /// Size of an etype, bytes.
    etype: u64,
    /// Position of the individual pointer, etypes, if it is known without asking: to answer, ROMIO goes through the file
    /// piece by piece, which takes milliseconds in a large one.
    position: Option<i64>,
    /// Collective accesses that were not recorded since a record told of them.
    left_out: u32,
    /// Whether a record has told that there are any, and that work of some goes on when they have returned.
    recorded: (bool, bool),
}

/// Only handles in here are asked for their position: what the program passes may be anything.
static OPEN: Mutex<Vec<ViewedFile>> = Mutex::new(Vec::new());
/// Whether collective accesses were left out of any file: else none has to look.
static LEFT_OUT: AtomicBool = AtomicBool::new(false);

/// Whether the program has opened a file by MPI.
static ANY_OPENED: AtomicBool = AtomicBool::new(false);

/// Whether views and positions are written down: only where operations on files are recorded.
static WANTED: AtomicBool = AtomicBool::new(false);

/// Takes what the settings say.
pub fn apply(settings: &Settings) {
    WANTED.store(settings.posix != Posix::Off, Relaxed);
}

/// Changes what is known of an open file.
fn with<T>(file: MPI_File, change: impl FnOnce(&mut ViewedFile) -> T) -> Option<T> {
    let file = file.bits();
    OPEN.lock().iter_mut().find(|o| o.file == file).map(change)
}

/// MPI_File_open has returned this handle.
#[cold]
pub fn opened(file: MPI_File) {
    ANY_OPENED.store(true, Relaxed);
    let is_sequential = is_sequential(file);
    let mut open = OPEN.lock();
    open.retain(|o| o.file != file.bits());
    open.push(ViewedFile {
        file: file.bits(),
        is_sequential,
        etype: 1,
        position: None,
        left_out: 0,
        recorded: (false, false),
    });
}

/// Whether a file was opened with MPI_MODE_SEQUENTIAL.
fn is_sequential(file: MPI_File) -> bool {
    let mut amode = 0;
    // SAFETY: a file that was opened just now, and a place for the answer.
    let code = unsafe { pmpi::MPI_File_get_amode(file, &mut amode) };
    code == 0 && amode & constants::integers().mode_sequential != 0
}

/// Whether the program has opened a file by MPI.
pub fn any_opened() -> bool {
    ANY_OPENED.load(Relaxed)
}

/// An access that is not recorded has returned: readers must know of it, because collective ones are counted, and because
/// transfers may have moved its bytes.
#[cold]
pub fn left_out(t: &mut Thread, file: MPI_File, collective: bool, outlasts: bool) {
    let recorded = with(file, |open| {
        open.left_out = open.left_out.saturating_add(collective.into());
        if collective {
            LEFT_OUT.store(true, Relaxed);
        }
        let recorded = (true, open.recorded.1 || outlasts);
        let is_news = std::mem::replace(&mut open.recorded, recorded) != recorded;
        is_news.then(|| std::mem::take(&mut open.left_out))
    });
    if let Some(collective) = recorded.flatten() {
        let file = file.bits();
        put_definition(
            t,
            &Definition::LeftOut {
                file,
                collective,
                outlasts,
            },
        );
    }
}

/// A collective access that may be recorded begins: tells how many of its kind were not.
#[inline(always)]
pub fn count(call: &mut Call, file: MPI_File) {
    if LEFT_OUT.load(Relaxed) {
        tell_left_out(call, file);
    }
}

#[cold]
fn tell_left_out(call: &mut Call, file: MPI_File) {
    let left_out = with(file, |open| std::mem::take(&mut open.left_out));
    if let Some(collective @ 1..) = left_out {
        let definition = Definition::LeftOut {
            file: file.bits(),
            collective,
            outlasts: false,
        };
        // SAFETY: the call is recorded.
        put_definition(unsafe { call.thread() }, &definition);
    }
}

/// MPI_File_close is about to close this handle.
#[cold]
pub fn closing(file: u64) {
    OPEN.lock().retain(|o| o.file != file);
}

/// A call that is not recorded has moved the individual pointer.
#[cold]
pub fn moved(file: MPI_File) {
    with(file, |open| open.position = None);
}

/// MPI_File_seek has returned.
pub fn sought(file: MPI_File, ok: bool, offset: MPI_Offset, whence: c_int) {
    with(file, |open| {
        let integers = constants::integers();
        open.position = match open.position {
            _ if !ok => None,
            _ if whence == integers.seek_set => Some(offset),
            Some(at) if whence == integers.seek_cur => at.checked_add(offset),
            _ => None,
        };
    });
}

/// Writes down where the individual pointer of `file` stands, before an access by it.
#[inline(never)]
pub fn position(call: &mut Call, file: MPI_File) {
    if !WANTED.load(Relaxed) {
        return;
    }
    let known = with(file, |open| (!open.is_sequential).then_some(open.position));
    let Some(known) = known.flatten() else {
        return;
    };
    let etypes = known.unwrap_or_else(|| {
        let mut etypes: MPI_Offset = -1;
        // SAFETY: an open file; the lock is not held, because another thread may wait for it inside the MPI library.
        let code = unsafe { pmpi::MPI_File_get_position(file, &mut etypes) };
        let etypes = if code == 0 { etypes as i64 } else { -1 };
        with(file, |open| open.position = (etypes >= 0).then_some(etypes));
        etypes
    });
    let file = file.bits();
    // SAFETY: the call is recorded.
    let t = unsafe { call.thread() };
    put_definition(t, &Definition::Position { file, etypes });
}

/// Part of an access that has been moved.
pub enum AccessProgress {
    /// All, or it will be.
    All,
    /// As much as the status says.
    Status(*const c_void),
    /// Nobody knows yet.
    Unknown,
}

/// An access by the individual pointer has returned.
///
/// # Safety
/// The arguments are those of that call.
pub unsafe fn accessed(
    file: MPI_File,
    ok: bool,
    count: i64,
    datatype: MPI_Datatype,
    done: AccessProgress,
) {
    if !WANTED.load(Relaxed) {
        return;
    }
    if !ok {
        return moved(file);
    }
    let asked = i64::try_from(flatten::size(datatype)).ok();
    let asked = asked.and_then(|size| size.checked_mul(count));
    let all = match done {
        AccessProgress::All => true,
        AccessProgress::Status(status) => {
            let mut bytes: MPI_Count = -1;
            let byte = constants::predefined("MPI_BYTE");
            // SAFETY: the status that the call has filled in.
            let code = unsafe { pmpi::MPI_Get_elements_x(status, byte, &mut bytes) };
            code == 0 && asked == Some(bytes as i64)
        }
        AccessProgress::Unknown => false,
    };
    with(file, |open| {
        let etypes = asked.zip(i64::try_from(open.etype).ok());
        let etypes = etypes.and_then(|(bytes, etype)| bytes.checked_div(etype));
        open.position = match (all, open.position, etypes) {
            (true, Some(at), Some(etypes)) => at.checked_add(etypes),
            _ => None,
        };
    });
}

/// Writes down the view that a successful MPI_File_set_view has set.
///
/// # Safety
/// The arguments are those of that call.
#[cold]
pub unsafe fn set(
    t: &mut Thread,
    file: MPI_File,
    displacement: MPI_Offset,
    etype: MPI_Datatype,
    filetype: MPI_Datatype,
    datarep: *const c_char,
) {
    if !WANTED.load(Relaxed) {
        return;
    }
    let displacement = if displacement == constants::integers().displacement_current {
        current_displacement(file)
    } else {
        displacement
    };
    // SAFETY: a string that the MPI library has accepted.
    let datarep = unsafe { CStr::from_ptr(datarep) }.to_bytes();
    let flat = flatten::flatten(filetype);
    let etype = flatten::size(etype);
    let may_ask = with(file, |open| {
        open.etype = etype;
        open.position = None;
        !open.is_sequential
    });
    // Pieces of nothing are known to nobody.
    let is_known = !flat.sets_lower_bound
        || may_ask == Some(true) && begins_as_mpi_says(file, displacement, etype, &flat);
    let view = FileView {
        file: file.bits(),
        displacement,
        etype,
        extent: flat.extent,
        size: flat.size,
        bounding_extent: flat.bounding_extent || !is_known,
        converted: !["native", "internal"]
            .iter()
            .any(|name| datarep.eq_ignore_ascii_case(name.as_bytes())),
        runs: if is_known { flat.runs } else { Vec::new() },
    };
    put_definition(t, &Definition::View(view));
}

/// MPI_File_set_view has failed. ROMIO has taken over a part of the new view all the same: what the file shows is known to nobody.
#[cold]
pub fn refused(t: &mut Thread, file: MPI_File) {
    if !WANTED.load(Relaxed) || !is_romio() {
        return;
    }
    let Some(etype) = with(file, |open| {
        open.position = None;
        open.etype
    }) else {
        return;
    };
    let unknown = FileView {
        file: file.bits(),
        etype,
        bounding_extent: true,
        ..FileView::default()
    };
    put_definition(t, &Definition::View(unknown));
}

/// Whether MPI places the first pieces of a view where its filetype has them. ROMIO of MPICH 4.0 and Open MPI's romio321 do not where
/// MPI_Type_create_resized has set a lower bound.
fn begins_as_mpi_says(file: MPI_File, displacement: i64, etype: u64, flat: &FlatDatatype) -> bool {
    let mut before = 0_u64;
    let pieces = flat.runs.iter().flat_map(|run| run.pieces());
    for (offset, length) in pieces.take(COMPARED_PIECES) {
        if before.checked_rem(etype) == Some(0) {
            let etypes = i64::try_from(before / etype).unwrap_or(i64::MAX);
            let mut at: MPI_Offset = -1;
            // SAFETY: an open file, and a place for the answer.
            let code = unsafe { pmpi::MPI_File_get_byte_offset(file, etypes, &mut at) };
            if code != 0 || Some(at as i64) != displacement.checked_add(offset) {
                return false;
            }
        }
        before = before.saturating_add(length);
    }
    true
}

/// Whether MPI-IO is ROMIO's, as far as the environment tells with Open MPI.
fn is_romio() -> bool {
    match family() {
        Family::OpenMpi => environment::var("OMPI_MCA_io").is_some_and(|io| io.contains("romio")),
        Family::Mpich | Family::Standard => true,
    }
}

/// The displacement of a file's view, for files whose program did not say it.
fn current_displacement(file: MPI_File) -> i64 {
    let mut displacement: MPI_Offset = 0;
    let mut etype: MPI_Datatype = constants::predefined("MPI_DATATYPE_NULL");
    let mut filetype = etype;
    let mut name = [0 as c_char; 1024]; // MPI_MAX_DATAREP_STRING is 128 in MPICH and Open MPI
    // SAFETY: an open file, and places for what is returned; datatypes returned are ours.
    unsafe {
        let code = pmpi::MPI_File_get_view(
            file,
            &mut displacement,
            &mut etype,
            &mut filetype,
            name.as_mut_ptr(),
        );
        if code == 0 {
            flatten::free(etype);
            flatten::free(filetype);
        }
    }
    displacement as i64
}
