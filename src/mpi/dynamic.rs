//! What the dynamic sections of this process's objects say: the libraries that they were linked to, and where the program looks for its
//! own.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::ControlFlow;

/// Tag of the entry after the last one (ELF gABI, "Dynamic Section").
const DT_NULL: u64 = 0;
/// Tag of an entry with the name of a library that the object was linked to, as an offset into its string table.
const DT_NEEDED: u64 = 1;
/// Tag of the entry with the address of the string table.
const DT_STRTAB: u64 = 5;
/// Tags of an entry with folders in which the object's libraries are looked for, separated by colons.
const DT_RPATH: u64 = 15;
const DT_RUNPATH: u64 = 29;

/// An entry of the dynamic section of a 64-bit object.
#[repr(C)]
struct DynamicEntry {
    tag: u64,
    value: u64,
}

/// An object's dynamic section.
struct DynamicSection {
    first: *const DynamicEntry,
    strings: u64,
}

impl DynamicSection {
    /// The section of an object; `None` where it has none, as a static program.
    fn of(info: &libc::dl_phdr_info) -> Option<DynamicSection> {
        // SAFETY: the object has this many program headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let mut headers = headers.iter();
        let header = headers.find(|header| header.p_type == libc::PT_DYNAMIC)?;
        let mut section = DynamicSection {
            first: (info.dlpi_addr + header.p_vaddr) as *const DynamicEntry,
            strings: 0,
        };
        let strings = section
            .entries()
            .find(|entry| entry.tag == DT_STRTAB)?
            .value;
        // The C library has added the base already, except where the section is read-only, as in the kernel's own object.
        section.strings = match strings {
            address if address < info.dlpi_addr => address + info.dlpi_addr,
            address => address,
        };
        Some(section)
    }

    fn entries(&self) -> impl Iterator<Item = &DynamicEntry> {
        (0..)
            // SAFETY: the section of a loaded object stays mapped and ends with DT_NULL; the entry before was not that one.
            .map(|at| unsafe { &*self.first.add(at) })
            .take_while(|entry| entry.tag != DT_NULL)
    }

    /// The strings of the entries with one of these tags.
    fn texts(&self, tags: &[u64]) -> impl Iterator<Item = &CStr> {
        let entries = self.entries().filter(|entry| tags.contains(&entry.tag));
        // SAFETY: an offset into the string table of the object, whose strings end with NUL.
        entries
            .map(|entry| unsafe { CStr::from_ptr((self.strings + entry.value) as *const c_char) })
    }
}

/// Looks at the program and then at each library that is loaded, until `look` has seen enough.
pub fn for_each_object<F: FnMut(&libc::dl_phdr_info) -> ControlFlow<()>>(mut look: F) {
    /// Callback of `dl_iterate_phdr`: not 0 ends the iteration.
    unsafe extern "C" fn visit<F: FnMut(&libc::dl_phdr_info) -> ControlFlow<()>>(
        info: *mut libc::dl_phdr_info,
        _: usize,
        look: *mut c_void,
    ) -> c_int {
        // SAFETY: dl_iterate_phdr passes a valid description, and `look` is the function below.
        let (info, look) = unsafe { (&*info, &mut *look.cast::<F>()) };
        c_int::from(look(info).is_break())
    }
    // SAFETY: the callback takes what it is given, and `look` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit::<F>), (&raw mut look).cast()) };
}

/// Whether the program or a loaded library was linked to a library with one of these file names.
pub fn is_needed_by_any(names: &[&CStr]) -> bool {
    let mut is_found = false;
    for_each_object(|info| {
        let section = DynamicSection::of(info);
        is_found = section.is_some_and(|s| s.texts(&[DT_NEEDED]).any(|name| names.contains(&name)));
        match is_found {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    is_found
}

/// The folders in which the program was linked to look for libraries, separated by colons; empty where it names none.
pub fn program_search_path() -> String {
    let mut folders = String::new();
    for_each_object(|info| {
        if let Some(section) = DynamicSection::of(info) {
            let texts = section.texts(&[DT_RUNPATH, DT_RPATH]);
            folders = texts
                .map(CStr::to_string_lossy)
                .collect::<Vec<_>>()
                .join(":");
        }
        ControlFlow::Break(())
    });
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_needed_and_no_other() {
        assert!(is_needed_by_any(&[c"libnone.so", c"libc.so.6"]));
        assert!(!is_needed_by_any(&[c"libnone.so", c"libc.so"]));
        assert!(!is_needed_by_any(&[]));
    }
}
