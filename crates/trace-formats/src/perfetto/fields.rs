//! Numbers of the fields that are written, by message of Perfetto's public definitions (`protos/perfetto/trace/` in the repository
//! google/perfetto, version 0.59).

/// `perfetto.protos.Trace` (`trace.proto`).
pub mod trace {
    /// `repeated TracePacket packet = 1`.
    pub const PACKET: u32 = 1;
}

/// `perfetto.protos.TracePacket` (`trace_packet.proto`).
pub mod trace_packet {
    /// `optional uint64 timestamp = 8`: ns.
    pub const TIMESTAMP: u32 = 8;
    /// `uint32 trusted_packet_sequence_id = 10`: the sequence whose names are numbered together.
    pub const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    /// `TrackEvent track_event = 11`.
    pub const TRACK_EVENT: u32 = 11;
    /// `optional InternedData interned_data = 12`.
    pub const INTERNED_DATA: u32 = 12;
    /// `optional uint32 sequence_flags = 13`.
    pub const SEQUENCE_FLAGS: u32 = 13;
    /// `TrackDescriptor track_descriptor = 60`.
    pub const TRACK_DESCRIPTOR: u32 = 60;
    /// `optional bool first_packet_on_sequence = 87`.
    pub const FIRST_PACKET_ON_SEQUENCE: u32 = 87;
    /// `SequenceFlags.SEQ_INCREMENTAL_STATE_CLEARED`: no name has been numbered yet.
    pub const SEQ_INCREMENTAL_STATE_CLEARED: u64 = 1;
    /// `SequenceFlags.SEQ_NEEDS_INCREMENTAL_STATE`: the packet uses numbers of names.
    pub const SEQ_NEEDS_INCREMENTAL_STATE: u64 = 2;
}

/// `perfetto.protos.TrackDescriptor` (`track_event/track_descriptor.proto`).
pub mod track_descriptor {
    /// `optional uint64 uuid = 1`.
    pub const UUID: u32 = 1;
    /// `string name = 2`.
    pub const NAME: u32 = 2;
    /// `optional ProcessDescriptor process = 3`.
    pub const PROCESS: u32 = 3;
    /// `optional ThreadDescriptor thread = 4`.
    pub const THREAD: u32 = 4;
    /// `optional uint64 parent_uuid = 5`.
    pub const PARENT_UUID: u32 = 5;
    /// `optional CounterDescriptor counter = 8`.
    pub const COUNTER: u32 = 8;
    /// `optional ChildTracksOrdering child_ordering = 11`.
    pub const CHILD_ORDERING: u32 = 11;
    /// `optional int32 sibling_order_rank = 12`.
    pub const SIBLING_ORDER_RANK: u32 = 12;
    /// `optional ProcessOrdering process_ordering = 19`: in the descriptor with uuid 0, which stands for the whole trace.
    pub const PROCESS_ORDERING: u32 = 19;
    /// `optional ThreadOrdering thread_ordering = 20`: likewise.
    pub const THREAD_ORDERING: u32 = 20;
    /// `ProcessOrdering.PROCESS_ORDERING_EXPLICIT` and `ThreadOrdering.THREAD_ORDERING_EXPLICIT`: by `sibling_order_rank`.
    pub const SORTING_EXPLICIT: u64 = 1;
    /// `ChildTracksOrdering.EXPLICIT`: by `sibling_order_rank`.
    pub const ORDERING_EXPLICIT: u64 = 3;
}

/// `perfetto.protos.ProcessDescriptor` (`track_event/process_descriptor.proto`).
pub mod process_descriptor {
    /// `optional int32 pid = 1`.
    pub const PID: u32 = 1;
    /// `optional string process_name = 6`.
    pub const PROCESS_NAME: u32 = 6;
    /// `repeated string process_labels = 8`.
    pub const PROCESS_LABELS: u32 = 8;
}

/// `perfetto.protos.ThreadDescriptor` (`track_event/thread_descriptor.proto`).
pub mod thread_descriptor {
    /// `optional int32 pid = 1`.
    pub const PID: u32 = 1;
    /// `optional int64 tid = 2`.
    pub const TID: u32 = 2;
    /// `optional string thread_name = 5`.
    pub const THREAD_NAME: u32 = 5;
}

/// `perfetto.protos.CounterDescriptor` (`track_event/counter_descriptor.proto`).
pub mod counter_descriptor {
    /// `optional Unit unit = 3`.
    pub const UNIT: u32 = 3;
    /// `Unit.UNIT_COUNT`.
    pub const UNIT_COUNT: u64 = 2;
    /// `Unit.UNIT_SIZE_BYTES`.
    pub const UNIT_SIZE_BYTES: u64 = 3;
}

/// `perfetto.protos.TrackEvent` (`track_event/track_event.proto`).
pub mod track_event {
    /// `repeated uint64 category_iids = 3`.
    pub const CATEGORY_IIDS: u32 = 3;
    /// `repeated DebugAnnotation debug_annotations = 4`.
    pub const DEBUG_ANNOTATIONS: u32 = 4;
    /// `optional Type type = 9`.
    pub const TYPE: u32 = 9;
    /// `uint64 name_iid = 10`.
    pub const NAME_IID: u32 = 10;
    /// `optional uint64 track_uuid = 11`.
    pub const TRACK_UUID: u32 = 11;
    /// `int64 counter_value = 30`.
    pub const COUNTER_VALUE: u32 = 30;
    /// `double double_counter_value = 44`.
    pub const DOUBLE_COUNTER_VALUE: u32 = 44;
    /// `repeated fixed64 flow_ids = 47`.
    pub const FLOW_IDS: u32 = 47;
    /// `repeated fixed64 terminating_flow_ids = 48`.
    pub const TERMINATING_FLOW_IDS: u32 = 48;
    /// `Type.TYPE_SLICE_BEGIN`.
    pub const TYPE_SLICE_BEGIN: u64 = 1;
    /// `Type.TYPE_SLICE_END`.
    pub const TYPE_SLICE_END: u64 = 2;
    /// `Type.TYPE_COUNTER`.
    pub const TYPE_COUNTER: u64 = 4;
}

/// `perfetto.protos.DebugAnnotation` (`track_event/debug_annotation.proto`).
pub mod debug_annotation {
    /// `uint64 name_iid = 1`.
    pub const NAME_IID: u32 = 1;
    /// `int64 int_value = 4`.
    pub const INT_VALUE: u32 = 4;
    /// `double double_value = 5`.
    pub const DOUBLE_VALUE: u32 = 5;
    /// `string string_value = 6`.
    pub const STRING_VALUE: u32 = 6;
    /// `uint64 pointer_value = 7`: shown in hexadecimal.
    pub const POINTER_VALUE: u32 = 7;
    /// `uint64 string_value_iid = 17`.
    pub const STRING_VALUE_IID: u32 = 17;
}

/// `perfetto.protos.InternedData` (`interned_data/interned_data.proto`).
pub mod interned_data {
    /// `repeated EventCategory event_categories = 1`.
    pub const EVENT_CATEGORIES: u32 = 1;
    /// `repeated EventName event_names = 2`.
    pub const EVENT_NAMES: u32 = 2;
    /// `repeated DebugAnnotationName debug_annotation_names = 3`.
    pub const DEBUG_ANNOTATION_NAMES: u32 = 3;
    /// `repeated InternedString debug_annotation_string_values = 29`.
    pub const DEBUG_ANNOTATION_STRING_VALUES: u32 = 29;
}

/// `perfetto.protos.EventCategory`, `EventName` and `DebugAnnotationName` (`track_event/`) and `InternedString`
/// (`profiling/profile_common.proto`), which have the same two fields.
pub mod interned_name {
    /// `optional uint64 iid = 1`.
    pub const IID: u32 = 1;
    /// `optional string name = 2`; in `InternedString` `optional bytes str = 2`.
    pub const NAME: u32 = 2;
}
