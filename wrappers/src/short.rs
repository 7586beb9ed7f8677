//! Short form of the arguments in records of receiving calls ([`ShortForm`]): what nearly every such call can be told by, in two
//! thirds of the bytes.

use crate::carrier::Carrier;
use crate::kind::{Direction, Kind};

/// Form of one argument in the short form of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShortPlace {
    /// Not in the record: data.
    Nothing,
    /// 4-byte integer.
    I32,
    /// Integer from 0 to 65 535 in 2 bytes.
    U16,
    /// Handle, as wide as the ABI family's.
    Handle,
    /// Not in the record: equal to the argument with this index, which stands before it.
    SameAs(usize),
    /// Status of a message that came from the rank and with the tag that the call named: its size in bytes, below 2^32, as 4 bytes. It
    /// was not cancelled, and has no error.
    ReceivedBytes {
        /// Index of the argument that names the rank.
        source: usize,
        /// Index of the argument that names the tag.
        tag: usize,
    },
}

/// The short form of a function's records. A record has it if its arguments take fewer bytes than the full form takes at least.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortForm {
    /// Form of each argument, in the order of the signature.
    pub places: Vec<ShortPlace>,
    /// Numbers of 4-byte integers and of handles in the full form.
    full: (usize, usize),
}

impl ShortForm {
    /// The short form for a function with these parameters: form, kind and direction of each. It has a full form only (`None`) unless
    /// it receives a message from a rank and with a tag that it names, and gives a status.
    pub(crate) fn new(params: &[(Carrier, Kind, Direction)]) -> Option<ShortForm> {
        let kinds: Vec<Kind> = params.iter().map(|p| p.1).collect();
        let last = |kind| kinds.iter().rposition(|&k| k == kind);
        let (source, tag) = (last(Kind::Source)?, last(Kind::Tag)?);
        let (mut full, mut places) = ((0, 0), Vec::new());
        for (i, &(carrier, kind, direction)) in params.iter().enumerate() {
            let former = || kinds[..i].iter().position(|&k| k == kind);
            places.push(match carrier {
                Carrier::Nothing => ShortPlace::Nothing,
                Carrier::Status => ShortPlace::ReceivedBytes { source, tag },
                _ if direction != Direction::In => return None,
                Carrier::Handle => {
                    full.1 += 1;
                    former().map_or(ShortPlace::Handle, ShortPlace::SameAs)
                }
                Carrier::I32 => {
                    full.0 += 1;
                    match kind {
                        Kind::Dest | Kind::Source | Kind::Tag => ShortPlace::U16,
                        _ => former().map_or(ShortPlace::I32, ShortPlace::SameAs),
                    }
                }
                _ => return None,
            });
        }
        let form = ShortForm { places, full };
        let gives_status = kinds.contains(&Kind::Status);
        // With padding to 4 bytes; otherwise nobody could tell the two forms apart.
        let differs = |handle| form.bytes(handle).next_multiple_of(4) < form.full_bytes(handle);
        (gives_status && differs(4) && differs(6)).then_some(form)
    }

    /// Bytes that the full form takes at least, with handles of `handle` bytes.
    pub fn full_bytes(&self, handle: usize) -> usize {
        let (integers, handles) = self.full;
        4 * integers + handle * handles + 1
    }

    /// Bytes that the short form takes, with handles of `handle` bytes.
    pub fn bytes(&self, handle: usize) -> usize {
        let bytes = |place: &ShortPlace| match place {
            ShortPlace::Nothing | ShortPlace::SameAs(_) => 0,
            ShortPlace::U16 => 2,
            ShortPlace::I32 | ShortPlace::ReceivedBytes { .. } => 4,
            ShortPlace::Handle => handle,
        };
        self.places.iter().map(bytes).sum()
    }
}
