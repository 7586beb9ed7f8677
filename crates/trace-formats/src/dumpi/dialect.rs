//! Dialects of the stream. The layout of a record depends on its mask, and the version of the library that wrote the file
//! (`spec/dumpi.md`
//! sections 4.1 and 10).

use super::ids;
use std::fmt;

/// Bytes of a status.
pub(super) const STATUS_BYTES: usize = 14;
/// Bytes of a status before version 0.6.3, which has no tag.
pub(super) const OLD_STATUS_BYTES: usize = 10;

/// Bit set of the optional parts of a record (`spec/dumpi.md` section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask(pub u8);

impl Mask {
    /// The status bits of `statuses enable`.
    pub const STATUSES: u8 = 0x03;
    /// The status bits of `statuses success`.
    pub const STATUSES_OF_SUCCESS: u8 = 0x01;
    /// Cpu times.
    pub const CPU: u8 = 0x04;
    /// Wall times.
    pub const WALL: u8 = 0x08;
    /// The thread number.
    pub const THREAD: u8 = 0x40;
    /// Performance counters.
    pub const COUNTERS: u8 = 0x80;
    /// The parts that the reference library writes by default.
    pub const DEFAULT: Mask = Mask(Self::STATUSES | Self::CPU | Self::WALL | Self::THREAD);

    /// Whether status lists are present.
    pub fn statuses(self) -> bool {
        self.0 & Self::STATUSES != 0
    }

    /// Whether all of these bits are set.
    pub fn has(self, bits: u8) -> bool {
        self.0 & bits == bits
    }
}

/// The version of the library that wrote a file; decides details of the layout (`spec/dumpi.md` section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Version.
    pub major: u8,
    /// Subversion.
    pub minor: u8,
    /// Subsubversion.
    pub patch: u8,
}

impl Version {
    /// The version whose layout this module writes.
    pub const CURRENT: Version = Version::new(13, 0, 0);

    /// A version number.
    pub const fn new(major: u8, minor: u8, patch: u8) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// Differences of the stream of an old version from the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StreamDialect(u8);

impl StreamDialect {
    pub const CURRENT: StreamDialect = StreamDialect(0);
    const INIT_WORD: u8 = 1;
    const NO_STATUS_TAG: u8 = 2;
    const ONE_COORD: u8 = 4;
    const ONE_INDEX: u8 = 8;

    pub fn of(version: Version) -> Self {
        let before = |minor, patch, bit| {
            if version < Version::new(0, minor, patch) {
                bit
            } else {
                0
            }
        };
        Self(
            before(6, 2, Self::INIT_WORD)
                | before(6, 3, Self::NO_STATUS_TAG)
                | before(6, 8, Self::ONE_COORD)
                | before(6, 9, Self::ONE_INDEX),
        )
    }

    pub fn status_width(self) -> usize {
        if self.0 & Self::NO_STATUS_TAG != 0 {
            OLD_STATUS_BYTES
        } else {
            STATUS_BYTES
        }
    }

    /// Whether the field is a lone integer instead of an array.
    pub(super) fn single(self, function: u16, field: usize) -> bool {
        const CART_GET_COORDS: (u16, usize) = (ids::CART_GET, 5);
        const TYPE_STRUCT_INDICES: (u16, usize) = (ids::TYPE_STRUCT, 2);
        self.0 & Self::ONE_COORD != 0 && (function, field) == CART_GET_COORDS
            || self.0 & Self::ONE_INDEX != 0 && (function, field) == TYPE_STRUCT_INDICES
    }

    /// Whether the function is MPI_Init with a word of no use behind the count of its arguments.
    pub(super) fn init_word(self, function: u16) -> bool {
        self.0 & Self::INIT_WORD != 0 && function == ids::INIT
    }
}
