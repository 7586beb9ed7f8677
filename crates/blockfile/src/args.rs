//! Reading the arguments of a record, with the function table as schema.
//!
//! Arguments stand in the order of the MPI signature. What a parameter looks like follows from the table alone
//! ([`wrappers::Carrier`], in records of the short form [`wrappers::ShortForm`]) and from the width of handles, which the block file's
//! header gives.

use crate::encode::{MpiStatus, NO_ARRAY, status};
use crate::layout::{Family, POINTER_BYTES};
use wrappers::{Carrier, ElementForm, Function, ShortForm, ShortPlace};

/// Cursor over bytes. Every getter returns `None` when the bytes run out.
#[derive(Clone, Debug)]
pub struct ByteCursor<'a> {
    bytes: &'a [u8],
}

impl<'a> ByteCursor<'a> {
    /// Over `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        ByteCursor { bytes }
    }

    /// The next `n` bytes.
    #[inline]
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.bytes.split_at_checked(n)?;
        self.bytes = tail;
        Some(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// All remaining bytes.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.bytes)
    }

    /// A byte.
    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        Some(self.array::<1>()?[0])
    }

    /// A u16.
    #[inline]
    pub fn u16(&mut self) -> Option<u16> {
        Some(u16::from_ne_bytes(self.array()?))
    }

    /// A u32.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.array()?))
    }

    /// An i32.
    #[inline]
    pub fn i32(&mut self) -> Option<i32> {
        Some(i32::from_ne_bytes(self.array()?))
    }

    /// A u64.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.array()?))
    }

    /// An i64.
    #[inline]
    pub fn i64(&mut self) -> Option<i64> {
        Some(i64::from_ne_bytes(self.array()?))
    }

    /// A handle of `n` bytes.
    #[inline]
    pub fn handle(&mut self, n: usize) -> Option<u64> {
        // The sizes that there are, without a copy of a size that is not known.
        match n {
            4 => self.u32().map(u64::from),
            6 => {
                let [a, b, c, d, e, f] = self.array()?;
                Some(u64::from_ne_bytes([a, b, c, d, e, f, 0, 0]))
            }
            8 => self.u64(),
            _ => None,
        }
    }

    /// A string: outer `None` when damaged, inner `None` when it was NULL.
    #[inline]
    #[allow(clippy::option_option, reason = "damaged and NULL differ")]
    pub fn string(&mut self) -> Option<Option<&'a [u8]>> {
        match self.u32()? {
            NO_ARRAY => Some(None),
            n => self.take(n as usize).map(Some),
        }
    }

    /// A status: outer `None` when damaged, inner `None` when the call delivered none.
    #[inline]
    #[allow(clippy::option_option, reason = "damaged and absent differ")]
    pub fn status(&mut self) -> Option<Option<MpiStatus>> {
        let head = self.u8()?;
        if head & status::PRESENT == 0 {
            return Some(None);
        }
        let source = if head & status::WIDE_SOURCE != 0 {
            self.i32()?
        } else {
            i32::from(self.u16()?)
        };
        let tag = if head & status::WIDE_TAG != 0 {
            self.i32()?
        } else {
            i32::from(self.u16()?)
        };
        let bytes = if head & status::WIDE_BYTES != 0 {
            self.u64()?
        } else {
            u64::from(self.u32()?)
        };
        let error = if head & status::ERROR != 0 {
            self.i32()?
        } else {
            0
        };
        Some(Some(MpiStatus {
            source,
            tag,
            error,
            bytes,
            cancelled: head & status::CANCELLED != 0,
        }))
    }
}

/// One argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgValue<'a> {
    /// Not recorded (buffers, functions), or an output of a call that failed.
    Absent,
    /// Integer, enumeration, rank, count, logical …
    Int(i64),
    /// Integer before and after the call.
    InOut(i64, i64),
    /// Floating-point number.
    Double(f64),
    /// Raw handle.
    Handle(u64),
    /// Status; `None` where the call delivered none.
    Status(Option<MpiStatus>),
    /// Text; `None` where it was NULL.
    Text(Option<&'a [u8]>),
    /// Array; `None` where it was NULL, a sentinel or not significant.
    Array(Option<Array<'a>>),
    /// Array before and after the call.
    ArrayInOut(Option<Array<'a>>, Option<Array<'a>>),
}

/// An array argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Array<'a> {
    /// Number of elements.
    pub len: usize,
    elem: ElementForm,
    handle_bytes: usize,
    bytes: &'a [u8],
}

impl<'a> Array<'a> {
    fn width(&self) -> usize {
        match self.elem {
            ElementForm::I32 => 4,
            ElementForm::I64 => 8,
            ElementForm::Handle => self.handle_bytes,
            ElementForm::Pointer => POINTER_BYTES,
            ElementForm::Status | ElementForm::Text => 1,
        }
    }

    /// Integer (or raw handle) number `i`; `None` past the end or where elements are no numbers.
    #[inline]
    pub fn get(&self, i: usize) -> Option<i64> {
        if matches!(self.elem, ElementForm::Status | ElementForm::Text) || i >= self.len {
            return None;
        }
        let width = self.width();
        let b = &mut ByteCursor::new(self.bytes.get(i * width..(i + 1) * width)?);
        match self.elem {
            ElementForm::I32 => b.i32().map(i64::from),
            ElementForm::I64 => b.i64(),
            _ => b.handle(width).map(|h| h as i64),
        }
    }

    /// All integers or raw handles.
    pub fn ints(self) -> impl Iterator<Item = i64> + use<'a> {
        (0..self.len).map_while(move |i| self.get(i))
    }

    /// All statuses of an array of statuses.
    pub fn statuses(&self) -> impl Iterator<Item = Option<MpiStatus>> + use<'a> {
        let mut b = ByteCursor::new(self.bytes);
        let n = if self.elem == ElementForm::Status {
            self.len
        } else {
            0
        };
        (0..n).map_while(move |_| b.status())
    }

    /// All strings of an array of strings.
    pub fn texts(&self) -> impl Iterator<Item = Option<&'a [u8]>> + use<'a> {
        let mut b = ByteCursor::new(self.bytes);
        let n = if self.elem == ElementForm::Text {
            self.len
        } else {
            0
        };
        (0..n).map_while(move |_| b.string())
    }
}

/// Maximum number of parameters of an MPI function.
pub const MAX_PARAMS: usize = 16;

/// The arguments of one call, in the order of its parameters.
#[derive(Clone, Debug)]
pub struct ArgValues<'a> {
    values: [ArgValue<'a>; MAX_PARAMS],
    len: usize,
}

impl<'a> ArgValues<'a> {
    /// Decodes `payload` of a call of `function`. `None` if it is damaged.
    pub fn decode(function: &Function, family: Family, payload: &'a [u8]) -> Option<ArgValues<'a>> {
        let mut args = ArgValues::none();
        args.fill(function, family, payload)?;
        Some(args)
    }

    /// No arguments.
    #[inline]
    pub fn none() -> ArgValues<'a> {
        ArgValues {
            values: [const { ArgValue::Absent }; MAX_PARAMS],
            len: 0,
        }
    }

    /// Takes in the arguments that `payload` of a call of `function` holds, in place of those that were there. `None` if it is damaged.
    #[inline]
    pub fn fill(&mut self, function: &Function, family: Family, payload: &'a [u8]) -> Option<()> {
        let b = &mut ByteCursor::new(payload);
        let handle = family.handle_bytes();
        self.len = 0;
        if let Some(short) = &function.short_form
            && payload.len() < short.full_bytes(handle)
        {
            return self.fill_short(short, handle, b);
        }
        for (param, value) in function.params.iter().zip(&mut self.values) {
            *value = match param.carrier() {
                Carrier::Nothing => ArgValue::Absent,
                Carrier::I32 => ArgValue::Int(b.i32()?.into()),
                Carrier::I64 => ArgValue::Int(b.i64()?),
                Carrier::I32InOut => ArgValue::InOut(b.i32()?.into(), b.i32()?.into()),
                Carrier::I64InOut => ArgValue::InOut(b.i64()?, b.i64()?),
                Carrier::F64 => ArgValue::Double(f64::from_bits(b.u64()?)),
                Carrier::Handle => ArgValue::Handle(b.handle(handle)?),
                Carrier::Pointer => ArgValue::Handle(b.handle(POINTER_BYTES)?),
                Carrier::Status => ArgValue::Status(b.status()?),
                Carrier::Text => ArgValue::Text(b.string()?),
                Carrier::Array(elem) => ArgValue::Array(array(b, elem, handle)?),
                Carrier::ArrayInOut(elem) => {
                    ArgValue::ArrayInOut(array(b, elem, handle)?, array(b, elem, handle)?)
                }
            };
        }
        self.len = function.params.len().min(MAX_PARAMS);
        Some(())
    }

    /// Takes in the arguments of a record in short form.
    fn fill_short(
        &mut self,
        short: &ShortForm,
        handle: usize,
        b: &mut ByteCursor<'a>,
    ) -> Option<()> {
        for (i, place) in short.places.iter().enumerate().take(MAX_PARAMS) {
            self.values[i] = match *place {
                ShortPlace::Nothing => ArgValue::Absent,
                ShortPlace::I32 => ArgValue::Int(b.i32()?.into()),
                ShortPlace::U16 => ArgValue::Int(b.u16()?.into()),
                ShortPlace::Handle => ArgValue::Handle(b.handle(handle)?),
                ShortPlace::SameAs(former) => self.values.get(former)?.clone(),
                ShortPlace::ReceivedBytes { source, tag } => {
                    let named = |i: usize| match self.values.get(i) {
                        Some(ArgValue::Int(value)) => i32::try_from(*value).ok(),
                        _ => None,
                    };
                    ArgValue::Status(Some(MpiStatus {
                        source: named(source)?,
                        tag: named(tag)?,
                        bytes: b.u32()?.into(),
                        ..MpiStatus::default()
                    }))
                }
            };
        }
        self.len = short.places.len().min(MAX_PARAMS);
        Some(())
    }

    /// All arguments.
    pub fn values(&self) -> &[ArgValue<'a>] {
        &self.values[..self.len]
    }

    /// Argument `i`, [`ArgValue::Absent`] past the end.
    #[inline]
    pub fn get(&self, i: usize) -> &ArgValue<'a> {
        self.values().get(i).unwrap_or(&ArgValue::Absent)
    }

    /// Argument `i` as an integer: the value, or the one after the call.
    pub fn int(&self, i: usize) -> Option<i64> {
        match *self.get(i) {
            ArgValue::Int(v) | ArgValue::InOut(_, v) => Some(v),
            _ => None,
        }
    }

    /// Argument `i` as a raw handle.
    pub fn handle(&self, i: usize) -> Option<u64> {
        match *self.get(i) {
            ArgValue::Handle(h) => Some(h),
            _ => None,
        }
    }

    /// Argument `i` as an array.
    pub fn array(&self, i: usize) -> Option<Array<'a>> {
        match *self.get(i) {
            ArgValue::Array(a) | ArgValue::ArrayInOut(_, a) => a,
            _ => None,
        }
    }

    /// Argument `i` as a status.
    pub fn status(&self, i: usize) -> Option<MpiStatus> {
        match *self.get(i) {
            ArgValue::Status(s) => s,
            _ => None,
        }
    }

    /// Argument `i` as text.
    pub fn text(&self, i: usize) -> Option<&'a [u8]> {
        match *self.get(i) {
            ArgValue::Text(t) => t,
            _ => None,
        }
    }
}

#[allow(clippy::option_option, reason = "damaged and NULL differ")]
fn array<'a>(
    b: &mut ByteCursor<'a>,
    elem: ElementForm,
    handle_bytes: usize,
) -> Option<Option<Array<'a>>> {
    let len = match b.u32()? {
        NO_ARRAY => return Some(None),
        n => n as usize,
    };
    let mut array = Array {
        len,
        elem,
        handle_bytes,
        bytes: &[],
    };
    array.bytes = match elem {
        ElementForm::Status | ElementForm::Text => {
            // Elements of varying size: walk over them to find the end.
            let start = b.clone();
            for _ in 0..len {
                if elem == ElementForm::Status {
                    b.status()?;
                } else {
                    b.string()?;
                }
            }
            let used = start.bytes.len() - b.bytes.len();
            start.bytes.get(..used)?
        }
        _ => b.take(len.checked_mul(array.width())?)?,
    };
    Some(Some(array))
}
