//! Keys of the display profile and of the record definitions (`spec/slog1.md` section 4).

use std::cmp::Ordering;
use std::fmt;

/// Bits for the piece of an interval that a record is: it may begin the interval, end it, do both or neither.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bebits {
    /// The piece in which the interval begins.
    pub begins: bool,
    /// The piece in which it ends.
    pub ends: bool,
}

impl Bebits {
    /// An interval in one piece.
    pub const WHOLE: Bebits = Bebits {
        begins: true,
        ends: true,
    };

    /// The pieces in the order in which tables list them: first, middle, last, whole.
    pub const ALL: [Bebits; 4] = [
        Bebits {
            begins: true,
            ends: false,
        },
        Bebits {
            begins: false,
            ends: false,
        },
        Bebits {
            begins: false,
            ends: true,
        },
        Bebits::WHOLE,
    ];

    /// The number in the file.
    pub fn code(self) -> u8 {
        u8::from(self.begins) | u8::from(self.ends) << 1
    }

    /// The bits of this number.
    pub fn from_code(code: u8) -> Option<Self> {
        (code <= 3).then_some(Bebits {
            begins: code & 1 != 0,
            ends: code & 2 != 0,
        })
    }

    /// Position in [`Bebits::ALL`].
    pub fn order(self) -> u8 {
        match (self.begins, self.ends) {
            (true, false) => 0,
            (false, false) => 1,
            (false, true) => 2,
            (true, true) => 3,
        }
    }
}

impl fmt::Display for Bebits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", u8::from(self.begins), u8::from(self.ends))
    }
}

/// Type of a record: the key of the display profile and of the record definitions. Ordered as these tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RecordKey {
    /// Type of the interval.
    pub intvltype: u16,
    /// Piece of the interval.
    pub bebits: Bebits,
}

impl RecordKey {
    /// The key of whole intervals of this type.
    pub fn whole(intvltype: u16) -> Self {
        RecordKey {
            intvltype,
            bebits: Bebits::WHOLE,
        }
    }
}

impl Ord for RecordKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |key: &RecordKey| (key.intvltype, key.bebits.order());
        rank(self).cmp(&rank(other))
    }
}

impl PartialOrd for RecordKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for RecordKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interval type {} ({})", self.intvltype, self.bebits)
    }
}
