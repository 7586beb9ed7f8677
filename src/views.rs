//! Which bytes of a file an MPI_File sees: each view, flattened to pieces when it is set, and the individual file pointer
//! before each access that uses it. From these and the arguments of an access a reader knows the bytes it asks for.

mod contents;
mod flatten;

use crate::arg::bits;
use crate::call::Call;
use crate::constants;
use crate::fill::put_definition;
use crate::generated::{MPI_Datatype, MPI_File, MPI_Offset, pmpi};
use crate::thread::Thread;
use parking_lot::RwLock;
use records::define::{Definition, View};
use std::ffi::{CStr, c_char};

/// Handles of open files. Only these are asked for their position: what the program passes may be anything.
static OPEN: RwLock<Vec<u64>> = RwLock::new(Vec::new());

/// MPI_File_open has returned this handle.
#[cold]
pub fn opened(file: MPI_File) {
    let mut open = OPEN.write();
    if !open.contains(&bits(file)) {
        open.push(bits(file));
    }
}

/// MPI_File_close is about to close this handle.
#[cold]
pub fn closing(file: u64) {
    OPEN.write().retain(|&f| f != file);
}

/// Writes down where the individual pointer of `file` stands, before an access by it.
#[inline(never)]
pub fn position(call: &Call, file: MPI_File) {
    if !OPEN.read().contains(&bits(file)) {
        return;
    }
    let mut etypes: MPI_Offset = -1;
    // SAFETY: an open file; the lock is not held, because another thread may wait for it inside the MPI library.
    let code = unsafe { pmpi::MPI_File_get_position(file, &mut etypes) };
    let position = Definition::Position {
        file: bits(file),
        etypes: if code == 0 { etypes } else { -1 },
    };
    put_definition(call.thread(), &position);
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
    let displacement = if displacement as i64 == constants::DISPLACEMENT_CURRENT {
        current_displacement(file)
    } else {
        displacement as i64
    };
    // SAFETY: a string that the MPI library has accepted.
    let datarep = unsafe { CStr::from_ptr(datarep) }.to_bytes();
    let flat = flatten::flatten(filetype);
    let view = View {
        file: bits(file),
        displacement,
        etype: flatten::size(etype),
        extent: flat.extent,
        size: flat.size,
        hull: flat.hull,
        converted: !["native", "internal"]
            .iter()
            .any(|name| datarep.eq_ignore_ascii_case(name.as_bytes())),
        pieces: flat.pieces,
    };
    put_definition(t, &Definition::View(view));
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
