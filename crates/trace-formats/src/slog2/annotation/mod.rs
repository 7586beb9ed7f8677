//! SLOG2 annotation files: the tree without what its leaves hold, pointing into the CLOG2 file that it was made of
//! (SLOG2 paper, section 6.4). Most of a log is in the leaves, and is in the CLOG2 file already.
//!
//! Such a file is a valid SLOG2 file whose leaves are empty, so that every reader shows its previews. Behind each leaf
//! stands where its records are, and the header's pointer to annotations leads to the name, size and hash of the CLOG2
//! file. `spec/slog2-annotation.md` describes the bytes.
//!
//! * [`annotate`] makes one of a CLOG2 file.
//! * [`Annotated`] reads one with the CLOG2 file at hand: nodes as [`convert`](super::convert()) would have written them,
//!   or the whole file.
//!
//! ```
//! # use trace_formats::clog2::{Clog2Body, Preamble, Clog2Record, Clog2RecordHeader, Clog2Writer};
//! use trace_formats::slog2::{Annotated, NodeDrawable, annotate, convert};
//! # let mut clog2 = std::io::Cursor::new(Vec::new());
//! # let mut writer = Clog2Writer::new(&mut clog2, &Preamble::default())?;
//! # for (time, etype) in [(0.25, 48), (0.75, 49)] {
//! #     let header = Clog2RecordHeader { time, icomm: 0, rank: 0, thread: 0 };
//! #     writer.write(&Clog2Record { header, body: Clog2Body::Bare { etype } })?;
//! # }
//! # writer.finish(&Default::default(), &Preamble::default())?;
//! # let clog2 = clog2.into_inner();
//!
//! let out = std::io::Cursor::new(Vec::new());
//! let (slog2a, _) = annotate(&clog2, "log.clog2", out, Default::default())?;
//! let slog2a = slog2a.into_inner();
//!
//! let annotated = Annotated::new(&slog2a, &clog2)?;
//! let root = annotated.tree().root().unwrap();
//! let bytes = annotated.node_bytes(root.ptr)?;
//! assert_eq!(annotated.read_node(&bytes)?.nestable[0].bounds().duration(), 0.5);
//!
//! let (full, _) = convert(&clog2, std::io::Cursor::new(Vec::new()), Default::default())?;
//! let (expanded, _) = annotated.expand(std::io::Cursor::new(Vec::new()))?;
//! assert_eq!(expanded.into_inner(), full.into_inner());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod layout;
mod read;
mod write;

pub use layout::Companion;
pub use read::Annotated;
pub use write::{annotate, annotate_with_progress};
