//! The I/O libraries that are in the process: one event for each, at MPI_Finalize. The text of the event is the file name of the library, or the
//! version that the library tells if it is linked into the program.

use super::user;
use super::user::names::EventName;
use crate::call::modes;
use crate::define::views;
use crate::memory;
use crate::mpi::library;
use crate::thread::within::within;
use blockfile::user::{UserCategoryKind, what};

/// Beginnings of the file names of libraries. One of each is told: the others of a family are its bindings and what builds on it.
const FAMILIES: [&[u8]; 4] = [b"libhdf5", b"libpnetcdf", b"libnetcdf", b"libadios2"];

/// Beginnings of texts by which the libraries tell their versions, and which are in a program that they are linked into.
const VERSIONS: [&[u8]; 2] = [b"HDF5 library version: ", b"PnetCDF library version "];

/// Name of the events.
const EVENT: &[u8] = b"library";

/// Longest text of an event, bytes.
const MAX_BYTES: usize = 64;

/// Records an event for each I/O library that is loaded or linked into the program.
pub fn tell() {
    if !modes::wanted() {
        // No event would be recorded.
        return;
    }
    // Neither a mistake of ours nor want of memory must change how the program ends.
    let loaded = memory::unless_exhausted(|| within(library::loaded_names)).unwrap_or_default();
    for family in FAMILIES {
        let of_family = loaded.iter().filter(|name| name.starts_with(family));
        // The shortest name is that of the library itself.
        if let Some(name) = of_family.min_by_key(|name| name.len()) {
            event(name);
        }
    }
    if !views::any_opened() {
        // Of programs without MPI-IO the constants are not looked through: it takes time, and they may still lie on the disk.
        return;
    }
    let linked = memory::unless_exhausted(|| within(|| VERSIONS.map(library::text_of_program)));
    for version in linked.into_iter().flatten().flatten() {
        event(&version);
    }
}

fn event(text: &[u8]) {
    let text = &text[..text.len().min(MAX_BYTES)];
    if let Some(event) = EventName::find(UserCategoryKind::Text, EVENT) {
        user::named(what::TEXT, event, 4 + text.len(), |out| {
            out.u32(text.len() as u32);
            // SAFETY: the bytes of a slice.
            unsafe { out.bytes(text.as_ptr(), text.len()) };
        });
    }
}
