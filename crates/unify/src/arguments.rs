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
    /// The arguments that stand at the same place in all records: byte offset in the payload, and form.
    fixed: Vec<(usize, Carrier)>,
}

impl<'t> Arguments<'t> {
    pub(crate) fn new(function: &'t Function, family: Family) -> Arguments<'t> {
        Arguments {
            function,
            family,
            fixed: fixed(function, family),
        }
    }

    /// Integer argument `i` (after the call).
    #[inline]
    pub fn int(&self, payload: &[u8], i: ParameterIndex) -> Option<i64> {
        match self.fixed.get(i) {
            Some(&(at, Carrier::I32)) => ByteCursor::new(payload.get(at..)?).i32().map(i64::from),
            Some(&(at, Carrier::I64)) => ByteCursor::new(payload.get(at..)?).i64(),
            _ => self.decode(payload)?.int(i),
        }
    }

    /// Handle argument `i`.
    #[inline]
    pub fn handle(&self, payload: &[u8], i: ParameterIndex) -> Option<u64> {
        let (at, bytes) = match self.fixed.get(i) {
            Some(&(at, Carrier::Handle)) => (at, self.family.handle_bytes()),
            Some(&(at, Carrier::Pointer)) => (at, POINTER_BYTES),
            Some(_) => return None,
            None => return self.decode(payload)?.handle(i),
        };
        ByteCursor::new(payload.get(at..)?).handle(bytes)
    }

    /// Status argument `i`.
    #[inline]
    pub fn status(&self, payload: &[u8], i: ParameterIndex) -> Option<MpiStatus> {
        match self.fixed.get(i) {
            Some(&(at, _)) => ByteCursor::new(payload.get(at..)?).status()?,
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

/// Byte offset and form of the arguments up to and with the first one whose size varies.
fn fixed(function: &Function, family: Family) -> Vec<(usize, Carrier)> {
    let mut at = 0;
    let mut fixed = Vec::with_capacity(function.params.len());
    for param in &function.params {
        let carrier = param.carrier();
        fixed.push((at, carrier));
        at += match carrier {
            Carrier::Nothing => 0,
            Carrier::I32 => 4,
            Carrier::I64 | Carrier::I32InOut | Carrier::F64 => 8,
            Carrier::I64InOut => 16,
            Carrier::Handle => family.handle_bytes(),
            Carrier::Pointer => POINTER_BYTES,
            Carrier::Status | Carrier::Text | Carrier::Array(_) | Carrier::ArrayInOut(_) => break,
        };
    }
    fixed
}
