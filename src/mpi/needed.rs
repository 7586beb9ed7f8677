//! The libraries that the objects of this process were linked to, read from their dynamic sections.

use std::ffi::{CStr, c_char, c_int, c_void};

/// Tag of the entry after the last one (ELF gABI, "Dynamic Section").
const DT_NULL: u64 = 0;
/// Tag of an entry with the name of a library that the object was linked to, as an offset into its string table.
const DT_NEEDED: u64 = 1;
/// Tag of the entry with the address of the string table.
const DT_STRTAB: u64 = 5;

/// An entry of the dynamic section of a 64-bit object.
#[repr(C)]
struct DynamicEntry {
    tag: u64,
    value: u64,
}

/// A library that is looked for in the needs of loaded objects, and whether one has it.
struct NeededSearch<'a> {
    names: &'a [&'a CStr],
    is_found: bool,
}

/// Whether the program or a loaded library was linked to a library with one of these file names.
pub fn is_by_any(names: &[&CStr]) -> bool {
    let mut search = NeededSearch {
        names,
        is_found: false,
    };
    // SAFETY: the callback takes what it is given, and `search` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.is_found
}

/// Callback of `dl_iterate_phdr`: looks into one object. Not 0, which ends the iteration, once a name was found.
unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr passes a valid description, and `search` is the one of `is_by_any`.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<NeededSearch>()) };
    // SAFETY: the object has this many program headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let dynamic = headers
        .iter()
        .find(|header| header.p_type == libc::PT_DYNAMIC);
    search.is_found = dynamic.is_some_and(|header| {
        let section = (info.dlpi_addr + header.p_vaddr) as *const DynamicEntry;
        // SAFETY: the dynamic section of a loaded object stays mapped and ends with DT_NULL.
        unsafe { needs_any(section, info.dlpi_addr, search.names) }
    });
    c_int::from(search.is_found)
}

/// Whether an object's dynamic section names one of these libraries.
///
/// # Safety
/// `section` is the dynamic section of a loaded object whose addresses are shifted by `base`.
unsafe fn needs_any(section: *const DynamicEntry, base: u64, names: &[&CStr]) -> bool {
    let entries = (0..)
        // SAFETY: the entry before was not the last one.
        .map(|at| unsafe { &*section.add(at) })
        .take_while(|entry| entry.tag != DT_NULL);
    let Some(strings) = entries.clone().find(|entry| entry.tag == DT_STRTAB) else {
        return false;
    };
    // The C library has added the base already, except where the section is read-only, as in the kernel's own object.
    let strings = match strings.value {
        address if address < base => address + base,
        address => address,
    };
    entries.filter(|entry| entry.tag == DT_NEEDED).any(|entry| {
        // SAFETY: an offset into the string table of the object, whose strings end with NUL.
        let name = unsafe { CStr::from_ptr((strings + entry.value) as *const c_char) };
        names.contains(&name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_is_needed_and_no_other() {
        assert!(is_by_any(&[c"libnone.so", c"libc.so.6"]));
        assert!(!is_by_any(&[c"libnone.so", c"libc.so"]));
        assert!(!is_by_any(&[]));
    }
}
