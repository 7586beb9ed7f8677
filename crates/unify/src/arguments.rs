//! Quick access to single arguments of a recorded call: most stand at the same place in every record of a function.

use blockfile::args::{ArgValues, ByteCursor};
use blockfile::encode::MpiStatus;
use blockfile::layout::{Family, POINTER_BYTES};
use wrappers::{Carrier, Function};

/// Number of a parameter.
pub type ParameterIndex = usize;

/// Positions of a function's arguments in its records.
#[derive(Clone, Debug)]
pub struct Arguments<'t> {
    function: &'t Function,
    family: Family,
    /// Byte offset of each argument in the payload, as far as it is equal in all records.
    offsets: Vec<usize>,
}

impl<'t> Arguments<'t> {
    pub(crate) fn new(function: &'t Function, family: Family) -> Arguments<'t> {
        Arguments {
            function,
            family,
            offsets: offsets(function, family),
        }
    }

    /// Integer argument `i` (after the call).
    #[inline]
    pub fn int(&self, payload: &[u8], i: ParameterIndex) -> Option<i64> {
        let Some(&at) = self.offsets.get(i) else {
            return self.decode(payload)?.int(i);
        };
        let b = &mut ByteCursor::new(payload.get(at..)?);
        match self.function.params.get(i)?.carrier() {
            Carrier::I32 => b.i32().map(i64::from),
            Carrier::I64 => b.i64(),
            _ => self.decode(payload)?.int(i),
        }
    }

    /// Handle argument `i`.
    #[inline]
    pub fn handle(&self, payload: &[u8], i: ParameterIndex) -> Option<u64> {
        let Some(&at) = self.offsets.get(i) else {
            return self.decode(payload)?.handle(i);
        };
        let b = &mut ByteCursor::new(payload.get(at..)?);
        match self.function.params.get(i)?.carrier() {
            Carrier::Handle => b.handle(self.family.handle_bytes()),
            Carrier::Pointer => b.handle(POINTER_BYTES),
            _ => None,
        }
    }

    /// Status argument `i`.
    #[inline]
    pub fn status(&self, payload: &[u8], i: ParameterIndex) -> Option<MpiStatus> {
        match self.offsets.get(i) {
            Some(&at) => ByteCursor::new(payload.get(at..)?).status()?,
            None => self.decode(payload)?.status(i),
        }
    }

    /// All arguments.
    pub fn decode<'p>(&self, payload: &'p [u8]) -> Option<ArgValues<'p>> {
        ArgValues::decode(self.function, self.family, payload)
    }
}

/// Byte offsets of the arguments up to and with the first one whose size varies.
fn offsets(function: &Function, family: Family) -> Vec<usize> {
    let mut at = 0;
    let mut offsets = Vec::with_capacity(function.params.len());
    for param in &function.params {
        offsets.push(at);
        at += match param.carrier() {
            Carrier::Nothing => 0,
            Carrier::I32 => 4,
            Carrier::I64 | Carrier::I32InOut | Carrier::F64 => 8,
            Carrier::I64InOut => 16,
            Carrier::Handle => family.handle_bytes(),
            Carrier::Pointer => POINTER_BYTES,
            Carrier::Status | Carrier::Text | Carrier::Array(_) | Carrier::ArrayInOut(_) => break,
        };
    }
    offsets
}
