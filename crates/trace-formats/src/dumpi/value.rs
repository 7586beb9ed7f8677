//! Argument values of a record, borrowed from the file: nothing is copied or allocated.
//!
//! Lists keep the big-endian bytes of the stream and decode an element when it is asked for.

use std::fmt;

use super::cursor::DumpiCursor;
use super::dialect::{Mask, STATUS_BYTES, StreamDialect};
use super::schema::{DumpiField, FieldCode, FieldShape};

/// The value of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldValue<'a> {
    /// A root-only field in the record of another rank.
    Absent,
    /// A number of any code of at most four bytes: integers, ranks, handle numbers (signed, as readers see them),
    /// enumerations.
    Int(i32),
    /// A file offset or size.
    I64(i64),
    /// A function address key.
    U64(u64),
    /// A string, without terminator; not necessarily UTF-8.
    Str(&'a [u8]),
    /// Several four-byte numbers.
    Ints(IntList<'a>),
    /// Several two-byte handle numbers.
    Handles(HandleList<'a>),
    /// Several one-byte enumeration values.
    Enums(&'a [u8]),
    /// Rows of three integers.
    Rows(Rows<'a>),
    /// Strings.
    Strs(Strs<'a>),
    /// Lists of strings.
    StrLists(StrLists<'a>),
    /// Statuses; empty if ignored or not recorded.
    Statuses(Statuses<'a>),
}

/// A status as recorded (`spec/dumpi.md` section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DumpiStatus {
    /// Bytes received.
    pub bytes: i32,
    /// MPI_SOURCE, translated: −1 ANY_SOURCE, −2 ROOT.
    pub source: i32,
    /// Whether the request was cancelled: 0 or 1.
    pub cancelled: i8,
    /// Low eight bits of MPI_ERROR, which single completions leave as the application's memory had it.
    pub error: i8,
    /// MPI_TAG, translated: −1 ANY_TAG. 0 in files before 0.6.3, which do not have it.
    pub tag: i32,
}

/// A list of i32.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IntList<'a>(&'a [u8]);

impl<'a> IntList<'a> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.len() / 4
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i32> + use<'a> {
        self.0
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| i32::from_be_bytes(*b))
    }
}

/// A list of i16 handle numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HandleList<'a>(&'a [u8]);

impl<'a> HandleList<'a> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.len() / 2
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The elements.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = i16> + use<'a> {
        self.0
            .as_chunks::<2>()
            .0
            .iter()
            .map(|b| i16::from_be_bytes(*b))
    }
}

/// A list of rows of integers; well-formed rows have three.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rows<'a> {
    count: u32,
    bytes: &'a [u8],
}

impl<'a> Rows<'a> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The rows.
    pub fn iter(&self) -> impl Iterator<Item = IntList<'a>> + use<'a> {
        let mut cursor = DumpiCursor::at(self.bytes, 0);
        std::iter::from_fn(move || cursor.counted(4).map(IntList))
    }
}

/// A list of strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Strs<'a> {
    count: u32,
    bytes: &'a [u8],
}

impl<'a> Strs<'a> {
    /// Number of strings.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The strings.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut cursor = DumpiCursor::at(self.bytes, 0);
        std::iter::from_fn(move || cursor.counted(1))
    }
}

/// A list of lists of strings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StrLists<'a> {
    count: u32,
    bytes: &'a [u8],
}

impl<'a> StrLists<'a> {
    /// Number of lists.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The lists.
    pub fn iter(&self) -> impl Iterator<Item = Strs<'a>> + use<'a> {
        let mut cursor = DumpiCursor::at(self.bytes, 0);
        std::iter::from_fn(move || strings(&mut cursor))
    }
}

/// A list of statuses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Statuses<'a> {
    bytes: &'a [u8],
    width: u8,
}

impl<'a> Statuses<'a> {
    const NONE: Self = Self {
        bytes: &[],
        width: DumpiStatus::WIDTH as u8,
    };

    /// Number of statuses.
    pub fn len(&self) -> usize {
        self.bytes.len() / usize::from(self.width)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The statuses.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DumpiStatus> + use<'a> {
        self.bytes
            .chunks_exact(usize::from(self.width))
            .map(DumpiStatus::decode)
    }
}

impl DumpiStatus {
    /// Bytes of a status in the stream.
    pub const WIDTH: usize = STATUS_BYTES;

    fn decode(bytes: &[u8]) -> Self {
        let mut c = DumpiCursor::at(bytes, 0);
        Self {
            bytes: c.i32().unwrap_or(0),
            source: c.i32().unwrap_or(0),
            cancelled: c.i8().unwrap_or(0),
            error: c.i8().unwrap_or(0),
            tag: c.i32().unwrap_or(0),
        }
    }

    pub(super) fn encode(&self) -> [u8; Self::WIDTH] {
        let mut out = [0; Self::WIDTH];
        out[0..4].copy_from_slice(&self.bytes.to_be_bytes());
        out[4..8].copy_from_slice(&self.source.to_be_bytes());
        out[8] = self.cancelled as u8;
        out[9] = self.error as u8;
        out[10..14].copy_from_slice(&self.tag.to_be_bytes());
        out
    }
}

/// Takes the value of `field` off the stream; `None` if the bytes end within it.
#[inline]
pub(super) fn take<'a>(
    c: &mut DumpiCursor<'a>,
    field: &DumpiField,
    mask: Mask,
    dialect: StreamDialect,
) -> Option<FieldValue<'a>> {
    use FieldCode::*;
    if field.code == Stat {
        if !mask.statuses() {
            return Some(FieldValue::Statuses(Statuses::NONE));
        }
        let width = dialect.status_width();
        return c.counted(width).map(|bytes| {
            FieldValue::Statuses(Statuses {
                bytes,
                width: width as u8,
            })
        });
    }
    match (field.shape, field.code) {
        (FieldShape::One, Int | Src | Dst | Tag | Req | IoReq) => c.i32().map(FieldValue::Int),
        (FieldShape::One, Comm | Dt | Grp | Eh | File | Info | Win | Kv) => {
            c.i16().map(|v| FieldValue::Int(v.into()))
        }
        (FieldShape::One, Cmp | Order) => c.i8().map(|v| FieldValue::Int(v.into())),
        (FieldShape::One, I64) => c.i64().map(FieldValue::I64),
        (FieldShape::One, U64) => c.u64().map(FieldValue::U64),
        (FieldShape::One, Str) => c.counted(1).map(FieldValue::Str),
        (FieldShape::One, _) => c.u8().map(|v| FieldValue::Int(v.into())),
        (FieldShape::List, _) => strings(c).map(FieldValue::Strs),
        (FieldShape::Lists, _) => nested(c, |c| strings(c).is_some())
            .map(|(count, bytes)| FieldValue::StrLists(StrLists { count, bytes })),
        (FieldShape::Rows { .. }, _) => nested(c, |c| c.counted(4).is_some())
            .map(|(count, bytes)| FieldValue::Rows(Rows { count, bytes })),
        (FieldShape::Array { .. }, code) => match code.width() {
            4 => c.counted(4).map(|b| FieldValue::Ints(IntList(b))),
            2 => c.counted(2).map(|b| FieldValue::Handles(HandleList(b))),
            width => c.counted(width).map(FieldValue::Enums),
        },
    }
}

/// A lone i32 where newer versions have a counted array.
pub(super) fn take_single<'a>(c: &mut DumpiCursor<'a>) -> Option<FieldValue<'a>> {
    c.slice(4).map(|b| FieldValue::Ints(IntList(b)))
}

/// The argument vector of MPI_Init before 0.6.2: a word of no use stands between the count and the strings.
pub(super) fn take_old_argv<'a>(c: &mut DumpiCursor<'a>) -> Option<FieldValue<'a>> {
    let count = c.u32()?;
    c.u32()?;
    elements(c, count, |c| c.counted(1).is_some())
        .map(|bytes| FieldValue::Strs(Strs { count, bytes }))
}

fn strings<'a>(c: &mut DumpiCursor<'a>) -> Option<Strs<'a>> {
    nested(c, |c| c.counted(1).is_some()).map(|(count, bytes)| Strs { count, bytes })
}

/// A u32 count and that many elements.
fn nested<'a>(
    c: &mut DumpiCursor<'a>,
    element: impl FnMut(&mut DumpiCursor<'a>) -> bool,
) -> Option<(u32, &'a [u8])> {
    let count = c.u32()?;
    elements(c, count, element).map(|bytes| (count, bytes))
}

/// The bytes of `count` elements, each of at least four bytes, so that a false count ends at once.
fn elements<'a>(
    c: &mut DumpiCursor<'a>,
    count: u32,
    mut element: impl FnMut(&mut DumpiCursor<'a>) -> bool,
) -> Option<&'a [u8]> {
    let start = c.pos();
    if count as usize > c.left() / 4 {
        return None;
    }
    for _ in 0..count {
        if !element(c) {
            return None;
        }
    }
    Some(c.since(start))
}

macro_rules! show_as_list {
    ($($type:ident),*) => {$(
        impl fmt::Debug for $type<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_list().entries(self.iter()).finish()
            }
        }
    )*};
}

show_as_list!(IntList, HandleList, Rows, Strs, StrLists, Statuses);
