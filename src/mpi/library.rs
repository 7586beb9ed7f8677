//! Finding the real MPI library, which this one is not linked to, and the family that it is of.
//!
//! Never relies on a constructor having run: a first call may come from another library's constructor.

use crate::mpi::dynamic;
use crate::mpi::family;
use crate::mpi::left_out;
use crate::mpi::symbol::symbol;
use crate::platform::environment;
use crate::platform::mark;
use crate::platform::say::on_first_rank;
use blockfile::layout::Family;
use std::ffi::{CStr, CString, OsString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Address of a function.
pub type CodeAddress = *const c_void;

/// Finds function `name` behind ours: the next one in the search order of the dynamic linker; that of the object the call
/// came from; that of any loaded `libmpi*`; that of the library named by `TRACE_LIBMPI`. Null where there is none.
pub fn find(name: &CStr, caller: CodeAddress) -> CodeAddress {
    configured();
    // SAFETY: dlsym takes any name.
    let next = unsafe { symbol(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() && !is_ours(next) {
        if is_of_other_recorder(next) {
            // A recorder that is behind this one goes on to the MPI library, which must be there.
            left_out_by_linker();
        }
        return next;
    }
    let in_caller = object_of(caller).and_then(|object| symbol_in(&object, name));
    in_caller
        .or_else(|| {
            loaded_mpi()
                .iter()
                .find_map(|object| symbol_in(object, name))
        })
        .or_else(|| symbol_of(configured(), name))
        .or_else(|| symbol_of(left_out_by_linker(), name))
        .unwrap_or(std::ptr::null())
}

fn symbol_of(handle: Option<usize>, name: &CStr) -> Option<CodeAddress> {
    // SAFETY: the handle came from dlopen and is never closed.
    let code = unsafe { symbol(handle? as *mut c_void, name.as_ptr()) };
    (!code.is_null() && !is_ours(code)).then_some(code.cast_const())
}

/// Whether this library is in the process only because of `LD_PRELOAD`: neither the program nor a library of it was linked to it.
pub fn is_preloaded() -> bool {
    static PRELOADED: OnceLock<bool> = OnceLock::new();
    *PRELOADED.get_or_init(|| {
        let object = object_of(is_preloaded as CodeAddress).unwrap_or_default();
        let name = String::from_utf8_lossy(file_name(&object)).into_owned();
        let is_named = environment::var("LD_PRELOAD").is_some_and(|list| list.contains(&name));
        is_named && !is_in_program() && !is_linked()
    })
}

/// Whether this library is part of the program itself, linked in from the archive.
fn is_in_program() -> bool {
    // SAFETY: asks for a number.
    is_ours(unsafe { libc::getauxval(libc::AT_ENTRY) } as *mut c_void)
}

/// Whether the program or a library of it was linked to this library; of several recorders in a process this is true of one, as
/// their file names are equal.
fn is_linked() -> bool {
    dynamic::is_needed_by_any(NAMES)
        && NAMES.iter().any(|name| {
            // SAFETY: RTLD_NOLOAD only looks up what is loaded; the reference it takes keeps it loaded, which is wanted.
            let found = unsafe {
                let handle = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
                match handle.is_null() {
                    true => std::ptr::null_mut(),
                    false => symbol(handle, c"trace_abi".as_ptr()),
                }
            };
            !found.is_null() && is_ours(found)
        })
}

/// File names of this library for the linker: its own, and those of the libraries of MPE that it stands for.
const NAMES: &[&CStr] = &[c"libtrace.so", c"liblmpe.so", c"libmpe.so"];

/// Whether there is a function `name` behind ours that the object `caller` would see without us.
pub fn is_behind(name: &CStr, caller: CodeAddress) -> bool {
    configured();
    // SAFETY: dlsym takes any name.
    let next = unsafe { symbol(libc::RTLD_NEXT, name.as_ptr()) };
    (!next.is_null() && !is_ours(next) && !is_of_other_recorder(next))
        || object_of(caller).is_some_and(|object| symbol_in(&object, name).is_some())
}

/// Whether the object `caller`, which asks `handle` for the function `name` of an MPI library, is part of a layer over that library: of wi4mpi, of
/// Mukautuva, or of a tool that looks MPI up. The program's MPI, which is behind this recorder, is the layer then. With this recorder's function for an
/// answer, it would call itself for ever.
pub fn is_asked_by_layer(handle: *mut c_void, name: &CStr, caller: CodeAddress) -> bool {
    let behind = |name: &CStr| {
        // SAFETY: dlsym takes any name.
        let code = unsafe { symbol(libc::RTLD_NEXT, name.as_ptr()) };
        (!code.is_null() && !is_ours(code) && !is_of_other_recorder(code)).then_some(code)
    };
    let base = |code| info_of(code).map(|info| info.dli_fbase);
    if behind(name).is_some_and(|code| base(code) == base(caller)) {
        return true;
    }
    // A layer may ask by a library of its own. Of the program's MPI, the handle has the function that is behind this recorder.
    let Some(version) = behind(VERSION_FUNCTION) else {
        return false;
    };
    // SAFETY: the program's own handle.
    let of_handle = unsafe { symbol(handle, VERSION_FUNCTION.as_ptr()) };
    !of_handle.is_null() && !is_ours(of_handle) && of_handle != version
}

/// Whether an address lies in a library whose file name begins with `libmpi`.
pub fn is_mpi(address: *mut c_void) -> bool {
    object_of(address).is_some_and(|path| file_name(&path).starts_with(b"libmpi"))
}

fn file_name(path: &CStr) -> &[u8] {
    path.to_bytes().rsplit(|&b| b == b'/').next().unwrap_or(b"")
}

/// The MPI library that the program's linker has left out, loaded. Not for programs in which recorders are
/// preloaded only: they may only be asking whether there is an MPI.
fn left_out_by_linker() -> Option<usize> {
    static HANDLE: OnceLock<Option<usize>> = OnceLock::new();
    *HANDLE.get_or_init(|| {
        let is_linked_to_any = dynamic::is_needed_by_any(NAMES);
        if (is_preloaded() && !is_linked_to_any) || is_mpi_loaded() {
            return None;
        }
        let handle = left_out::load();
        (!handle.is_null()).then_some(handle as usize)
    })
}

/// Whether an object that is no recorder has MPI, by whatever file name.
fn is_mpi_loaded() -> bool {
    loaded(|_| true).iter().any(|object| {
        symbol_in(object, VERSION_FUNCTION).is_some_and(|code| !is_of_other_recorder(code))
    })
}

/// A function that every MPI library has.
const VERSION_FUNCTION: &CStr = c"PMPI_Get_library_version";

/// The library that `TRACE_LIBMPI` names, made global, for programs that load MPI privately.
pub fn configured() -> Option<usize> {
    static HANDLE: OnceLock<Option<usize>> = OnceLock::new();
    *HANDLE.get_or_init(|| {
        let path = environment::var_os("TRACE_LIBMPI").filter(|path| !path.is_empty())?;
        let path = CString::new(path.into_encoded_bytes()).ok()?;
        // SAFETY: dlopen takes any path; the library's constructors run as they would without us.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if handle.is_null() {
            // SAFETY: after a failed dlopen, dlerror gives a message.
            let why = unsafe { CStr::from_ptr(libc::dlerror()) };
            // All ranks are told the same name, as a rule.
            on_first_rank(&format!(
                "trace: TRACE_LIBMPI: {}; the program runs on, its MPI calls may not be found",
                why.to_string_lossy()
            ));
            return None;
        }
        Some(handle as usize)
    })
}

fn symbol_in(object: &CStr, name: &CStr) -> Option<CodeAddress> {
    // SAFETY: RTLD_NOLOAD only looks up what is loaded; the reference it takes keeps it loaded, which is wanted.
    unsafe {
        let handle = libc::dlopen(object.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if handle.is_null() {
            return None;
        }
        let code = symbol(handle, name.as_ptr());
        (!code.is_null() && !is_ours(code)).then_some(code.cast_const())
    }
}

fn info_of(address: CodeAddress) -> Option<libc::Dl_info> {
    // SAFETY: Dl_info is plain data, for which zero is valid; dladdr takes any address.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(address, &mut info) != 0).then_some(info)
    }
}

/// Whether an address lies in this library (in a program that it is linked into statically: in the program).
pub fn is_ours(address: *mut c_void) -> bool {
    let base = |a| info_of(a).map(|i| i.dli_fbase);
    base(address).is_some() && base(address) == base(is_ours as *const c_void)
}

/// Path of this library, or of the program that it is linked into.
pub fn own_path() -> Option<PathBuf> {
    let path = object_of(own_path as *const c_void)?;
    Some(PathBuf::from(OsString::from_vec(path.into_bytes())))
}

fn object_of(address: CodeAddress) -> Option<CString> {
    if address.is_null() {
        return None;
    }
    let info = info_of(address)?;
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr gave a NUL-terminated name that lives as long as the object is loaded.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_owned())
}

/// Paths of the loaded objects whose file name begins with `libmpi`.
fn loaded_mpi() -> Vec<CString> {
    loaded(|path| file_name(path).starts_with(b"libmpi"))
}

/// File names of all loaded objects.
pub fn loaded_names() -> Vec<Vec<u8>> {
    let all = loaded(|_| true);
    all.iter().map(|path| file_name(path).to_vec()).collect()
}

/// Bytes of the program that are searched for a text: what is behind them would have to be read from the disk for nothing.
const SEARCHED_BYTES: usize = 64 << 20;
/// Longest text that is given, bytes.
const TEXT_BYTES: usize = 64;

/// The printable text in `bytes` that consists of this beginning, a digit and more.
fn text_with_number(bytes: &[u8], beginning: &[u8]) -> Option<Vec<u8>> {
    let mut rest = bytes;
    loop {
        // SAFETY: both are slices.
        let place = unsafe {
            let (text, wanted) = (rest.as_ptr().cast(), beginning.as_ptr().cast());
            libc::memmem(text, rest.len(), wanted, beginning.len())
        };
        if place.is_null() {
            return None;
        }
        let text = &rest[place as usize - rest.as_ptr() as usize..];
        if text.get(beginning.len()).is_some_and(u8::is_ascii_digit) {
            let printable = text.iter().take_while(|byte| (b' '..=b'~').contains(byte));
            return Some(printable.take(TEXT_BYTES).copied().collect());
        }
        rest = &text[beginning.len()..];
    }
}

/// The printable text that begins with these bytes and a digit in what the program has in memory and cannot write: its constants.
pub fn text_of_program(beginning: &'static [u8]) -> Option<Vec<u8>> {
    struct TextSearch {
        beginning: &'static [u8],
        found: Option<Vec<u8>>,
    }
    unsafe extern "C" fn one(info: *mut libc::dl_phdr_info, _: usize, out: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes valid pointers, `out` is the search below; the headers of an object are an array.
        let (info, search, headers) = unsafe {
            let info = &*info;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            (info, &mut *out.cast::<TextSearch>(), headers)
        };
        for header in headers {
            let flags = header.p_flags & (libc::PF_R | libc::PF_W);
            if header.p_type != libc::PT_LOAD || flags != libc::PF_R {
                continue;
            }
            let size = (header.p_filesz as usize).min(SEARCHED_BYTES);
            let at = info.dlpi_addr.wrapping_add(header.p_vaddr) as usize as *const u8;
            // SAFETY: the loader has mapped these bytes of the program readable, and not writable.
            let bytes = unsafe { std::slice::from_raw_parts(at, size) };
            search.found = text_with_number(bytes, search.beginning);
            if search.found.is_some() {
                break;
            }
        }
        // The program is the first object, and the only one of interest.
        1
    }
    let mut search = TextSearch {
        beginning,
        found: None,
    };
    // SAFETY: the callback fits and the search outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(one), (&raw mut search).cast()) };
    search.found
}

/// Paths of the loaded objects that are `wanted`.
fn loaded(wanted: impl Fn(&CStr) -> bool) -> Vec<CString> {
    unsafe extern "C" fn one(info: *mut libc::dl_phdr_info, _: usize, out: *mut c_void) -> c_int {
        // SAFETY: dl_iterate_phdr passes valid pointers, `out` is the vector below.
        let (path, out) = unsafe {
            (
                CStr::from_ptr((*info).dlpi_name),
                &mut *out.cast::<Vec<CString>>(),
            )
        };
        out.push(path.to_owned());
        0
    }
    let mut found: Vec<CString> = Vec::new();
    // SAFETY: the callback fits and the vector outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(one), (&raw mut found).cast()) };
    found.retain(|path| !path.is_empty() && wanted(path));
    found
}

fn has_symbol(name: &CStr, caller: CodeAddress) -> bool {
    // SAFETY: dlsym takes any name.
    let global = unsafe { symbol(libc::RTLD_DEFAULT, name.as_ptr()) };
    !global.is_null()
        || object_of(caller).is_some_and(|o| symbol_in(&o, name).is_some())
        || loaded_mpi().iter().any(|o| symbol_in(o, name).is_some())
}

/// Whether an object, by the path of its file, is another recorder.
fn is_other_recorder(object: &CStr) -> bool {
    let abi = symbol_in(object, c"trace_abi");
    abi.is_some_and(|abi| object_of(abi).as_deref() == Some(object))
}

fn is_of_other_recorder(address: CodeAddress) -> bool {
    object_of(address).is_some_and(|object| is_other_recorder(&object))
}

/// Role of this recorder in a process with several of them. Exported, so that the one that traces finds the others'.
#[allow(non_upper_case_globals, reason = "a symbol of the C interface")]
#[unsafe(no_mangle)]
pub static trace_role: AtomicU8 = AtomicU8::new(UNDECIDED);
/// No call has come yet.
const UNDECIDED: u8 = 0;
/// Role of a recorder: it records.
const TRACES: u8 = 1;
/// Role of a recorder: another one records, and this one passes everything through.
const STEPS_ASIDE: u8 = 2;

/// Whether this recorder is the one that traces: the first one that a call comes to. The others are told.
fn is_first_recorder() -> bool {
    let others: Vec<CodeAddress> = loaded(is_other_recorder)
        .iter()
        .filter_map(|path| symbol_in(path, c"trace_role"))
        .collect();
    // SAFETY: a variable of a recorder that stays loaded, of the type above.
    let role = |other: &CodeAddress| unsafe { &*(*other).cast::<AtomicU8>() };
    if trace_role.load(Relaxed) == STEPS_ASIDE
        || others
            .iter()
            .any(|other| role(other).load(Relaxed) == TRACES)
    {
        return false;
    }
    trace_role.store(TRACES, Relaxed);
    for other in &others {
        role(other).store(STEPS_ASIDE, Relaxed);
    }
    true
}

/// The function of the MPI library that tells its version, not that of another recorder; null where no MPI is loaded.
fn version_function(caller: CodeAddress) -> CodeAddress {
    let found = find(VERSION_FUNCTION, caller);
    if found.is_null() || !is_of_other_recorder(found) {
        return found;
    }
    let in_mpi = loaded_mpi();
    let found = in_mpi
        .iter()
        .find_map(|object| symbol_in(object, VERSION_FUNCTION));
    found
        .filter(|&code| !is_of_other_recorder(code))
        .unwrap_or(std::ptr::null())
}

/// Family of the MPI library that is loaded, by symbols and names that only it has; `None` where no MPI is loaded.
fn loaded_family(caller: CodeAddress) -> Option<Family> {
    // First, as it loads the library that a linker has left out.
    let version = version_function(caller);
    if has_symbol(c"ompi_mpi_comm_world", caller) {
        return Some(Family::OpenMpi);
    }
    if version.is_null() {
        return None;
    }
    match info_of(version).and_then(|i| {
        // SAFETY: dladdr gave a NUL-terminated name.
        (!i.dli_fname.is_null()).then(|| unsafe { CStr::from_ptr(i.dli_fname) }.to_owned())
    }) {
        Some(path) if path.to_string_lossy().contains("libmpi_abi") => Some(Family::Standard),
        _ => Some(Family::Mpich),
    }
}

/// Whether an MPI library is loaded; from then on its family is known.
pub fn is_there(caller: CodeAddress) -> bool {
    if !family::is_known()
        && let Some(found) = loaded_family(caller)
    {
        family::set_family(found);
    }
    family::is_known()
}

/// Whether the wrappers may be entered: an MPI library is there, and the program has no more rights than its user. Otherwise
/// everything is passed through; where that is for good, it is said once why.
pub fn is_usable(caller: CodeAddress) -> bool {
    static USABLE: OnceLock<bool> = OnceLock::new();
    // An MPI library may come later, by dlopen.
    is_there(caller)
        && *USABLE.get_or_init(|| {
            if environment::is_untrusted() {
                mark::set(&mark::STEPS_ASIDE);
                on_first_rank(
                    "trace: a program with rights that its user has not (setuid, setgid, capabilities): nothing is traced",
                );
                return false;
            }
            trace_role.load(Relaxed) != STEPS_ASIDE && is_first_recorder()
        })
}

/// A C++ name as people write it, by the program's own C++ library; `None` if it is no such name, or there is none.
pub fn demangled(name: &str) -> Option<String> {
    type DemangleFn =
        unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;
    if !name.starts_with("_Z") {
        return None;
    }
    // SAFETY: the function of this name is that of the Itanium C++ ABI, which gives memory of malloc.
    unsafe {
        let function = libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_demangle".as_ptr());
        if function.is_null() {
            return None;
        }
        let function = std::mem::transmute::<*mut c_void, DemangleFn>(function);
        let name = CString::new(name).ok()?;
        let mut status = 0;
        let null = std::ptr::null_mut();
        let text = function(name.as_ptr(), null, std::ptr::null_mut(), &mut status);
        if text.is_null() {
            return None;
        }
        let readable = CStr::from_ptr(text).to_string_lossy().into_owned();
        libc::free(text.cast());
        Some(readable)
    }
}

/// Address of a data symbol of the MPI library (Open MPI's predefined objects), null if it has none of that name.
pub fn data(name: &CStr) -> *const c_char {
    // SAFETY: dlsym takes any name.
    let global = unsafe { symbol(libc::RTLD_DEFAULT, name.as_ptr()) };
    if !global.is_null() {
        return global.cast();
    }
    let in_loaded = loaded_mpi().iter().find_map(|o| symbol_in(o, name));
    in_loaded.unwrap_or(std::ptr::null()).cast()
}
