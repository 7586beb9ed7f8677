//! What the dynamic sections of this process's objects say: the libraries that they were linked to, where the program looks for its
//! own, and the functions that they only ask for.

use crate::memory::page;
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
/// Tag of the entry with the address of the symbol table.
const DT_SYMTAB: u64 = 6;
/// Tags of the entries with the address of the relocations and their size in bytes.
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
/// Tag of the entry with the number of the relocations that name no symbol; they come first.
const DT_RELACOUNT: u64 = 0x6fff_fff9;

/// An entry of the dynamic section of a 64-bit object.
#[repr(C)]
struct DynamicEntry {
    tag: u64,
    value: u64,
}

/// A place of a 64-bit object to which the dynamic linker has written a value.
#[repr(C)]
struct Relocation {
    place: u64,
    /// Number of the symbol in the high half, kind in the low half.
    info: u64,
    addend: u64,
}

/// A symbol of a 64-bit object.
#[repr(C)]
struct Symbol {
    name: u32,
    /// Binding in the high half.
    info: u8,
    other: u8,
    /// Section; 0 where the object only refers to it.
    section: u16,
    value: u64,
    size: u64,
}

/// Binding of a symbol that need not be there: the value is then 0.
const STB_WEAK: u8 = 2;

/// An object's dynamic section.
struct DynamicSection {
    first: *const DynamicEntry,
    /// Address from which places in the object count.
    base: u64,
}

impl DynamicSection {
    /// The section of an object; `None` where it has none, as a static program.
    fn of(info: &libc::dl_phdr_info) -> Option<DynamicSection> {
        let header = headers(info).iter();
        let header = header
            .clone()
            .find(|header| header.p_type == libc::PT_DYNAMIC)?;
        Some(DynamicSection {
            first: (info.dlpi_addr + header.p_vaddr) as *const DynamicEntry,
            base: info.dlpi_addr,
        })
    }

    fn entries(&self) -> impl Iterator<Item = &DynamicEntry> {
        (0..)
            // SAFETY: the section of a loaded object stays mapped and ends with DT_NULL; the entry before was not that one.
            .map(|at| unsafe { &*self.first.add(at) })
            .take_while(|entry| entry.tag != DT_NULL)
    }

    /// The value of the entry with this tag.
    fn value(&self, tag: u64) -> Option<u64> {
        let entry = self.entries().find(|entry| entry.tag == tag);
        entry.map(|entry| entry.value)
    }

    /// The address in the entry with this tag.
    fn address(&self, tag: u64) -> Option<u64> {
        // The C library has added the base already, except where the section is read-only, as in the kernel's own object.
        self.value(tag).map(|address| match address {
            address if address < self.base => address + self.base,
            address => address,
        })
    }

    /// The strings of the entries with one of these tags.
    fn texts(&self, tags: &[u64]) -> impl Iterator<Item = &CStr> {
        let strings = self.address(DT_STRTAB);
        let entries = self.entries().filter(|entry| tags.contains(&entry.tag));
        // SAFETY: an offset into the string table of the object, whose strings end with NUL.
        let text = |(entry, strings): (&DynamicEntry, u64)| unsafe {
            CStr::from_ptr((strings + entry.value) as *const c_char)
        };
        entries
            .zip(std::iter::repeat(strings).map_while(|strings| strings))
            .map(text)
    }

    /// The symbols that the object refers to and that need not be there, by name, each with the place of its address.
    fn weak_references(&self) -> Option<impl Iterator<Item = (&CStr, *mut usize)>> {
        let strings = self.address(DT_STRTAB)?;
        let symbols = self.address(DT_SYMTAB)? as *const Symbol;
        let relocations = self.address(DT_RELA)? as *const Relocation;
        let count = self.value(DT_RELASZ)? as usize / size_of::<Relocation>();
        let nameless = self.value(DT_RELACOUNT).unwrap_or(0) as usize;
        // SAFETY: the object has so many relocations, which stay mapped.
        let all = unsafe { std::slice::from_raw_parts(relocations, count) };
        let base = self.base;
        Some(all.get(nameless..)?.iter().filter_map(move |relocation| {
            let number = (relocation.info >> 32) as usize;
            // SAFETY: a symbol of the object.
            let symbol = unsafe { &*symbols.add(number) };
            let is_weak = number != 0 && symbol.info >> 4 == STB_WEAK && symbol.section == 0;
            is_weak.then(|| {
                // SAFETY: the name of a symbol, in the object's string table.
                let name =
                    unsafe { CStr::from_ptr((strings + u64::from(symbol.name)) as *const c_char) };
                (name, (base + relocation.place) as *mut usize)
            })
        }))
    }
}

/// The program headers of an object.
fn headers(info: &libc::dl_phdr_info) -> &[libc::Elf64_Phdr] {
    // SAFETY: the object has this many.
    unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
}

/// The pages of an object that are read-only once it is relocated; `None` where it has none.
fn pages_made_read_only(info: &libc::dl_phdr_info) -> Option<std::ops::Range<usize>> {
    let mut headers = headers(info).iter();
    let header = headers.find(|header| header.p_type == libc::PT_GNU_RELRO)?;
    let begin = (info.dlpi_addr + header.p_vaddr) as usize;
    let end = begin + header.p_memsz as usize;
    let inside_page = page::bytes() - 1;
    Some(begin & !inside_page..end & !inside_page)
}

/// Gives the functions that objects refer to without needing them, each with the address that the dynamic linker has found. `look` may not ask the dynamic
/// linker anything.
pub fn for_each_weak_reference(mut look: impl FnMut(&CStr, usize)) {
    for_each_object(|info| {
        let section = DynamicSection::of(info);
        let places = section.as_ref().and_then(DynamicSection::weak_references);
        for (name, place) in places.into_iter().flatten() {
            // SAFETY: a place that the dynamic linker has written.
            look(name, unsafe { place.read() });
        }
        ControlFlow::Continue(())
    });
}

/// Replaces the addresses of functions that objects refer to without needing them by null, where `is_gone` says so of name and address. It may not ask the
/// dynamic linker anything. Where a page cannot be written to, the addresses stay.
pub fn clear_weak_references(is_gone: impl Fn(&CStr, usize) -> bool) {
    for_each_object(|info| {
        let section = DynamicSection::of(info);
        let places = section.as_ref().and_then(DynamicSection::weak_references);
        let read_only = pages_made_read_only(info).unwrap_or(0..0);
        for (name, place) in places.into_iter().flatten() {
            // SAFETY: a place that the dynamic linker has written.
            if !is_gone(name, unsafe { place.read() }) {
                continue;
            }
            let bytes = page::bytes();
            let page = (place as usize & !(bytes - 1)) as *mut c_void;
            let is_protected = read_only.contains(&(place as usize));
            let both = libc::PROT_READ | libc::PROT_WRITE;
            // SAFETY: a page of data of the object, which is readable all the time.
            unsafe {
                if is_protected && libc::mprotect(page, bytes, both) != 0 {
                    continue;
                }
                place.write_volatile(0);
                if is_protected {
                    libc::mprotect(page, bytes, libc::PROT_READ);
                }
            }
        }
        ControlFlow::Continue(())
    });
}

/// How often an object has been loaded into this process.
pub fn loaded_objects() -> u64 {
    let mut loaded = 0;
    for_each_object(|info| {
        loaded = info.dlpi_adds;
        ControlFlow::Break(())
    });
    loaded
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
