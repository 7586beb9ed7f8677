//! Numbers of OTF2's enumerations, as far as they are read or written.

/// Reference that stands for nothing.
pub(super) const UNDEFINED_REF: u32 = u32::MAX;
/// Time stamp that stands for nothing.
pub(super) const UNDEFINED_TIME: u64 = u64::MAX;
/// Root of a collective operation without a root.
pub(super) const NO_ROOT: u32 = u32::MAX;
/// Root of a collective operation between two groups: the rank itself.
pub(super) const ROOT_IS_SELF: u32 = u32::MAX - 1;
/// Root of a collective operation between two groups: another rank of the own group.
pub(super) const ROOT_IN_OWN_GROUP: u32 = u32::MAX - 2;
/// Roots that are no rank: from here on.
pub(super) const FIRST_NO_ROOT: u32 = u32::MAX - 2;

/// Attribute by which mpitrace tells the communicator that the timeline of a region is about.
pub(super) const TIMELINE_COMM: &str = "timeline communicator";

/// Attribute by which mpitrace tells the request of a call where no event does. Where it is defined, numbers of requests in events are those of
/// [`super::requests::request_id`].
pub(super) const REQUEST: &str = "request";

/// Descriptions of regions by which mpitrace says of each whether it is a state, or an event without duration.
const DESCRIPTIONS: [&str; 2] = ["state", "event"];

/// Description of a region.
pub(super) fn description(is_event: bool) -> &'static str {
    DESCRIPTIONS[usize::from(is_event)]
}

/// Whether a region with this description is an event; `None` if it does not say so.
pub(super) fn is_event(description: &str) -> Option<bool> {
    let found = DESCRIPTIONS.iter().position(|known| *known == description);
    found.map(|found| found == 1)
}

/// `OTF2_Type`: types of attributes and metrics.
pub(super) mod value_type {
    pub const UINT8: u8 = 1;
    pub const UINT16: u8 = 2;
    pub const UINT32: u8 = 3;
    pub const UINT64: u8 = 4;
    pub const INT8: u8 = 5;
    pub const INT16: u8 = 6;
    pub const INT32: u8 = 7;
    pub const INT64: u8 = 8;
    pub const FLOAT: u8 = 9;
    pub const DOUBLE: u8 = 10;
    pub const STRING: u8 = 11;
    pub const LOCATION: u8 = 13;
    pub const REGION: u8 = 14;
    pub const COMM: u8 = 17;
}

/// `OTF2_MappingType`: what the references of a mapping table stand for.
pub(super) mod mapping {
    pub const STRING: u8 = 0;
    pub const ATTRIBUTE: u8 = 1;
    pub const GROUP: u8 = 4;
    pub const COMM: u8 = 6;
    pub const RMA_WIN: u8 = 8;
    pub const IO_HANDLE: u8 = 13;
}

/// `OTF2_Paradigm`: what a region belongs to.
pub(super) mod paradigm {
    pub const USER: u8 = 1;
    pub const MPI: u8 = 4;
    /// Functions of the C library.
    pub const NONE: u8 = 22;
}

/// `OTF2_RegionRole`: what a region does.
pub(super) mod role {
    pub const FUNCTION: u8 = 1;
    pub const BARRIER: u8 = 15;
    pub const ONE_TO_ALL: u8 = 23;
    pub const ALL_TO_ONE: u8 = 24;
    pub const ALL_TO_ALL: u8 = 25;
    pub const OTHER_COLLECTIVE: u8 = 26;
    pub const FILE_IO: u8 = 27;
    pub const POINT_TO_POINT: u8 = 28;
    pub const RMA: u8 = 29;
    pub const FILE_IO_METADATA: u8 = 38;
}

/// `OTF2_CollectiveOp`: collective operations.
pub(super) mod collective {
    pub const BARRIER: u8 = 0;
    pub const BCAST: u8 = 1;
    pub const GATHER: u8 = 2;
    pub const GATHERV: u8 = 3;
    pub const SCATTER: u8 = 4;
    pub const SCATTERV: u8 = 5;
    pub const ALLGATHER: u8 = 6;
    pub const ALLGATHERV: u8 = 7;
    pub const ALLTOALL: u8 = 8;
    pub const ALLTOALLV: u8 = 9;
    pub const ALLTOALLW: u8 = 10;
    pub const ALLREDUCE: u8 = 11;
    pub const REDUCE: u8 = 12;
    pub const REDUCE_SCATTER: u8 = 13;
    pub const SCAN: u8 = 14;
    pub const EXSCAN: u8 = 15;
    pub const REDUCE_SCATTER_BLOCK: u8 = 16;
    pub const CREATE_HANDLE: u8 = 17;
    pub const DESTROY_HANDLE: u8 = 18;
}

/// `OTF2_RmaSyncLevel`: what ranks have done to each other when a call on a window is over.
pub(super) mod sync_level {
    pub const PROCESS: u32 = 1;
    pub const MEMORY: u32 = 2;
}

/// `OTF2_RmaAtomicType`: one-sided operations that change what is there.
pub(super) mod atomic {
    pub const ACCUMULATE: u8 = 0;
    pub const COMPARE_AND_SWAP: u8 = 3;
    pub const FETCH_AND_ACCUMULATE: u8 = 7;
}

/// `OTF2_GroupType`: what the members of a group are.
pub(super) mod group_type {
    /// Locations of ranks; the ranks of other groups are positions in this one.
    pub const COMM_LOCATIONS: u8 = 4;
    /// Positions in the group of locations.
    pub const COMM_GROUP: u8 = 5;
    /// Only the rank itself.
    pub const COMM_SELF: u8 = 6;
}

/// `OTF2_IoOperationMode`: what a file operation does.
pub(super) mod io_mode {
    pub const READ: u8 = 0;
    pub const WRITE: u8 = 1;
    pub const FLUSH: u8 = 2;
}

/// `OTF2_IoOperationFlag`: properties of a file operation.
pub(super) mod io_flag {
    pub const NONE: u32 = 0;
    pub const NON_BLOCKING: u32 = 1;
    pub const COLLECTIVE: u32 = 2;
}

/// `OTF2_IoAccessMode`: a file is open for both.
pub(super) const READ_WRITE: u8 = 2;

/// `OTF2_IoParadigmClass`: whether ranks open a file together.
pub(super) mod io_class {
    pub const SERIAL: u8 = 0;
    pub const PARALLEL: u8 = 1;
}
/// `OTF2_IoParadigmFlag`: a part of the operating system.
pub(super) const IO_PARADIGM_OF_SYSTEM: u32 = 1;

/// `OTF2_LocationGroupType`: a process.
pub(super) const PROCESS: u8 = 1;
/// `OTF2_LocationType`: a thread of a processor.
pub(super) const CPU_THREAD: u8 = 1;
/// `OTF2_ParadigmClass`: parallel by processes.
pub(super) const PARADIGM_OF_PROCESSES: u8 = 0;

/// `OTF2_SystemTreeDomain`: what a node of the system tree is.
pub(super) mod domain {
    pub const MACHINE: u8 = 0;
    pub const SHARED_MEMORY: u8 = 1;
}

/// `OTF2_MetricMode`: how a value is to be read.
pub(super) mod metric_mode {
    /// Bits that tell what a value is.
    pub const VALUE_BITS: u8 = 0x0f;
    /// In these bits: sum since the beginning.
    pub const ACCUMULATED: u8 = 0;
    /// Sum since the beginning.
    pub const ACCUMULATED_POINT: u8 = 16;
    /// Value at this time.
    pub const ABSOLUTE_POINT: u8 = 17;
}
/// `OTF2_MetricType`: from no known source.
pub(super) const OTHER_METRIC: u8 = 0;
/// `OTF2_MetricOccurrence`: at any time.
pub(super) const ASYNCHRONOUS: u8 = 2;
/// `OTF2_RecorderKind`: recorded by a thread of a processor.
pub(super) const RECORDED_BY_CPU: u8 = 2;
/// `OTF2_Base`: units are multiplied by powers of two.
pub(super) const BINARY: u8 = 0;
/// `OTF2_Base`: units are multiplied by powers of ten.
pub(super) const DECIMAL: u8 = 1;

/// `OTF2_RmaWinFlag`: events tell when the window is made and freed.
pub(super) const WINDOW_EVENTS: u32 = 1;
/// `OTF2_LockType`: of several, only one holds the lock.
pub(super) const EXCLUSIVE: u8 = 0;
/// `OTF2_LockType`: several hold the lock at a time.
pub(super) const SHARED: u8 = 1;
