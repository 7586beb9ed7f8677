//! Global ids of communicators (`spec/clog2.md` section 5.2).

use super::bytes::{Endian, get_f64, get_i32};
use super::text::until_nul;
use std::fmt;

/// The global id of a communicator, 32 bytes in the byte order of a merged file (big-endian).
///
/// Two communicators are the same if all bytes are. Layout (`spec/clog2.md` section 5.2): a random int, the unshifted
/// `MPI_Wtime` of the creation in seconds, 20 bytes of processor name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Gid(pub [u8; 32]);

impl Gid {
    /// The GID of the null body.
    pub const NULL: Gid = Gid([0; 32]);

    /// Puts a GID together; the processor name is cut to 20 bytes.
    pub fn new(random: i32, time: f64, processor: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes[0..4].copy_from_slice(&random.to_be_bytes());
        bytes[4..12].copy_from_slice(&time.to_be_bytes());
        for (to, from) in bytes[12..].iter_mut().zip(processor) {
            *to = *from;
        }
        Gid(bytes)
    }

    /// Takes a GID from a file of the given byte order.
    pub(crate) fn decode(mut bytes: [u8; 32], endian: Endian) -> Self {
        if endian == Endian::Little {
            bytes[0..4].reverse();
            bytes[4..12].reverse();
        }
        Gid(bytes)
    }

    /// The random number.
    pub fn random(&self) -> i32 {
        get_i32(&self.0, 0, Endian::Big)
    }

    /// Time of creation in seconds, of the clock of the process that drew the GID.
    pub fn time(&self) -> f64 {
        get_f64(&self.0, 4, Endian::Big)
    }

    /// The processor name's 20 bytes, zero padded.
    pub fn processor_field(&self) -> &[u8] {
        &self.0[12..]
    }

    /// The processor name.
    pub fn processor(&self) -> &[u8] {
        until_nul(&self.0[12..])
    }
}

impl fmt::Debug for Gid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Gid({}-{:?}-{})",
            self.random(),
            self.time(),
            String::from_utf8_lossy(self.processor())
        )
    }
}
