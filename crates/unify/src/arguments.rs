//! Quick access to single arguments of a recorded call: most stand at the same place in every record of a function.

use blockfile::args::{ArgValues, ByteCursor};
use blockfile::encode::MpiStatus;
use blockfile::layout::{Family, POINTER_BYTES};
use wrappers::{Carrier, Function, ShortForm, ShortPlace};

/// Number of a parameter.
pub type ParameterIndex = usize;

/// Place of an argument in the records of a function. Places are bytes of the payload, from 0.
#[derive(Clone, Copy, Debug)]
enum ArgumentPlace {
    /// The argument is no single number, handle or status.
    Other,
    /// 2-byte integer at this place.
    U16(usize),
    /// 4-byte integer at this place.
    I32(usize),
    /// 8-byte integer at this place.
    I64(usize),
    /// Handle of `bytes` bytes at place `at`.
    Handle { at: usize, bytes: usize },
    /// Status at this place.
    Status(usize),
    /// Status of which only the size of the message, a 4-byte integer, has a place of its own. Source and tag are the 2-byte integers at
    /// the places of the arguments that name them.
    ReceivedBytes {
        at: usize,
        source: usize,
        tag: usize,
    },
}

/// Positions of a function's arguments in its records.
#[derive(Clone, Debug)]
pub struct Arguments<'t> {
    function: &'t Function,
    family: Family,
    /// The arguments that stand at the same place in all records of the full form.
    full: Vec<ArgumentPlace>,
    /// The arguments in records of the short form.
    short: Vec<ArgumentPlace>,
    /// Records with fewer bytes of arguments have the short form.
    full_bytes: usize,
}

impl<'t> Arguments<'t> {
    pub(crate) fn new(function: &'t Function, family: Family) -> Arguments<'t> {
        let handle = family.handle_bytes();
        let short = function.short_form.as_ref();
        Arguments {
            function,
            family,
            full: full(function, handle),
            short: short.map_or_else(Vec::new, |form| places(form, handle)),
            full_bytes: short.map_or(0, |form| form.full_bytes(handle)),
        }
    }

    /// Place of argument `i` in a record with these arguments; `None` if it has no fixed one.
    #[inline]
    fn place(&self, payload: &[u8], i: ParameterIndex) -> Option<ArgumentPlace> {
        let places = if payload.len() < self.full_bytes {
            &self.short
        } else {
            &self.full
        };
        places.get(i).copied()
    }

    /// Integer argument `i` (after the call).
    #[inline]
    pub fn int(&self, payload: &[u8], i: ParameterIndex) -> Option<i64> {
        match self.place(payload, i) {
            Some(ArgumentPlace::I32(at)) => from(payload, at)?.i32().map(i64::from),
            Some(ArgumentPlace::I64(at)) => from(payload, at)?.i64(),
            Some(ArgumentPlace::U16(at)) => from(payload, at)?.u16().map(i64::from),
            _ => self.decode(payload)?.int(i),
        }
    }

    /// Handle argument `i`.
    #[inline]
    pub fn handle(&self, payload: &[u8], i: ParameterIndex) -> Option<u64> {
        match self.place(payload, i) {
            Some(ArgumentPlace::Handle { at, bytes }) => from(payload, at)?.handle(bytes),
            Some(_) => None,
            None => self.decode(payload)?.handle(i),
        }
    }

    /// Status argument `i`.
    #[inline]
    pub fn status(&self, payload: &[u8], i: ParameterIndex) -> Option<MpiStatus> {
        match self.place(payload, i) {
            Some(ArgumentPlace::Status(at)) => from(payload, at)?.status()?,
            Some(ArgumentPlace::ReceivedBytes { at, source, tag }) => Some(MpiStatus {
                source: from(payload, source)?.u16()?.into(),
                tag: from(payload, tag)?.u16()?.into(),
                bytes: from(payload, at)?.u32()?.into(),
                ..MpiStatus::default()
            }),
            Some(_) => None,
            None => self.decode(payload)?.status(i),
        }
    }

    /// All arguments, into `args`; `None` if they are damaged.
    #[inline]
    pub fn fill<'p>(&self, payload: &'p [u8], args: &mut ArgValues<'p>) -> Option<()> {
        args.fill(self.function, self.family, payload)
    }

    /// All arguments.
    pub fn decode<'p>(&self, payload: &'p [u8]) -> Option<ArgValues<'p>> {
        ArgValues::decode(self.function, self.family, payload)
    }
}

/// The bytes from `at` on.
#[inline]
fn from(payload: &[u8], at: usize) -> Option<ByteCursor<'_>> {
    payload.get(at..).map(ByteCursor::new)
}

/// Places in the full form of the arguments up to and with the first one whose size varies.
fn full(function: &Function, handle: usize) -> Vec<ArgumentPlace> {
    let mut at = 0;
    let mut places = Vec::with_capacity(function.params.len());
    for param in &function.params {
        let (place, bytes) = match param.carrier() {
            Carrier::Nothing => (ArgumentPlace::Other, 0),
            Carrier::I32 => (ArgumentPlace::I32(at), 4),
            Carrier::I64 => (ArgumentPlace::I64(at), 8),
            Carrier::I32InOut | Carrier::F64 => (ArgumentPlace::Other, 8),
            Carrier::I64InOut => (ArgumentPlace::Other, 16),
            Carrier::Handle | Carrier::Pointer => {
                let is_pointer = param.carrier() == Carrier::Pointer;
                let bytes = if is_pointer { POINTER_BYTES } else { handle };
                (ArgumentPlace::Handle { at, bytes }, bytes)
            }
            Carrier::Status => {
                places.push(ArgumentPlace::Status(at));
                break;
            }
            Carrier::Text | Carrier::Array(_) | Carrier::ArrayInOut(_) => {
                places.push(ArgumentPlace::Other);
                break;
            }
        };
        places.push(place);
        at += bytes;
    }
    places
}

/// Places in the short form of all arguments.
fn places(form: &ShortForm, handle: usize) -> Vec<ArgumentPlace> {
    let mut at = 0;
    let mut places: Vec<ArgumentPlace> = Vec::with_capacity(form.places.len());
    let begins = |places: &[ArgumentPlace], i: usize| match places.get(i) {
        Some(ArgumentPlace::U16(at)) => Some(*at),
        _ => None,
    };
    for place in &form.places {
        let (place, bytes) = match *place {
            ShortPlace::Nothing => (ArgumentPlace::Other, 0),
            ShortPlace::I32 => (ArgumentPlace::I32(at), 4),
            ShortPlace::U16 => (ArgumentPlace::U16(at), 2),
            ShortPlace::Handle => {
                let bytes = handle;
                (ArgumentPlace::Handle { at, bytes }, bytes)
            }
            ShortPlace::SameAs(former) => {
                let same = places.get(former).copied();
                (same.unwrap_or(ArgumentPlace::Other), 0)
            }
            ShortPlace::ReceivedBytes { source, tag } => {
                let envelope = begins(&places, source).zip(begins(&places, tag));
                let received = |(source, tag)| ArgumentPlace::ReceivedBytes { at, source, tag };
                (envelope.map_or(ArgumentPlace::Other, received), 4)
            }
        };
        places.push(place);
        at += bytes;
    }
    places
}
