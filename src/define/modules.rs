//! Definitions of code modules: the program and its shared objects, with their places in memory.

use crate::thread::records;
use crate::thread::state::Thread;
use crate::thread::within::within;
use blockfile::define::{Definition, Module};
use parking_lot::Mutex;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Modules that the block file has, by base and path.
static KNOWN: Mutex<Vec<(u64, String)>> = Mutex::new(Vec::new());
/// Number of objects that had been loaded when they were last looked at.
static LOADED: AtomicU64 = AtomicU64::new(0);

/// Writes definitions of objects that have been loaded since the last time.
pub fn look(t: &mut Thread) {
    let mut found = ModuleSearch {
        since: LOADED.load(Relaxed),
        loaded: 0,
        modules: Vec::new(),
    };
    within(|| {
        // SAFETY: the callback fits, and what it is given outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(one), (&raw mut found).cast()) };
    });
    // Who else looks now writes them.
    let Some(mut known) = KNOWN.try_lock() else {
        return;
    };
    LOADED.store(found.loaded, Relaxed);
    for module in found.modules {
        let key = (module.base, module.path.clone());
        if !known.contains(&key) {
            records::put_definition(t, &Definition::Module(module));
            known.push(key);
        }
    }
}

struct ModuleSearch {
    since: u64,
    loaded: u64,
    modules: Vec<Module>,
}

unsafe extern "C" fn one(info: *mut libc::dl_phdr_info, _: usize, out: *mut c_void) -> c_int {
    // SAFETY: dl_iterate_phdr gives a valid description, and passes on what `look` has given.
    let (info, found) = unsafe { (&*info, &mut *out.cast::<ModuleSearch>()) };
    found.loaded = info.dlpi_adds;
    if found.loaded == found.since {
        return 1;
    }
    let name = match info.dlpi_name.is_null() {
        true => c"",
        // SAFETY: a name that ends with 0.
        false => unsafe { CStr::from_ptr(info.dlpi_name) },
    };
    let path = match name.to_string_lossy() {
        name if name.is_empty() => std::env::current_exe()
            .map(|path| path.to_string_lossy().into_owned())
            .unwrap_or_default(),
        name => name.into_owned(),
    };
    if path.starts_with("linux-vdso") {
        return 0;
    }
    let mut module = Module {
        path,
        base: info.dlpi_addr,
        start: u64::MAX,
        end: 0,
        build: Vec::new(),
    };
    for i in 0..usize::from(info.dlpi_phnum) {
        // SAFETY: there are so many headers.
        let header = unsafe { &*info.dlpi_phdr.add(i) };
        let start = info.dlpi_addr.wrapping_add(header.p_vaddr);
        if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
            module.start = module.start.min(start);
            module.end = module.end.max(start.wrapping_add(header.p_memsz));
        }
        if header.p_type == libc::PT_NOTE {
            // SAFETY: notes are in memory while the object is.
            let notes =
                unsafe { std::slice::from_raw_parts(start as *const u8, header.p_memsz as usize) };
            module.build.extend(build_id(notes));
        }
    }
    if module.start < module.end {
        found.modules.push(module);
    }
    0
}

/// The GNU build ID among these notes.
fn build_id(mut notes: &[u8]) -> Vec<u8> {
    const GNU_BUILD_ID: u32 = 3;
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(word))
    };
    while let (Some(name), Some(size), Some(kind)) =
        (word(notes, 0), word(notes, 4), word(notes, 8))
    {
        let (name, size) = (name as usize, size as usize);
        let at = 12 + name.next_multiple_of(4);
        let Some(content) = notes.get(at..).and_then(|rest| rest.get(..size)) else {
            break;
        };
        if kind == GNU_BUILD_ID && notes.get(12..16) == Some(b"GNU\0") {
            return content.to_vec();
        }
        match notes.get(at + size.next_multiple_of(4)..) {
            Some(rest) => notes = rest,
            None => break,
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_ids_are_found_behind_other_notes() {
        let note = |kind: u32, content: &[u8]| {
            let mut bytes = Vec::new();
            for word in [4, content.len() as u32, kind] {
                bytes.extend_from_slice(&word.to_ne_bytes());
            }
            bytes.extend_from_slice(b"GNU\0");
            bytes.extend_from_slice(content);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let notes = [note(1, &[9; 5]), note(3, &[1, 2, 3])].concat();
        assert_eq!(build_id(&notes), [1, 2, 3]);
        assert!(build_id(&notes[..30]).is_empty());
        assert!(build_id(&note(1, &[0; 16])).is_empty());
    }
}
