//! Functions that the program enters and leaves, as a compiler's `-finstrument-functions` tells.
//!
//! ```text
//! head   ENTER or EXIT, start; no duration
//! 0      u64  address of the function (48 bits), and whether its code was inlined where it is entered (highest bit)
//! 8      u32  low half of the stack pointer
//! ```
//!
//! A frame that was thrown away by longjmp is never left. The stack pointer tells: a function that
//! is entered from further up the stack than one that is still open cannot have been called from it.

use crate::args::ByteCursor;
use crate::define;
use crate::record::Record;

/// Bytes of the payload.
pub const PAYLOAD: usize = 12;

/// A function is entered or left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionStep {
    /// Whether the function is entered; else it is left.
    pub enters: bool,
    /// Address of the function.
    pub address: u64,
    /// Low half of the stack pointer.
    pub stack: u32,
    inlined: bool,
}

/// The bit of a payload's address that says that the function was inlined.
pub const INLINED: u64 = 1 << 63;

/// Whether a record of this number is a step.
#[inline]
pub fn is_step(function: u16) -> bool {
    matches!(function, define::ENTER | define::EXIT)
}

impl FunctionStep {
    /// A step with these properties.
    pub fn new(enters: bool, address: u64, stack: u32, inlined: bool) -> FunctionStep {
        FunctionStep {
            enters,
            address: address & !INLINED,
            stack,
            inlined,
        }
    }

    /// Whether the function's code was inlined into another one's, whose frame it then has.
    pub fn is_inlined(&self) -> bool {
        self.inlined
    }

    /// Decodes the step in a record; `None` for another record or a damaged one.
    #[inline]
    pub fn of(record: &Record<'_>) -> Option<FunctionStep> {
        if !is_step(record.function) {
            return None;
        }
        let b = &mut ByteCursor::new(record.payload);
        let address = b.u64()?;
        let enters = record.function == define::ENTER;
        Some(FunctionStep::new(
            enters,
            address,
            b.u32()?,
            address & INLINED != 0,
        ))
    }

    /// The payload of its record.
    pub fn encode(&self) -> [u8; PAYLOAD] {
        let mut bytes = [0; PAYLOAD];
        let inlined = if self.inlined { INLINED } else { 0 };
        bytes[..8].copy_from_slice(&(self.address | inlined).to_ne_bytes());
        bytes[8..].copy_from_slice(&self.stack.to_ne_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_round_trip() {
        for enters in [true, false] {
            let step = FunctionStep::new(enters, 0x5555_1234_5678, 0xFFFF_0010, enters);
            let bytes = step.encode();
            let record = |payload| Record {
                function: if enters { define::ENTER } else { define::EXIT },
                in_place: false,
                start: 1,
                duration: 0,
                call: 0,
                code: 0,
                cpu: None,
                payload,
            };
            assert_eq!(FunctionStep::of(&record(&bytes)), Some(step));
            assert_eq!(FunctionStep::of(&record(&bytes[..11])), None);
            let other = Record {
                function: define::MODULE,
                ..record(&bytes)
            };
            assert_eq!(FunctionStep::of(&other), None);
        }
    }
}
