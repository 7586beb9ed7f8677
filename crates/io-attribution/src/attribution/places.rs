//! The files that own the bytes of a device, over time.
//!
//! A file system gives the space of a removed file to other files, so one place may have had several owners. An observation of a file's
//! extents is valid from the previous observation of the same place up to its own time. The last observation of a place is also
//! valid afterwards.

use crate::record::Actor;
use std::collections::BTreeMap;
use trace_model::hash::Map;

/// A file: device and inode.
pub(super) type Inode = (u64, u64);

/// The known owners of all places of all devices.
#[derive(Debug, Default)]
pub(super) struct DevicePlaces {
    /// Pieces of each device by their offset; they do not overlap.
    devices: Map<Actor, BTreeMap<u64, DevicePiece>>,
}

#[derive(Clone, Debug)]
struct DevicePiece {
    end: u64,
    /// In order of time.
    owners: Vec<Owner>,
}

#[derive(Clone, Copy, Debug)]
struct Owner {
    inode: Inode,
    /// Offset in the file minus offset on the device, modulo 2^64.
    shift: u64,
    /// Time of the last observation, ns.
    observed: i64,
}

impl DevicePlaces {
    /// Notes that `length` bytes of the file from `offset` on lie at `place` of the device, as observed at `observed` ns.
    /// Observations must come in order of time.
    pub fn observe(
        &mut self,
        actor: Actor,
        inode: Inode,
        (offset, place, length): (u64, u64, u64),
        observed: i64,
    ) {
        let end = place.saturating_add(length);
        let pieces = self.devices.entry(actor).or_default();
        cut(pieces, place);
        cut(pieces, end);
        let owner = Owner {
            inode,
            shift: offset.wrapping_sub(place),
            observed,
        };
        let mut gaps = Vec::new();
        let mut at = place;
        for (&start, piece) in pieces.range_mut(place..end) {
            if at < start {
                gaps.push((at, start));
            }
            at = piece.end;
            match piece.owners.last_mut() {
                Some(last) if (last.inode, last.shift) == (inode, owner.shift) => {
                    last.observed = observed
                }
                _ => piece.owners.push(owner),
            }
        }
        if at < end {
            gaps.push((at, end));
        }
        for (start, end) in gaps {
            let owners = vec![owner];
            pieces.insert(start, DevicePiece { end, owners });
        }
    }

    /// Files whose bytes lie between two offsets of a device at time `ns`, each with its range of bytes in the file.
    pub fn files(&self, actor: Actor, start: u64, end: u64, ns: i64) -> Vec<(Inode, (u64, u64))> {
        let Some(pieces) = self.devices.get(&actor) else {
            return Vec::new();
        };
        let before = pieces.range(..start).next_back();
        let mut files: Vec<(Inode, (u64, u64))> = Vec::new();
        for (&at, piece) in before.into_iter().chain(pieces.range(start..end)) {
            let (from, to) = (start.max(at), end.min(piece.end));
            let next = piece.owners.iter().find(|owner| owner.observed >= ns);
            let Some(owner) = next.or(piece.owners.last()).filter(|_| from < to) else {
                continue;
            };
            let range = (from.wrapping_add(owner.shift), to.wrapping_add(owner.shift));
            match files.last_mut() {
                Some((inode, known)) if *inode == owner.inode && known.1 == range.0 => {
                    known.1 = range.1;
                }
                _ => files.push((owner.inode, range)),
            }
        }
        files
    }
}

/// Cuts the piece that reaches over this place in two.
fn cut(pieces: &mut BTreeMap<u64, DevicePiece>, at: u64) {
    if let Some((_, piece)) = pieces.range_mut(..at).next_back()
        && piece.end > at
    {
        let behind = piece.clone();
        piece.end = at;
        pieces.insert(at, behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DISK: Actor = Actor::Device(0);
    const A: Inode = (1, 1);
    const B: Inode = (1, 2);

    #[test]
    fn a_place_belongs_to_one_file_after_the_other() {
        let mut places = DevicePlaces::default();
        places.observe(DISK, A, (0, 1000, 100), 10);
        places.observe(DISK, A, (0, 1000, 100), 20);
        places.observe(DISK, A, (500, 2000, 100), 20);
        places.observe(DISK, B, (0, 1050, 100), 30);
        assert_eq!(
            places.files(DISK, 900, 3000, 15),
            [(A, (0, 100)), (B, (50, 100)), (A, (500, 600))]
        );
        assert_eq!(
            places.files(DISK, 1040, 1060, 25),
            [(A, (40, 50)), (B, (0, 10))]
        );
        assert_eq!(
            places.files(DISK, 1040, 1060, 99),
            [(A, (40, 50)), (B, (0, 10))]
        );
        assert_eq!(places.files(Actor::Device(1), 0, 3000, 15), []);
    }

    proptest! {
        /// As byte by byte.
        #[test]
        fn bytes(
            observed in prop::collection::vec((0..3u64, 0..50u64, 0..100u64, 0..40u64), 0..12),
            (start, length, ns) in (0..120u64, 0..60u64, 0..14i64),
        ) {
            let mut places = DevicePlaces::default();
            for (t, &(inode, offset, place, length)) in observed.iter().enumerate() {
                places.observe(DISK, (0, inode), (offset, place, length), t as i64);
            }
            let mut expected = Vec::new();
            for byte in start..start + length {
                let mut owners = observed.iter().enumerate().filter(|(_, (_, _, place, length))| {
                    (*place..place + length).contains(&byte)
                });
                let next = owners.clone().find(|(t, _)| *t as i64 >= ns);
                // Two equal observations in a row count from the first one on, so look for the owner at the later one, too.
                let owner = next.or_else(|| owners.next_back());
                if let Some((_, (inode, offset, place, _))) = owner {
                    expected.push(((0, *inode), byte - place + offset));
                }
            }
            let found: Vec<(Inode, u64)> = places
                .files(DISK, start, start + length, ns)
                .into_iter()
                .flat_map(|(inode, (from, to))| (from..to).map(move |at| (inode, at)))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
