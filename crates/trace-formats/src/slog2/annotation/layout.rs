//! The bytes that an annotation file has besides those of every SLOG2 file: which CLOG2 file it belongs to, and where the
//! records of a leaf are.

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::super::convert::{Binding, EventRole};
use super::super::cursor::Slog2Cursor;
use super::super::encode;
use super::super::error::{Slog2Error, Slog2ErrorKind};
use trace_model::Text;

/// First bytes of the annotation part.
const MAGIC: &str = "SLOG2 ANNOTATION 1";
/// Bytes of a binding: offset, event number, role, category.
const BINDING_SIZE: usize = 17;
/// Bytes of the beginning and of the end of the CLOG2 file that the hash covers. Leaves have hashes of their own, so that
/// what is drawn is always checked, and opening takes the same time for files of any size.
const HASHED: usize = 64 << 10;

/// The CLOG2 file that an annotation file belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Companion {
    /// Name of the SLOG2 file, without directories: it should stand beside the annotation file.
    pub name: Text,
    /// Size of the SLOG2 file in bytes.
    pub size: u64,
    /// Hash of its beginning and its end.
    pub(super) hash: u64,
}

impl Companion {
    /// The file with these bytes.
    pub(super) fn of(name: &str, clog2: &[u8]) -> Self {
        Companion {
            name: name.into(),
            size: clog2.len() as u64,
            hash: hash_of_file(clog2),
        }
    }

    /// Checks that these are the bytes of that file, as far as size and hash tell.
    pub(super) fn check(&self, clog2: &[u8], at: u64) -> Result<(), Slog2Error> {
        let found = clog2.len() as u64;
        let expected = self.size;
        if found != expected {
            let what = "size";
            let kind = Slog2ErrorKind::OtherClog2 {
                what,
                expected,
                found,
            };
            return Err(Slog2Error::new(at, kind));
        }
        let found = hash_of_file(clog2);
        let expected = self.hash;
        if found != expected {
            let what = "hash of its first and last 64 KiB";
            let kind = Slog2ErrorKind::OtherClog2 {
                what,
                expected,
                found,
            };
            return Err(Slog2Error::new(at, kind));
        }
        Ok(())
    }
}

fn hash_of_file(clog2: &[u8]) -> u64 {
    if clog2.len() <= 2 * HASHED {
        return xxh3_64(clog2);
    }
    let mut hash = Xxh3::new();
    hash.update(&clog2[..HASHED]);
    hash.update(&clog2[clog2.len() - HASHED..]);
    hash.digest()
}

/// Meaning of an event number in the records after an offset of the CLOG2 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventMeaning {
    pub(super) from: u64,
    pub(super) binding: Binding,
}

/// The annotation part, to which the header points.
#[derive(Clone, Debug)]
pub(super) struct Annotation {
    pub(super) companion: Companion,
    /// By ascending offset.
    pub(super) meanings: Vec<EventMeaning>,
}

impl Annotation {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        encode::text(&mut out, &MAGIC.into());
        encode::text(&mut out, &self.companion.name);
        out.extend_from_slice(&self.companion.size.to_be_bytes());
        out.extend_from_slice(&self.companion.hash.to_be_bytes());
        encode::write_count(&mut out, self.meanings.len());
        for EventMeaning { from, binding } in &self.meanings {
            out.extend_from_slice(&from.to_be_bytes());
            out.extend_from_slice(&binding.etype.to_be_bytes());
            out.push(match binding.role {
                EventRole::Start => 0,
                EventRole::End => 1,
                EventRole::Solo => 2,
            });
            out.extend_from_slice(&binding.category.to_be_bytes());
        }
        out
    }

    /// Reads the companion only.
    pub(super) fn companion(part: &mut Slog2Cursor<'_>) -> Result<Companion, Slog2Error> {
        let at = part.offset();
        if part.text("annotations")?.to_str() != MAGIC {
            return Err(Slog2Error::new(at, Slog2ErrorKind::NoAnnotation));
        }
        Ok(Companion {
            name: part.text("name of the CLOG2 file")?,
            size: part.i64("size of the CLOG2 file")? as u64,
            hash: part.i64("hash of the CLOG2 file")? as u64,
        })
    }

    pub(super) fn decode(part: &mut Slog2Cursor<'_>) -> Result<Self, Slog2Error> {
        let companion = Self::companion(part)?;
        let what = "meanings of event numbers";
        let count = part.count(BINDING_SIZE, what)?;
        let mut meanings = Vec::with_capacity(count);
        for _ in 0..count {
            let from = part.i64(what)? as u64;
            let etype = part.i32(what)?;
            let role = match part.u8(what)? {
                0 => EventRole::Start,
                1 => EventRole::End,
                2 => EventRole::Solo,
                found => return Err(part.error(Slog2ErrorKind::Role(found))),
            };
            let category = part.i32(what)?;
            let binding = Binding {
                etype,
                role,
                category,
            };
            meanings.push(EventMeaning { from, binding });
        }
        part.finish("annotations")?;
        Ok(Annotation {
            companion,
            meanings,
        })
    }
}

/// Hash of the records of a leaf.
pub(super) fn hash(records: &[u8]) -> u64 {
    xxh3_64(records)
}

/// Places of the records of a leaf, and which of them complete drawables that began before: written after the leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeafRecord<'a> {
    /// Offset of the first record in the CLOG2 file.
    pub(super) offset: u64,
    /// Bytes up to the end of the last one.
    pub(super) length: u64,
    /// Hash of these bytes.
    pub(super) hash: u64,
    /// The completing records, see [`EldersWriter`].
    pub(super) elders: &'a [u8],
}

impl<'a> LeafRecord<'a> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.offset.to_be_bytes());
        out.extend_from_slice(&self.length.to_be_bytes());
        out.extend_from_slice(&self.hash.to_be_bytes());
        encode::write_count(out, self.elders.len());
        out.extend_from_slice(self.elders);
    }

    pub(super) fn decode(cursor: &mut Slog2Cursor<'a>) -> Result<Self, Slog2Error> {
        let what = "record of a leaf";
        Ok(LeafRecord {
            offset: cursor.i64(what)? as u64,
            length: cursor.i64(what)? as u64,
            hash: cursor.i64(what)? as u64,
            elders: {
                let size = cursor.count(1, what)?;
                cursor.bytes(size, what)?
            },
        })
    }
}

/// Writes the list of [`Elder`]s of a leaf.
#[derive(Debug, Default)]
pub(super) struct EldersWriter {
    pub(super) bytes: Vec<u8>,
    last: u64,
}

impl EldersWriter {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.last = 0;
    }

    /// Adds the completing record at this place in the leaf's records; places must ascend. `primitive` is the drawable if
    /// the leaf holds it.
    pub(super) fn push(&mut self, place: u64, primitive: Option<&[u8]>) {
        let step = place.wrapping_sub(self.last);
        self.last = place;
        let mut left = step << 1 | u64::from(primitive.is_some());
        while left >= 0x80 {
            self.bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        self.bytes.push(left as u8);
        self.bytes.extend_from_slice(primitive.unwrap_or_default());
    }
}

/// A record that completes a drawable whose first record stands before those of the leaf. Nearly always the drawable
/// belongs to a node above, which has it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elder {
    /// Place of the record in those of the leaf.
    pub(super) place: u64,
    /// Whether the drawable is the leaf's all the same; its bytes follow in the list.
    pub(super) is_here: bool,
}

/// Reads the next of the list; `last` is the place of the one before.
pub(super) fn next_elder(
    cursor: &mut Slog2Cursor<'_>,
    last: u64,
) -> Result<Option<Elder>, Slog2Error> {
    if cursor.left() == 0 {
        return Ok(None);
    }
    let mut number = 0;
    for shift in (0..63).step_by(7) {
        let byte = cursor.u8("record of a leaf")?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    Ok(Some(Elder {
        place: last.wrapping_add(number >> 1),
        is_here: number & 1 == 1,
    }))
}
