//! Functions of the OTF2 library that read archives, and what they call back.

use std::ffi::{c_char, c_int, c_void};

use super::symbols::{ErrorCode, Object};

/// What a callback returns for the library to go on.
pub(super) const GO_ON: c_int = 0;

/// Data of the caller that a callback gets.
pub(super) type UserData = *mut c_void;

/// Value of an attribute, a property or a metric: the bytes of its type, the lowest first.
pub(super) type Bits = u64;

/// What a callback of a definition returns.
type Answer = c_int;

/// Callbacks of definitions: user data, then what the definition holds.
pub(super) mod on_definition {
    use super::{Answer, UserData, c_char};

    /// Ticks per second, global offset, length, real time.
    pub type Clock = unsafe extern "C" fn(UserData, u64, u64, u64, u64) -> Answer;
    /// Reference, text.
    pub type String = unsafe extern "C" fn(UserData, u32, *const c_char) -> Answer;
    /// Reference, name, description, type.
    pub type Attribute = unsafe extern "C" fn(UserData, u32, u32, u32, u8) -> Answer;
    /// Reference, name, class, parent.
    pub type Node = unsafe extern "C" fn(UserData, u32, u32, u32, u32) -> Answer;
    /// Reference, name, type, node, creator.
    pub type LocationGroup = unsafe extern "C" fn(UserData, u32, u32, u8, u32, u32) -> Answer;
    /// Reference, name, type, number of events, location group.
    pub type Location = unsafe extern "C" fn(UserData, u64, u32, u8, u64, u32) -> Answer;
    /// Reference, name, canonical name, description, role, paradigm, flags, file, first and last line.
    pub type Region =
        unsafe extern "C" fn(UserData, u32, u32, u32, u32, u8, u8, u32, u32, u32, u32) -> Answer;
    /// Reference, name, type, paradigm, flags, number of members, members.
    pub type Group =
        unsafe extern "C" fn(UserData, u32, u32, u8, u8, u32, u32, *const u64) -> Answer;
    /// Reference, name, description, type, mode, type of value, base, exponent, unit.
    pub type MetricMember =
        unsafe extern "C" fn(UserData, u32, u32, u32, u8, u8, u8, u8, i64, u32) -> Answer;
    /// Reference, number of members, members, occurrence, kind of recorder.
    pub type MetricClass = unsafe extern "C" fn(UserData, u32, u8, *const u32, u8, u8) -> Answer;
    /// Reference, class, recorder, kind of scope, scope.
    pub type MetricInstance = unsafe extern "C" fn(UserData, u32, u32, u64, u8, u64) -> Answer;
    /// Reference, name, group, parent, flags.
    pub type Comm = unsafe extern "C" fn(UserData, u32, u32, u32, u32, u32) -> Answer;
    /// Reference, name, both groups, communicator that has both, flags.
    pub type InterComm = unsafe extern "C" fn(UserData, u32, u32, u32, u32, u32, u32) -> Answer;
    /// Reference, name, communicator, flags.
    pub type Window = unsafe extern "C" fn(UserData, u32, u32, u32, u32) -> Answer;
    /// Reference, name, node.
    pub type File = unsafe extern "C" fn(UserData, u32, u32, u32) -> Answer;
    /// Reference, name, file, paradigm, flags, communicator, parent.
    pub type IoHandle = unsafe extern "C" fn(UserData, u32, u32, u32, u8, u32, u32, u32) -> Answer;
}

/// Callbacks of events: location, time, position, user data, attributes, then what the event holds.
pub(super) mod on_event {
    use super::{Answer, Bits, Object, UserData};

    /// Nothing more.
    pub type Bare = unsafe extern "C" fn(u64, u64, u64, UserData, Object) -> Answer;
    /// Reference of a region, a handle, …
    pub type OfReference = unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32) -> Answer;
    /// Request.
    pub type OfRequest = unsafe extern "C" fn(u64, u64, u64, UserData, Object, u64) -> Answer;
    /// Partner, communicator, tag, bytes.
    pub type Message =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u32, u32, u64) -> Answer;
    /// Partner, communicator, tag, bytes, request.
    pub type MessageOfRequest =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u32, u32, u64, u64) -> Answer;
    /// Operation, communicator, root, bytes sent and received.
    pub type Collective =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u8, u32, u32, u64, u64) -> Answer;
    /// Operation, communicator, root, bytes sent and received, request.
    pub type CollectiveOfRequest = unsafe extern "C" fn(
        u64,
        u64,
        u64,
        UserData,
        Object,
        u8,
        u32,
        u32,
        u64,
        u64,
        u64,
    ) -> Answer;
    /// Metric, number of values, types, values.
    pub type Metric = unsafe extern "C" fn(
        u64,
        u64,
        u64,
        UserData,
        Object,
        u32,
        u8,
        *const u8,
        *const Bits,
    ) -> Answer;
    /// Window, rank, bytes, number by which it is matched.
    pub type Transfer =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u32, u64, u64) -> Answer;
    /// Window, rank, kind, bytes sent and received, number by which it is matched.
    pub type Atomic = unsafe extern "C" fn(
        u64,
        u64,
        u64,
        UserData,
        Object,
        u32,
        u32,
        u8,
        u64,
        u64,
        u64,
    ) -> Answer;
    /// Operation, level, window, root, bytes sent and received.
    pub type WindowCollective = unsafe extern "C" fn(
        u64,
        u64,
        u64,
        UserData,
        Object,
        u8,
        u32,
        u32,
        u32,
        u64,
        u64,
    ) -> Answer;
    /// Level, window, group.
    pub type GroupSync =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u32, u32) -> Answer;
    /// Window, rank, number of the lock, kind of the lock.
    pub type Lock =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u32, u64, u8) -> Answer;
    /// Window, rank, number of the lock.
    pub type Unlock =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u32, u64) -> Answer;
    /// Handle, access, flags of creation, flags of state.
    pub type IoCreate =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u8, u32, u32) -> Answer;
    /// Handle, mode, flags, bytes, number by which it is matched.
    pub type IoBegin =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u8, u32, u64, u64) -> Answer;
    /// Handle, bytes, number by which it is matched.
    pub type IoComplete =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u64, u64) -> Answer;
    /// Number of arguments, and names: program, then arguments.
    pub type Program =
        unsafe extern "C" fn(u64, u64, u64, UserData, Object, u32, u32, *const u32) -> Answer;
}

super::symbols::functions! {
    /// Functions of the library that read archives.
    ReadFunctions:
    open = "OTF2_Reader_Open"(*const c_char) -> Object;
    close = "OTF2_Reader_Close"(Object) -> ErrorCode;
    set_serial = "OTF2_Reader_SetSerialCollectiveCallbacks"(Object) -> ErrorCode;
    creator = "OTF2_Reader_GetCreator"(Object, *mut *mut c_char) -> ErrorCode;
    select = "OTF2_Reader_SelectLocation"(Object, u64) -> ErrorCode;

    global_reader = "OTF2_Reader_GetGlobalDefReader"(Object) -> Object;
    close_global_reader = "OTF2_Reader_CloseGlobalDefReader"(Object, Object) -> ErrorCode;
    register_definitions = "OTF2_Reader_RegisterGlobalDefCallbacks"(Object, Object, Object, UserData) -> ErrorCode;
    read_definitions = "OTF2_Reader_ReadGlobalDefinitions"(Object, Object, u64, *mut u64) -> ErrorCode;
    definition_count = "OTF2_Reader_GetNumberOfGlobalDefinitions"(Object, *mut u64) -> ErrorCode;
    definition_callbacks = "OTF2_GlobalDefReaderCallbacks_New"() -> Object;
    delete_definition_callbacks = "OTF2_GlobalDefReaderCallbacks_Delete"(Object);
    on_clock = "OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback"(Object, on_definition::Clock) -> ErrorCode;
    on_string = "OTF2_GlobalDefReaderCallbacks_SetStringCallback"(Object, on_definition::String) -> ErrorCode;
    on_attribute = "OTF2_GlobalDefReaderCallbacks_SetAttributeCallback"(Object, on_definition::Attribute) -> ErrorCode;
    on_node = "OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback"(Object, on_definition::Node) -> ErrorCode;
    on_location_group = "OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback"(Object, on_definition::LocationGroup) -> ErrorCode;
    on_location = "OTF2_GlobalDefReaderCallbacks_SetLocationCallback"(Object, on_definition::Location) -> ErrorCode;
    on_region = "OTF2_GlobalDefReaderCallbacks_SetRegionCallback"(Object, on_definition::Region) -> ErrorCode;
    on_group = "OTF2_GlobalDefReaderCallbacks_SetGroupCallback"(Object, on_definition::Group) -> ErrorCode;
    on_metric_member = "OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback"(Object, on_definition::MetricMember) -> ErrorCode;
    on_metric_class = "OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback"(Object, on_definition::MetricClass) -> ErrorCode;
    on_metric_instance = "OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback"(Object, on_definition::MetricInstance) -> ErrorCode;
    on_comm = "OTF2_GlobalDefReaderCallbacks_SetCommCallback"(Object, on_definition::Comm) -> ErrorCode;
    on_inter_comm = "OTF2_GlobalDefReaderCallbacks_SetInterCommCallback"(Object, on_definition::InterComm) -> ErrorCode;
    on_window = "OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback"(Object, on_definition::Window) -> ErrorCode;
    on_file = "OTF2_GlobalDefReaderCallbacks_SetIoRegularFileCallback"(Object, on_definition::File) -> ErrorCode;
    on_folder = "OTF2_GlobalDefReaderCallbacks_SetIoDirectoryCallback"(Object, on_definition::File) -> ErrorCode;
    on_io_handle = "OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback"(Object, on_definition::IoHandle) -> ErrorCode;

    open_definitions = "OTF2_Reader_OpenDefFiles"(Object) -> ErrorCode;
    close_definitions = "OTF2_Reader_CloseDefFiles"(Object) -> ErrorCode;
    local_reader = "OTF2_Reader_GetDefReader"(Object, u64) -> Object;
    read_local = "OTF2_Reader_ReadAllLocalDefinitions"(Object, Object, *mut u64) -> ErrorCode;
    close_local_reader = "OTF2_Reader_CloseDefReader"(Object, Object) -> ErrorCode;

    open_events = "OTF2_Reader_OpenEvtFiles"(Object) -> ErrorCode;
    event_reader = "OTF2_Reader_GetEvtReader"(Object, u64) -> Object;
    close_event_reader = "OTF2_Reader_CloseEvtReader"(Object, Object) -> ErrorCode;
    register_events = "OTF2_Reader_RegisterEvtCallbacks"(Object, Object, Object, UserData) -> ErrorCode;
    read_events = "OTF2_Reader_ReadLocalEvents"(Object, Object, u64, *mut u64) -> ErrorCode;
    event_callbacks = "OTF2_EvtReaderCallbacks_New"() -> Object;
    delete_event_callbacks = "OTF2_EvtReaderCallbacks_Delete"(Object);
    attribute_count = "OTF2_AttributeList_GetNumberOfElements"(Object) -> u32;
    attribute_at = "OTF2_AttributeList_GetAttributeByIndex"(Object, u32, *mut u32, *mut u8, *mut Bits) -> ErrorCode;

    on_enter = "OTF2_EvtReaderCallbacks_SetEnterCallback"(Object, on_event::OfReference) -> ErrorCode;
    on_leave = "OTF2_EvtReaderCallbacks_SetLeaveCallback"(Object, on_event::OfReference) -> ErrorCode;
    on_send = "OTF2_EvtReaderCallbacks_SetMpiSendCallback"(Object, on_event::Message) -> ErrorCode;
    on_isend = "OTF2_EvtReaderCallbacks_SetMpiIsendCallback"(Object, on_event::MessageOfRequest) -> ErrorCode;
    on_isend_complete = "OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback"(Object, on_event::OfRequest) -> ErrorCode;
    on_irecv_request = "OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback"(Object, on_event::OfRequest) -> ErrorCode;
    on_receive = "OTF2_EvtReaderCallbacks_SetMpiRecvCallback"(Object, on_event::Message) -> ErrorCode;
    on_irecv = "OTF2_EvtReaderCallbacks_SetMpiIrecvCallback"(Object, on_event::MessageOfRequest) -> ErrorCode;
    on_cancelled = "OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback"(Object, on_event::OfRequest) -> ErrorCode;
    on_collective_end = "OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback"(Object, on_event::Collective) -> ErrorCode;
    on_collective_request = "OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback"(Object, on_event::OfRequest) -> ErrorCode;
    on_collective_complete = "OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback"(Object, on_event::CollectiveOfRequest) -> ErrorCode;
    on_metric = "OTF2_EvtReaderCallbacks_SetMetricCallback"(Object, on_event::Metric) -> ErrorCode;
    on_put = "OTF2_EvtReaderCallbacks_SetRmaPutCallback"(Object, on_event::Transfer) -> ErrorCode;
    on_get = "OTF2_EvtReaderCallbacks_SetRmaGetCallback"(Object, on_event::Transfer) -> ErrorCode;
    on_atomic = "OTF2_EvtReaderCallbacks_SetRmaAtomicCallback"(Object, on_event::Atomic) -> ErrorCode;
    on_window_collective = "OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback"(Object, on_event::WindowCollective) -> ErrorCode;
    on_group_sync = "OTF2_EvtReaderCallbacks_SetRmaGroupSyncCallback"(Object, on_event::GroupSync) -> ErrorCode;
    on_request_lock = "OTF2_EvtReaderCallbacks_SetRmaRequestLockCallback"(Object, on_event::Lock) -> ErrorCode;
    on_acquire_lock = "OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback"(Object, on_event::Lock) -> ErrorCode;
    on_release_lock = "OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback"(Object, on_event::Unlock) -> ErrorCode;
    on_io_create = "OTF2_EvtReaderCallbacks_SetIoCreateHandleCallback"(Object, on_event::IoCreate) -> ErrorCode;
    on_io_destroy = "OTF2_EvtReaderCallbacks_SetIoDestroyHandleCallback"(Object, on_event::OfReference) -> ErrorCode;
    on_io_begin = "OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback"(Object, on_event::IoBegin) -> ErrorCode;
    on_io_complete = "OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback"(Object, on_event::IoComplete) -> ErrorCode;
    on_program = "OTF2_EvtReaderCallbacks_SetProgramBeginCallback"(Object, on_event::Program) -> ErrorCode;
    on_unknown = "OTF2_EvtReaderCallbacks_SetUnknownCallback"(Object, on_event::Bare) -> ErrorCode;
}
