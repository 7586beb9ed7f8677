//! The MPI library of a program that was linked with `-ltrace` by a linker that leaves out what seems not to be needed: the recorder
//! defines every function of MPI, so the real library is not even loaded.
//!
//! The name of that library is nowhere written. A program has MPI_COMM_WORLD in its code where that is a number. In Open MPI it is an object of the library, so that the
//! library is left out only where a program names no handle at all; then its launcher tells.

use crate::mpi::dynamic::{for_each_object, program_search_path};
use crate::mpi::facts::{ConstantTable, TABLES};
use crate::platform::environment;
use blockfile::layout::Family;
use std::env;
use std::ffi::{CStr, CString, c_void};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// MPI_COMM_WORLD in MPICH and in the standard ABI.
const WORLDS: [(u32, Family); 2] = [(0x4400_0000, Family::Mpich), (0x101, Family::Standard)];

/// Loads the library: one that lies where the program was linked to look, or where `LD_LIBRARY_PATH` says, else one that the dynamic
/// linker knows. Null where there is none.
pub fn load() -> *mut c_void {
    let [mpich, open_mpi, standard] = &TABLES;
    let families = match family_in_code() {
        Some(Family::Standard) => [standard, mpich, open_mpi],
        None if is_started_by_open_mpi() => [open_mpi, standard, mpich],
        _ => [mpich, standard, open_mpi],
    };
    let names = || {
        families
            .iter()
            .flat_map(|table: &&ConstantTable| table.libraries)
    };
    let folders = folders();
    let in_folders = folders
        .iter()
        .flat_map(|folder| names().map(move |name| folder.join(name.to_string_lossy().as_ref())))
        .filter(|path| path.exists())
        .filter_map(|path| CString::new(path.as_os_str().as_bytes()).ok());
    let known = names().map(|name: &&CStr| (*name).to_owned());
    let mut handles = in_folders.chain(known).map(|name| {
        // SAFETY: dlopen takes any name; the library's constructors run as they would had it been linked.
        unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }
    });
    let loaded = handles.find(|handle| !handle.is_null());
    loaded.unwrap_or(std::ptr::null_mut())
}

/// The folders of the program's libraries, in the order in which they are looked through.
fn folders() -> Vec<PathBuf> {
    let own = env::current_exe().unwrap_or_default();
    let own = own.parent().unwrap_or(Path::new("")).to_string_lossy();
    let linked = program_search_path();
    let linked = linked.replace("${ORIGIN}", &own).replace("$ORIGIN", &own);
    let ordered = environment::var("LD_LIBRARY_PATH").unwrap_or_default();
    let all = linked.split(':').chain(ordered.split(':'));
    all.filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
        .collect()
}

/// Whether Open MPI's launcher has started this process.
fn is_started_by_open_mpi() -> bool {
    environment::var("OMPI_COMM_WORLD_SIZE").is_some()
}

/// The interface whose MPI_COMM_WORLD the program's own code has. A Fortran program has it elsewhere, but its MPI library is needed by that of the
/// Fortran binding, and not left out.
fn family_in_code() -> Option<Family> {
    let mut found = None;
    for_each_object(|info| {
        // SAFETY: the program has this many program headers.
        let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let readable_code = libc::PF_R | libc::PF_X;
        let code = headers.iter().filter(|header| {
            header.p_type == libc::PT_LOAD && header.p_flags & readable_code == readable_code
        });
        let code = code.map(|header| {
            let first = (info.dlpi_addr + header.p_vaddr) as *const u8;
            // SAFETY: a readable segment of the program, which stays mapped.
            unsafe { std::slice::from_raw_parts(first, header.p_filesz as usize) }
        });
        let code: Vec<&[u8]> = code.collect();
        let has = |(world, _): &&(u32, Family)| code.iter().any(|part| moves(part, *world));
        found = WORLDS.iter().find(has).map(|(_, family)| *family);
        ControlFlow::Break(())
    });
    found
}

/// Whether there is an instruction that moves a number into a register: `mov` (opcodes B8 to BF) with the number behind it.
#[cfg(target_arch = "x86_64")]
fn moves(code: &[u8], number: u32) -> bool {
    let number = number.to_le_bytes();
    let is_it = |window: &[u8]| (0xb8..=0xbf).contains(&window[0]) && window[1..] == number;
    code.windows(1 + number.len()).any(is_it)
}

/// Whether there is an instruction that moves a number into a register: `movz` with the half of the number that is not 0 (any bits for
/// the register; 32 or 64 bits wide).
#[cfg(target_arch = "aarch64")]
fn moves(code: &[u8], number: u32) -> bool {
    const MOVZ: u32 = 0x5280_0000;
    const REGISTER_AND_WIDTH: u32 = 0x8000_001f;
    let (low, high) = (number & 0xffff, number >> 16);
    let wanted = match (low, high) {
        (low, 0) => MOVZ | low << 5,
        (0, high) => MOVZ | 1 << 21 | high << 5,
        _ => return false,
    };
    let (words, _) = code.as_chunks::<4>();
    words
        .iter()
        .any(|word| u32::from_le_bytes(*word) & !REGISTER_AND_WIDTH == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "aarch64")]
    #[test]
    fn only_an_instruction_tells() {
        let code =
            |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
        // mov w0, 0x44000000; mov x1, 0x44000000; mov w0, 0x101
        assert!(moves(&code(&[0xd503_201f, 0x52a8_8000]), 0x4400_0000));
        assert!(moves(&code(&[0xd2a8_8001]), 0x4400_0000));
        assert!(moves(&code(&[0x5280_2020]), 0x101));
        // mov w0, 0x4400; the number as data
        assert!(!moves(&code(&[0x5288_8000, 0x4400_0000]), 0x4400_0000));
        assert!(!moves(&[0x00, 0x80, 0xa8], 0x4400_0000));
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn only_an_instruction_tells() {
        assert!(moves(&[0x90, 0xbf, 0, 0, 0, 0x44, 0xc3], 0x4400_0000));
        assert!(!moves(&[0x1c, 0, 0, 0, 0x44, 0, 0, 0], 0x4400_0000));
        assert!(!moves(&[0xbf, 0, 0, 0], 0x4400_0000));
    }
}
