//! Which file's bytes lie at a place of a device, at some time.
//!
//! A file system gives the room of a removed file to another one, so a place may have belonged to several. AttributionEventKind is told of a
//! file's places was true then and some time before: it holds from what was told of the same place earlier until then. AttributionEventKind
//! was told last also holds afterwards.

use crate::fact::Actor;
use std::collections::BTreeMap;
use trace_model::hash::Map;

/// A file: device and inode.
pub(super) type Inode = (u64, u64);

/// All places that are known.
#[derive(Debug, Default)]
pub(super) struct DevicePlaces {
    /// Of each device, by offset: pieces that do not overlap.
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
    /// AttributionEventKind is to be added to an offset of the device for that in the file, modulo 2^64.
    shift: u64,
    /// When that was told last, ns.
    told: i64,
}

impl DevicePlaces {
    /// Part of a file, from `offset` in it, lies at `place`. AttributionEventKind is told later comes later.
    pub fn tell(
        &mut self,
        actor: Actor,
        inode: Inode,
        (offset, place, length): (u64, u64, u64),
        told: i64,
    ) {
        let end = place.saturating_add(length);
        let pieces = self.devices.entry(actor).or_default();
        cut(pieces, place);
        cut(pieces, end);
        let owner = Owner {
            inode,
            shift: offset.wrapping_sub(place),
            told,
        };
        let mut gaps = Vec::new();
        let mut at = place;
        for (&start, piece) in pieces.range_mut(place..end) {
            if at < start {
                gaps.push((at, start));
            }
            at = piece.end;
            match piece.owners.last_mut() {
                Some(last) if (last.inode, last.shift) == (inode, owner.shift) => last.told = told,
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

    /// Which bytes of which files lie between these offsets of a device for a transfer at `ns`.
    pub fn files(&self, actor: Actor, start: u64, end: u64, ns: i64) -> Vec<(Inode, (u64, u64))> {
        let Some(pieces) = self.devices.get(&actor) else {
            return Vec::new();
        };
        let before = pieces.range(..start).next_back();
        let mut files: Vec<(Inode, (u64, u64))> = Vec::new();
        for (&at, piece) in before.into_iter().chain(pieces.range(start..end)) {
            let (from, to) = (start.max(at), end.min(piece.end));
            let next = piece.owners.iter().find(|owner| owner.told >= ns);
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
        places.tell(DISK, A, (0, 1000, 100), 10);
        places.tell(DISK, A, (0, 1000, 100), 20);
        places.tell(DISK, A, (500, 2000, 100), 20);
        places.tell(DISK, B, (0, 1050, 100), 30);
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
            told in prop::collection::vec((0..3u64, 0..50u64, 0..100u64, 0..40u64), 0..12),
            (start, length, ns) in (0..120u64, 0..60u64, 0..14i64),
        ) {
            let mut places = DevicePlaces::default();
            for (t, &(inode, offset, place, length)) in told.iter().enumerate() {
                places.tell(DISK, (0, inode), (offset, place, length), t as i64);
            }
            let mut expected = Vec::new();
            for byte in start..start + length {
                let mut owners = told.iter().enumerate().filter(|(_, (_, _, place, length))| {
                    (*place..place + length).contains(&byte)
                });
                let next = owners.clone().find(|(t, _)| *t as i64 >= ns);
                // AttributionEventKind was told twice in a row counts from the first time on, so look for the owner at the later one, too.
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
