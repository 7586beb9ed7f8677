//! Numbers of OTF2's enumerations, as far as they are read.

/// `OTF2_GroupType`: what the members of a group are.
pub(super) mod group {
    /// Locations of ranks; the ranks of other groups are positions in this one.
    pub const COMM_LOCATIONS: u8 = 4;
    /// Only the rank itself.
    pub const COMM_SELF: u8 = 6;
}

/// `OTF2_LocationGroupType`: what a group of locations is.
pub(super) mod location_group {
    pub const PROCESS: u8 = 1;
}

/// `OTF2_LocationType`: what a location is.
pub(super) mod location {
    pub const CPU_THREAD: u8 = 1;
}

/// `OTF2_Paradigm`: what a region belongs to.
pub(super) mod paradigm {
    pub const USER: u8 = 1;
    pub const MPI: u8 = 4;
}

/// `OTF2_MetricMode`: how values of a metric are to be read.
pub(super) mod metric_mode {
    /// Bits that tell what a value is.
    pub const VALUE_BITS: u8 = 0x0f;
    /// Sum since the beginning.
    pub const ACCUMULATED: u8 = 0;
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
}

/// `OTF2_Base`: units are multiplied by powers of two.
pub(super) const BINARY: u8 = 0;

/// Roots that are no rank: from here on.
pub(super) const FIRST_NO_ROOT: u32 = u32::MAX - 2;

/// `OTF2_LockType`: of several, only one holds the lock.
pub(super) const EXCLUSIVE: u8 = 0;
