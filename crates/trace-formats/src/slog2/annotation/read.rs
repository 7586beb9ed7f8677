//! Reads an annotation file with the CLOG2 file beside it.

use std::io::{Seek, Write};

use super::super::convert::{ConvertError, EventRole, LineNumbering, Meeting, RecordMatching};
use super::super::cursor::Slog2Cursor;
use super::super::encode::write_count;
use super::super::error::{Slog2Error, Slog2ErrorKind};
use super::super::node::{Primitive, Slog2Node, Stub};
use super::super::read::Slog2Reader;
use super::super::rewrite::Relocation;
use super::super::tree_builder::Lists;
use super::super::types::{DirEntry, FileBlockPtr, Slog2Header};
use super::layout::{Annotation, Companion, LeafRecord, hash, next_elder};
use crate::clog2::{
    self, Clog2Body, Clog2Msg, Clog2Record, Clog2RecordHeader, Endian, Preamble, peek_rectype,
    peek_size, rectype,
};
use trace_model::Drawable as NewDrawable;
use trace_model::hash::Map as HashMap;
use trace_model::{Topology, Vertex};

/// Bytes of a leaf without drawables: its stub and three counts.
const EMPTY_LEAF_SIZE: i32 = 46;

/// Meanings of an event number from offsets of the CLOG2 file on: role and category.
type Meanings = Vec<(u64, EventRole, i32)>;

/// An annotation file and its CLOG2 file.
#[derive(Debug)]
pub struct Annotated<'a> {
    tree: Slog2Reader<'a>,
    slog2: &'a [u8],
    clog2: &'a [u8],
    preamble: Preamble,
    companion: Companion,
    /// By event number; each by ascending offset.
    meanings: HashMap<i32, Meanings>,
}

impl<'a> Annotated<'a> {
    /// Opens an annotation file, given all bytes of it and of the CLOG2 file. Takes the same time for files of any size.
    ///
    /// # Errors
    /// [`Slog2ErrorKind::NoAnnotation`] if the first is a plain SLOG2 file, [`Slog2ErrorKind::OtherClog2`] if the second is not the
    /// one that it was made of; what is damaged in either.
    pub fn new(slog2: &'a [u8], clog2: &'a [u8]) -> Result<Self, ConvertError> {
        let tree = Slog2Reader::new(slog2)?;
        let ptr = tree.header().annotations;
        let mut part = annotation_part(&tree)?;
        let Annotation {
            companion,
            meanings: list,
        } = Annotation::decode(&mut part)?;
        companion.check(clog2, ptr.offset as u64)?;
        let reader = clog2::Clog2Reader::new(clog2)?;
        if reader.preamble().endian == Endian::Little {
            return Err(ConvertError::LittleEndian);
        }
        let mut meanings: HashMap<i32, Meanings> = HashMap::default();
        for meaning in list {
            let binding = meaning.binding;
            let entry = meanings.entry(binding.etype).or_default();
            entry.push((meaning.from, binding.role, binding.category));
        }
        Ok(Annotated {
            tree,
            slog2,
            clog2,
            preamble: reader.preamble().clone(),
            companion,
            meanings,
        })
    }

    /// The CLOG2 file that an annotation file needs; `None` if the file is a plain SLOG2 file.
    ///
    /// # Errors
    /// If the part that tells is damaged.
    pub fn companion_of(tree: &Slog2Reader<'_>) -> Result<Option<Companion>, Slog2Error> {
        if tree.header().annotations.is_null() {
            return Ok(None);
        }
        match Annotation::companion(&mut annotation_part(tree)?) {
            Ok(companion) => Ok(Some(companion)),
            // Something else that uses the pointer.
            Err(Slog2Error {
                kind: Slog2ErrorKind::NoAnnotation,
                ..
            }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The annotation file as it stands, with empty leaves.
    pub fn tree(&self) -> &Slog2Reader<'a> {
        &self.tree
    }

    /// The CLOG2 file.
    pub fn companion(&self) -> &Companion {
        &self.companion
    }

    /// The bytes of a node, those of a leaf with all its drawables. What differs from the full SLOG2 file are pointers
    /// only, since they lead to places in this file.
    ///
    /// # Errors
    /// [`Slog2ErrorKind::OtherClog2`] if the records of the leaf are not those of the file that the annotation was made of.
    pub fn node_bytes(&self, ptr: FileBlockPtr) -> Result<Vec<u8>, ConvertError> {
        let node = self.tree.node(ptr)?;
        if node.stub.id.depth == 0 {
            return self.leaf_bytes(&node);
        }
        let mut out = Vec::new();
        node.write(&mut out);
        Ok(out)
    }

    /// Reads what [`Annotated::node_bytes`] gave.
    ///
    /// # Errors
    /// If the bytes are something else.
    pub fn read_node<'n>(&self, bytes: &'n [u8]) -> Result<Slog2Node<'n>, Slog2Error> {
        let mut cursor = Slog2Cursor::new(bytes, 0);
        let node = Slog2Node::read(&mut cursor, self.tree.layout())?;
        cursor.finish("tree node")?;
        Ok(node)
    }

    /// Writes the full SLOG2 file, which has the bytes that a conversion of the CLOG2 file gives.
    ///
    /// # Errors
    /// The files are damaged, or the output cannot be written.
    pub fn expand<W: Write + Seek>(&self, out: W) -> Result<(W, Slog2Header), ConvertError> {
        let mut nodes: Vec<DirEntry> = self.tree.whole_directory()?.iter().collect();
        nodes.sort_by_key(|entry| entry.ptr.offset);
        let mut relocation = Relocation::new(out, self.tree.layout())?;
        // Each record belongs to one leaf, so all leaves together take no longer than a conversion.
        let mut records = 0u64;
        for entry in nodes {
            if entry.id.depth == 0 {
                let (record, at) = self.leaf_record(entry.ptr)?;
                records = records.saturating_add(record.length);
                let most = self.clog2.len() as u64;
                if records > most {
                    let found = records;
                    return Err(
                        Slog2Error::new(at, Slog2ErrorKind::LeafRecords { found, most }).into(),
                    );
                }
            }
            let bytes = self.node_bytes(entry.ptr)?;
            relocation.put(entry.ptr, self.read_node(&bytes)?)?;
        }
        Ok(relocation.finish(&self.tree)?)
    }

    fn leaf_bytes(&self, leaf: &Slog2Node<'_>) -> Result<Vec<u8>, ConvertError> {
        let Stub { ptr, id, bounds } = leaf.stub;
        if !leaf.nestless.is_empty() || !leaf.nestable.is_empty() || ptr.size != EMPTY_LEAF_SIZE {
            return Err(Slog2Error::new(ptr.offset as u64, Slog2ErrorKind::LeafNotEmpty).into());
        }
        let (record, at) = self.leaf_record(ptr)?;
        let earliest = match id.xpos {
            0 => None,
            _ => Some(bounds.earliest),
        };
        let mut out = Vec::new();
        leaf.stub.write(&mut out);
        Replay {
            annotated: self,
            lines: LineNumbering::new(&self.preamble),
            matching: RecordMatching::new(),
            earliest,
            lists: Lists::default(),
        }
        .run(&record, at)?
        .write(&mut out);
        write_count(&mut out, 0);
        Ok(out)
    }

    /// The record after a leaf, and its offset.
    fn leaf_record(&self, ptr: FileBlockPtr) -> Result<(LeafRecord<'a>, u64), Slog2Error> {
        let behind = usize::try_from(ptr.offset)
            .ok()
            .and_then(|at| at.checked_add(EMPTY_LEAF_SIZE as usize))
            .unwrap_or(usize::MAX);
        let rest = self.slog2.get(behind..).unwrap_or_default();
        let at = behind as u64;
        Ok((LeafRecord::decode(&mut Slog2Cursor::new(rest, at))?, at))
    }

    /// Meaning of an event at this offset.
    fn meaning(&self, etype: i32, offset: u64) -> Option<(EventRole, i32)> {
        let list = self.meanings.get(&etype)?;
        let after = list.partition_point(|&(from, ..)| from <= offset);
        let &(_, role, category) = list.get(after.checked_sub(1)?)?;
        Some((role, category))
    }
}

fn annotation_part<'a>(tree: &Slog2Reader<'a>) -> Result<Slog2Cursor<'a>, Slog2Error> {
    let ptr = tree.header().annotations;
    if ptr.is_null() {
        return Err(Slog2Error::new(0, Slog2ErrorKind::NoAnnotation));
    }
    tree.part(ptr, "annotations")
}

/// Converts the records of one leaf once more.
struct Replay<'r> {
    annotated: &'r Annotated<'r>,
    lines: LineNumbering,
    matching: RecordMatching,
    /// Start of the leaf: drawables that start earlier are in a node above. `None` for the first leaf, which holds all there
    /// was when it was written.
    earliest: Option<f64>,
    lists: Lists,
}

impl Replay<'_> {
    fn run(mut self, leaf: &LeafRecord<'_>, at: u64) -> Result<Lists, ConvertError> {
        let clog2 = self.annotated.clog2;
        let range = usize::try_from(leaf.offset)
            .ok()
            .zip(usize::try_from(leaf.length).ok())
            .and_then(|(offset, length)| clog2.get(offset..offset.checked_add(length)?));
        let Some(records) = range else {
            let kind = Slog2ErrorKind::LeafRange {
                offset: leaf.offset,
                length: leaf.length,
            };
            return Err(Slog2Error::new(at, kind).into());
        };
        let found = hash(records);
        if found != leaf.hash {
            let kind = Slog2ErrorKind::OtherClog2 {
                what: "hash of the records of a leaf",
                expected: leaf.hash,
                found,
            };
            return Err(Slog2Error::new(at, kind).into());
        }
        // Behind offset, length, hash and the list's size.
        let mut elders = Slog2Cursor::new(leaf.elders, at + 28);
        let mut elder = next_elder(&mut elders, 0)?;
        let start = leaf.offset as usize;
        let mut offset = start;
        let end = start + records.len();
        while offset < end {
            let bytes = &clog2[offset..end];
            let size = peek_size(bytes);
            if size == 0 {
                // Decoding it says what is wrong.
                let error = match Clog2Record::decode(bytes, Endian::Big) {
                    Err(error) => error,
                    Ok(_) => clog2::Clog2Error::new(0, clog2::Clog2ErrorKind::NoEndLog),
                };
                return Err(error.moved(offset as u64).into());
            }
            match elder {
                Some(found) if found.place == (offset - start) as u64 => {
                    if found.is_here {
                        let topology = match peek_rectype(bytes) {
                            rectype::MSGEVT => Topology::Arrow,
                            _ => Topology::State,
                        };
                        self.take_elder(&Primitive::read(&mut elders)?, topology);
                    }
                    elder = next_elder(&mut elders, found.place)?;
                }
                _ => self.push(&bytes[..size], offset as u64)?,
            }
            offset = match peek_rectype(bytes) {
                rectype::ENDBLOCK => self.next_block(offset),
                _ => offset + size,
            };
        }
        if elder.is_some() {
            return Err(elders.error(Slog2ErrorKind::LeafPlaces).into());
        }
        // A leaf is closed before it gets larger, and a larger drawable is alone in it.
        let most = self.annotated.tree.header().leaf_byte_size.max(1) as usize + 1;
        let found = self.lists.byte_size();
        if found > most && self.lists.count() > 1 {
            let (found, most) = (found as u64, most as u64);
            return Err(Slog2Error::new(at, Slog2ErrorKind::LeafRecords { found, most }).into());
        }
        Ok(self.lists)
    }

    /// Offset of the block behind the one with this offset.
    fn next_block(&self, offset: usize) -> usize {
        let size = (self.annotated.preamble.block_size as usize).max(clog2::HEADER_SIZE);
        let blocks = offset.saturating_sub(clog2::PREAMBLE_SIZE) / size + 1;
        blocks
            .saturating_mul(size)
            .saturating_add(clog2::PREAMBLE_SIZE)
    }

    /// Takes a drawable that is the leaf's though it began before its records.
    fn take_elder(&mut self, primitive: &Primitive<'_>, topology: Topology) {
        let vertices: Vec<Vertex> = primitive.vertices().collect();
        self.lists.add(&NewDrawable {
            topology,
            category: primitive.category,
            info: primitive.info,
            vertices: &vertices,
        });
    }

    fn push(&mut self, bytes: &[u8], offset: u64) -> Result<(), ConvertError> {
        let record = match peek_rectype(bytes) {
            rectype::BAREEVT | rectype::CARGOEVT | rectype::MSGEVT => {
                Clog2Record::decode(bytes, Endian::Big).map_err(|error| error.moved(offset))?
            }
            _ => return Ok(()),
        };
        match &record.body {
            Clog2Body::Bare { etype } => self.event(&record.header, *etype, None, offset),
            Clog2Body::Cargo { etype, bytes } => {
                self.event(&record.header, *etype, Some(bytes), offset)
            }
            Clog2Body::Msg(msg) => self.message(&record.header, msg),
            _ => {}
        }
        Ok(())
    }

    fn event(
        &mut self,
        header: &Clog2RecordHeader,
        etype: i32,
        cargo: Option<&[u8; 32]>,
        offset: u64,
    ) {
        let Some((role, category)) = self.annotated.meaning(etype, offset) else {
            return;
        };
        let (line, time) = (self.lines.line(header), header.time);
        match role {
            EventRole::Start => {
                let kind = (etype, category as u32);
                self.matching.start(kind, line, time, cargo, 0);
            }
            EventRole::End => {
                if let Some(state) = self.matching.end(category as u32, line, time, cargo) {
                    self.draw(
                        Topology::State,
                        category,
                        state.info.bytes(),
                        &state.vertices,
                    );
                }
            }
            EventRole::Solo => {
                let info = cargo.map_or(&[][..], |bytes| bytes);
                self.draw(Topology::Event, category, info, &[Vertex { time, line }]);
            }
        }
    }

    fn message(&mut self, header: &Clog2RecordHeader, msg: &Clog2Msg) {
        if let Meeting::Complete(arrow) = self.matching.message(&self.lines, header, (msg, 0), 0) {
            const MESSAGE: i32 = 0;
            self.draw(Topology::Arrow, MESSAGE, &arrow.info, &arrow.vertices);
        }
    }

    fn draw(&mut self, topology: Topology, category: i32, info: &[u8], vertices: &[Vertex]) {
        let drawable = NewDrawable {
            topology,
            category,
            info,
            vertices,
        };
        // The rule of `spec/slog2.md` section 8.3.
        if self
            .earliest
            .is_none_or(|leaf| leaf <= drawable.bounds().earliest)
        {
            self.lists.add(&drawable);
        }
    }
}
