//! Makes an annotation file of a CLOG2 file, in one pass, with the memory that a conversion takes.
//!
//! It is the conversion to SLOG2, with two differences where leaves are concerned: its drawables count for its size and
//! its previews but are not written, and the stretch of records that it was made of is. These stretches lie end to end:
//! a leaf's ends behind the record that completed the last drawable before the leaf was closed. What begins in one
//! stretch and ends in a later one is noted there, because the end finds no beginning in its own.

use std::io::{Seek, Write};

use super::super::convert::{
    ConvertError, ConvertOptions, DrawIntoTree, FromClog2, Slog2Conversion, for_each_record,
};
use super::super::error::Slog2Error;
use super::super::tree_builder::{DrawablePlacement, FileDrawable, TreeBuilder, WrittenTree};
use super::layout::{Annotation, Companion, EldersWriter, EventMeaning, LeafRecord, hash};
use crate::clog2::{self, Endian, PREAMBLE_SIZE};
use trace_model::Drawable as NewDrawable;

/// Makes the annotation file of a merged CLOG2 file, given all its bytes and its name, and gives the output back.
///
/// # Errors
/// The errors of [`convert`](super::super::convert()).
pub fn annotate<W: Write + Seek + Send + 'static>(
    clog2: &[u8],
    name: &str,
    out: W,
    options: ConvertOptions,
) -> Result<(W, Slog2Conversion), ConvertError> {
    annotate_with_progress(clog2, name, out, options, |_| ())
}

/// Converts and annotates as [`annotate`] does, calling `progress` with the number of bytes of the CLOG2 file that are done, after every block.
///
/// # Errors
/// The errors of [`convert`](super::super::convert()).
pub fn annotate_with_progress<W: Write + Seek + Send + 'static>(
    clog2: &[u8],
    name: &str,
    out: W,
    options: ConvertOptions,
    progress: impl FnMut(u64),
) -> Result<(W, Slog2Conversion), ConvertError> {
    let reader = clog2::Clog2Reader::new(clog2)?;
    if reader.preamble().endian == Endian::Little {
        return Err(ConvertError::LittleEndian);
    }
    let leaves = Leaves {
        clog2,
        record: 0..0,
        begin: PREAMBLE_SIZE,
        end: PREAMBLE_SIZE,
        before: 0,
        elders: EldersWriter::default(),
        primitive: Vec::new(),
    };
    let converter = FromClog2::drawing(leaves, out, reader.preamble(), options)?;
    let mut converter = converter.on_thread();
    let mut meanings: Vec<EventMeaning> = Vec::new();
    let mut push = |offset: usize, record: &[u8]| {
        converter.draw_mut().record = offset..offset + record.len();
        converter.push_encoded(record)?;
        let known = meanings.len();
        if converter.bindings().len() > known {
            let from = offset as u64;
            let new = converter.bindings()[known..].iter();
            meanings.extend(new.map(|&binding| EventMeaning { from, binding }));
        }
        Ok(())
    };
    if !for_each_record(clog2, reader.preamble(), &mut push, progress)? {
        // The reader knows best what is wrong, and where.
        for record in reader.raw_records() {
            record?;
        }
    }
    let annotation = Annotation {
        companion: Companion::of(name, clog2),
        meanings,
    };
    Ok(converter.finish_with(&annotation.encode())?)
}

/// The leaf that is open, and its stretch of records.
#[derive(Debug)]
struct Leaves<'a> {
    clog2: &'a [u8],
    /// The record that is being converted.
    record: std::ops::Range<usize>,
    /// Start of the stretch.
    begin: usize,
    /// Behind the record that completed the last drawable.
    end: usize,
    /// Number of drawables before the stretch: one that was born earlier began before it.
    before: u64,
    elders: EldersWriter,
    /// Scratch memory.
    primitive: Vec<u8>,
}

impl Leaves<'_> {
    fn leaf_record(&self) -> Vec<u8> {
        let records = self.clog2.get(self.begin..self.end).unwrap_or_default();
        let mut bytes = Vec::new();
        LeafRecord {
            offset: self.begin as u64,
            length: records.len() as u64,
            hash: hash(records),
            elders: &self.elders.bytes,
        }
        .encode(&mut bytes);
        bytes
    }
}

impl<W: Write + Seek> DrawIntoTree<W> for Leaves<'_> {
    fn draw(
        &mut self,
        builder: &mut TreeBuilder<W>,
        drawable: &NewDrawable<'_>,
        born: u64,
    ) -> Result<(), Slog2Error> {
        if builder.must_switch(drawable)? {
            builder.switch_with(self.leaf_record())?;
            self.begin = self.end;
            self.before = builder.count();
            self.elders.clear();
        }
        let mut is_leaf = false;
        builder.put(drawable, |depth| {
            is_leaf = depth == 0;
            if is_leaf {
                DrawablePlacement::Elsewhere
            } else {
                DrawablePlacement::Listed
            }
        })?;
        if born < self.before {
            let primitive = is_leaf.then(|| {
                self.primitive.clear();
                drawable.encode(&mut self.primitive);
                self.primitive.as_slice()
            });
            let place = (self.record.start - self.begin) as u64;
            self.elders.push(place, primitive);
        }
        self.end = self.record.end;
        Ok(())
    }

    fn close(&mut self, builder: TreeBuilder<W>) -> Result<WrittenTree<W>, Slog2Error> {
        builder.close_with(self.leaf_record())
    }
}
