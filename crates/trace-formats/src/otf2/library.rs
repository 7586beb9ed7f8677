//! The OTF2 library, found when the first archive is read or written: names and types of its functions, and what it calls back.
//!
//! All declarations are by hand, so that no header is needed to build. Enumerations have one byte, flags four; every reference but
//! that of a location has four bytes.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::io;
use std::sync::OnceLock;

use super::error::Otf2ErrorKind;
use super::read_functions::ReadFunctions;
use super::symbols::functions;
pub(super) use super::symbols::{ErrorCode, Object};

/// File names under which the library is searched, the first one that loads is taken. The ones with a number come with the package
/// that programs need, those without with the package that developers need.
const FILE_NAMES: [&CStr; 4] = [
    c"libopen-trace-format2.so.10",
    c"libopen-trace-format2.so",
    c"libotf2.so",
    c"libotf2.so.10",
];

/// Asks whether a full buffer is to be written out: user data, type of the file, location, data of the caller, whether this is the last time.
type PreFlush = unsafe extern "C" fn(Object, u8, u64, Object, bool) -> u8;
/// Gives memory for a buffer: user data, type of the file, location, what the buffer keeps, bytes.
type Allocate = unsafe extern "C" fn(Object, u8, u64, *mut Object, u64) -> Object;
/// Takes all memory of a buffer back; the last argument tells whether the buffer is given up.
type FreeAll = unsafe extern "C" fn(Object, u8, u64, *mut Object, bool);
/// Hears of an error: user data, file, line, function, error, format, arguments of the format. `va_list` is a pointer, or passed as one, on
/// the machines that the library runs on; it is not looked at.
type OnError = unsafe extern "C" fn(
    Object,
    *const c_char,
    u64,
    *const c_char,
    ErrorCode,
    *const c_char,
    Object,
) -> ErrorCode;

/// Functions that are called when a buffer is full.
#[repr(C)]
pub(super) struct FlushCallbacks {
    pre_flush: PreFlush,
    /// Gives the time of a record about the flush; without it there is no such record.
    post_flush: Option<unsafe extern "C" fn(Object, u8, u64) -> u64>,
}

/// Functions that give the library its buffers.
#[repr(C)]
pub(super) struct MemoryCallbacks {
    allocate: Allocate,
    free_all: FreeAll,
}

functions! {
    /// Functions of the library that write archives, and those about errors.
    Functions:
    archive_open = "OTF2_Archive_Open"(*const c_char, *const c_char, u8, u64, u64, u8, u8) -> Object;
    archive_close = "OTF2_Archive_Close"(Object) -> ErrorCode;
    set_flush_callbacks = "OTF2_Archive_SetFlushCallbacks"(Object, *const FlushCallbacks, Object) -> ErrorCode;
    set_memory_callbacks = "OTF2_Archive_SetMemoryCallbacks"(Object, *const MemoryCallbacks, Object) -> ErrorCode;
    set_serial = "OTF2_Archive_SetSerialCollectiveCallbacks"(Object) -> ErrorCode;
    set_creator = "OTF2_Archive_SetCreator"(Object, *const c_char) -> ErrorCode;
    open_events = "OTF2_Archive_OpenEvtFiles"(Object) -> ErrorCode;
    close_events = "OTF2_Archive_CloseEvtFiles"(Object) -> ErrorCode;
    open_definitions = "OTF2_Archive_OpenDefFiles"(Object) -> ErrorCode;
    close_definitions = "OTF2_Archive_CloseDefFiles"(Object) -> ErrorCode;
    event_writer = "OTF2_Archive_GetEvtWriter"(Object, u64) -> Object;
    close_event_writer = "OTF2_Archive_CloseEvtWriter"(Object, Object) -> ErrorCode;
    definition_writer = "OTF2_Archive_GetDefWriter"(Object, u64) -> Object;
    id_map_of_array = "OTF2_IdMap_CreateFromUint32Array"(u64, *const u32, bool) -> Object;
    id_map_free = "OTF2_IdMap_Free"(Object);
    write_mapping = "OTF2_DefWriter_WriteMappingTable"(Object, u8, Object) -> ErrorCode;
    close_definition_writer = "OTF2_Archive_CloseDefWriter"(Object, Object) -> ErrorCode;
    global_writer = "OTF2_Archive_GetGlobalDefWriter"(Object) -> Object;
    close_global_writer = "OTF2_Archive_CloseGlobalDefWriter"(Object, Object) -> ErrorCode;

    attributes_new = "OTF2_AttributeList_New"() -> Object;
    attributes_delete = "OTF2_AttributeList_Delete"(Object) -> ErrorCode;
    attributes_clear = "OTF2_AttributeList_RemoveAllAttributes"(Object) -> ErrorCode;
    attribute_uint = "OTF2_AttributeList_AddUint64"(Object, u32, u64) -> ErrorCode;
    attribute_int = "OTF2_AttributeList_AddInt64"(Object, u32, i64) -> ErrorCode;
    attribute_double = "OTF2_AttributeList_AddDouble"(Object, u32, f64) -> ErrorCode;
    attribute_string = "OTF2_AttributeList_AddStringRef"(Object, u32, u32) -> ErrorCode;
    attribute_comm = "OTF2_AttributeList_AddCommRef"(Object, u32, u32) -> ErrorCode;

    event_count = "OTF2_EvtWriter_GetNumberOfEvents"(Object, *mut u64) -> ErrorCode;
    enter = "OTF2_EvtWriter_Enter"(Object, Object, u64, u32) -> ErrorCode;
    leave = "OTF2_EvtWriter_Leave"(Object, Object, u64, u32) -> ErrorCode;
    send = "OTF2_EvtWriter_MpiSend"(Object, Object, u64, u32, u32, u32, u64) -> ErrorCode;
    receive = "OTF2_EvtWriter_MpiRecv"(Object, Object, u64, u32, u32, u32, u64) -> ErrorCode;
    isend = "OTF2_EvtWriter_MpiIsend"(Object, Object, u64, u32, u32, u32, u64, u64) -> ErrorCode;
    isend_complete = "OTF2_EvtWriter_MpiIsendComplete"(Object, Object, u64, u64) -> ErrorCode;
    irecv_request = "OTF2_EvtWriter_MpiIrecvRequest"(Object, Object, u64, u64) -> ErrorCode;
    irecv = "OTF2_EvtWriter_MpiIrecv"(Object, Object, u64, u32, u32, u32, u64, u64) -> ErrorCode;
    collective_begin = "OTF2_EvtWriter_MpiCollectiveBegin"(Object, Object, u64) -> ErrorCode;
    collective_end = "OTF2_EvtWriter_MpiCollectiveEnd"(Object, Object, u64, u8, u32, u32, u64, u64) -> ErrorCode;
    collective_request = "OTF2_EvtWriter_NonBlockingCollectiveRequest"(Object, Object, u64, u64) -> ErrorCode;
    collective_complete = "OTF2_EvtWriter_NonBlockingCollectiveComplete"(Object, Object, u64, u8, u32, u32, u64, u64, u64) -> ErrorCode;
    io_create = "OTF2_EvtWriter_IoCreateHandle"(Object, Object, u64, u32, u8, u32, u32) -> ErrorCode;
    io_destroy = "OTF2_EvtWriter_IoDestroyHandle"(Object, Object, u64, u32) -> ErrorCode;
    io_begin = "OTF2_EvtWriter_IoOperationBegin"(Object, Object, u64, u32, u8, u32, u64, u64) -> ErrorCode;
    io_issued = "OTF2_EvtWriter_IoOperationIssued"(Object, Object, u64, u32, u64) -> ErrorCode;
    io_complete = "OTF2_EvtWriter_IoOperationComplete"(Object, Object, u64, u32, u64, u64) -> ErrorCode;
    cancelled = "OTF2_EvtWriter_MpiRequestCancelled"(Object, Object, u64, u64) -> ErrorCode;
    window_create = "OTF2_EvtWriter_RmaWinCreate"(Object, Object, u64, u32) -> ErrorCode;
    window_destroy = "OTF2_EvtWriter_RmaWinDestroy"(Object, Object, u64, u32) -> ErrorCode;
    window_begin = "OTF2_EvtWriter_RmaCollectiveBegin"(Object, Object, u64) -> ErrorCode;
    window_end = "OTF2_EvtWriter_RmaCollectiveEnd"(Object, Object, u64, u8, u32, u32, u32, u64, u64) -> ErrorCode;
    group_sync = "OTF2_EvtWriter_RmaGroupSync"(Object, Object, u64, u32, u32, u32) -> ErrorCode;
    acquire_lock = "OTF2_EvtWriter_RmaAcquireLock"(Object, Object, u64, u32, u32, u64, u8) -> ErrorCode;
    release_lock = "OTF2_EvtWriter_RmaReleaseLock"(Object, Object, u64, u32, u32, u64) -> ErrorCode;
    put = "OTF2_EvtWriter_RmaPut"(Object, Object, u64, u32, u32, u64, u64) -> ErrorCode;
    get = "OTF2_EvtWriter_RmaGet"(Object, Object, u64, u32, u32, u64, u64) -> ErrorCode;
    atomic = "OTF2_EvtWriter_RmaAtomic"(Object, Object, u64, u32, u32, u8, u64, u64, u64) -> ErrorCode;
    complete_local = "OTF2_EvtWriter_RmaOpCompleteNonBlocking"(Object, Object, u64, u32, u64) -> ErrorCode;
    complete_remote = "OTF2_EvtWriter_RmaOpCompleteRemote"(Object, Object, u64, u32, u64) -> ErrorCode;
    metric = "OTF2_EvtWriter_Metric"(Object, Object, u64, u32, u8, *const u8, *const u64) -> ErrorCode;

    define_clock = "OTF2_GlobalDefWriter_WriteClockProperties"(Object, u64, u64, u64, u64) -> ErrorCode;
    define_string = "OTF2_GlobalDefWriter_WriteString"(Object, u32, *const c_char) -> ErrorCode;
    define_paradigm = "OTF2_GlobalDefWriter_WriteParadigm"(Object, u8, u32, u8) -> ErrorCode;
    define_region = "OTF2_GlobalDefWriter_WriteRegion"(Object, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> ErrorCode;
    define_attribute = "OTF2_GlobalDefWriter_WriteAttribute"(Object, u32, u32, u32, u8) -> ErrorCode;
    define_node = "OTF2_GlobalDefWriter_WriteSystemTreeNode"(Object, u32, u32, u32, u32) -> ErrorCode;
    define_domain = "OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain"(Object, u32, u8) -> ErrorCode;
    define_process = "OTF2_GlobalDefWriter_WriteLocationGroup"(Object, u32, u32, u8, u32, u32) -> ErrorCode;
    define_location = "OTF2_GlobalDefWriter_WriteLocation"(Object, u64, u32, u8, u64, u32) -> ErrorCode;
    define_group = "OTF2_GlobalDefWriter_WriteGroup"(Object, u32, u32, u8, u8, u32, u32, *const u64) -> ErrorCode;
    define_comm = "OTF2_GlobalDefWriter_WriteComm"(Object, u32, u32, u32, u32, u32) -> ErrorCode;
    define_intercomm = "OTF2_GlobalDefWriter_WriteInterComm"(Object, u32, u32, u32, u32, u32, u32) -> ErrorCode;
    define_window = "OTF2_GlobalDefWriter_WriteRmaWin"(Object, u32, u32, u32, u32) -> ErrorCode;
    define_metric_member = "OTF2_GlobalDefWriter_WriteMetricMember"(Object, u32, u32, u32, u8, u8, u8, u8, i64, u32) -> ErrorCode;
    define_metric_class = "OTF2_GlobalDefWriter_WriteMetricClass"(Object, u32, u8, *const u32, u8, u8) -> ErrorCode;
    define_file = "OTF2_GlobalDefWriter_WriteIoRegularFile"(Object, u32, u32, u32) -> ErrorCode;
    define_io_paradigm = "OTF2_GlobalDefWriter_WriteIoParadigm"(Object, u8, u32, u32, u8, u32, u8, *const u8, *const u8, *const u64) -> ErrorCode;
    define_io_handle = "OTF2_GlobalDefWriter_WriteIoHandle"(Object, u32, u32, u32, u8, u32, u32, u32) -> ErrorCode;

    error_description = "OTF2_Error_GetDescription"(ErrorCode) -> *const c_char;
    on_error = "OTF2_Error_RegisterCallback"(Option<OnError>, Object) -> Option<OnError>;
}

/// The library, loaded for good.
pub(super) struct Library {
    /// What writes archives.
    pub write: Functions,
    /// What reads them.
    pub read: ReadFunctions,
}

impl Library {
    fn of(library: *mut c_void) -> Result<Library, &'static str> {
        Ok(Library {
            write: Functions::of(library)?,
            read: ReadFunctions::of(library)?,
        })
    }
}

/// The functions that write archives; see [`library`].
///
/// # Errors
/// None is installed, or its version is below 3.0.
pub(super) fn functions() -> Result<&'static Functions, Otf2ErrorKind> {
    library().map(|library| &library.write)
}

/// The library, which is loaded at the first call and stays.
///
/// # Errors
/// None is installed, or its version is below 3.0.
pub(super) fn library() -> Result<&'static Library, Otf2ErrorKind> {
    static LOADED: OnceLock<Result<Library, Option<&'static str>>> = OnceLock::new();
    let loaded = LOADED.get_or_init(|| {
        let mut lacks = None;
        for name in FILE_NAMES {
            // SAFETY: The name ends with a zero. What the library does when it is loaded has nothing to do with this program.
            let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            if library.is_null() {
                continue;
            }
            match Library::of(library) {
                Ok(loaded) => {
                    // SAFETY: The callback has the type that the library calls, and stays.
                    unsafe { (loaded.write.on_error)(Some(note_error), std::ptr::null_mut()) };
                    return Ok(loaded);
                }
                Err(missing) => lacks = Some(missing),
            }
        }
        Err(lacks)
    });
    loaded.as_ref().map_err(|lacks| match lacks {
        Some(missing) => Otf2ErrorKind::OldLibrary(missing),
        None => Otf2ErrorKind::NoLibrary,
    })
}

/// What the library does with a full buffer: it writes it out.
pub(super) static FLUSH: FlushCallbacks = FlushCallbacks {
    pre_flush,
    post_flush: None,
};

/// Where the library's buffers come from. The pool that the library has itself would grow to 128 MiB for each location.
pub(super) static MEMORY: MemoryCallbacks = MemoryCallbacks { allocate, free_all };

unsafe extern "C" fn pre_flush(_: Object, _: u8, _: u64, _: Object, _: bool) -> u8 {
    // OTF2_FLUSH
    1
}

/// Gives a buffer its one chunk, of which the system provides a page when the library writes there. A second chunk is refused, so that the first one is
/// written out.
unsafe extern "C" fn allocate(_: Object, _: u8, _: u64, kept: *mut Object, bytes: u64) -> Object {
    // SAFETY: The library passes the address of a pointer that it keeps for the buffer, null at first.
    let kept = unsafe { &mut *kept };
    let Ok(bytes) = usize::try_from(bytes) else {
        return std::ptr::null_mut();
    };
    if !kept.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: Any size may be asked for.
    *kept = unsafe { libc::calloc(1, bytes) };
    *kept
}

unsafe extern "C" fn free_all(_: Object, _: u8, _: u64, kept: *mut Object, _: bool) {
    // SAFETY: The library passes the address of the pointer that `allocate` has set.
    let kept = unsafe { &mut *kept };
    // SAFETY: `allocate` has made the chunk, and the library gives it back; null is nothing.
    unsafe { libc::free(*kept) };
    *kept = std::ptr::null_mut();
}

/// An error that the library has met.
#[derive(Debug)]
pub(super) struct MetError {
    pub code: ErrorCode,
    /// Error of the system at that time, which need not have to do with it.
    pub of_system: io::Error,
}

thread_local! {
    /// The first error that the library has met in this thread since it was asked. Not every function returns it: one that cannot write out what is
    /// buffered in a file says nothing.
    static FIRST_ERROR: RefCell<Option<MetError>> = const { RefCell::new(None) };
}

/// Takes out the first error that the library has met in this thread.
pub(super) fn take_error() -> Option<MetError> {
    FIRST_ERROR.with_borrow_mut(Option::take)
}

/// Notes an error in place of a line on stderr. The function that failed returns it, too, where it returns anything.
unsafe extern "C" fn note_error(
    _: Object,
    _: *const c_char,
    _: u64,
    _: *const c_char,
    code: ErrorCode,
    _: *const c_char,
    _: Object,
) -> ErrorCode {
    // Negative ones are warnings.
    if code > 0 {
        let of_system = io::Error::last_os_error();
        FIRST_ERROR.with_borrow_mut(|first| {
            first.get_or_insert(MetError { code, of_system });
        });
    }
    code
}
