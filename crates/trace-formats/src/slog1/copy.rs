//! Copies a file: everything that has a meaning is read and written, everything else carried over.

use super::cursor::Slog1Cursor;
use super::error::{Slog1Error, Slog1ErrorKind};
use super::read::{FrameDirectory, Sector, Slog1Frame, Slog1Reader};
use super::types::{Display, HEADER_SIZE};
use std::io::Write;

/// Writes a file again: header, tables, directories, frames and statistics from what they mean, the bytes without a
/// meaning between and in them as they are.
///
/// Of an undamaged file of the original library the same bytes come out. It is the file that a program gets which reads
/// with this crate what it is given, and changes nothing.
pub fn copy(reader: &Slog1Reader<'_>, out: &mut impl Write) -> Result<(), Slog1Error> {
    let mut parts: Vec<(u64, FilePart<'_>)> = vec![(0, FilePart::Header)];
    let header = reader.header();
    parts.push((header.preview, FilePart::Preview));
    parts.push((header.threads, FilePart::Threads));
    parts.push((header.profile, FilePart::Profile));
    parts.push((header.definitions, FilePart::Definitions));
    parts.push((header.statistics, FilePart::Statistics));
    // A file that was not finished lacks parts.
    parts.retain(|(offset, part)| *offset != 0 || matches!(part, FilePart::Header));
    for directory in reader.directories() {
        let directory = directory?;
        parts.push((directory.offset, FilePart::Directory(directory)));
    }
    // Frames are many and in order; they are taken from their iterator as their turn comes.
    parts.sort_by_key(|&(offset, _)| std::cmp::Reverse(offset));
    let mut frames = reader.frames().peekable();
    let mut at = 0;
    let mut bytes = Vec::new();
    loop {
        let next_part = parts.last().map(|&(offset, _)| offset);
        let next_frame = match frames.peek() {
            Some(Ok(frame)) => Some(frame.entry.offset),
            Some(Err(_)) => Some(0),
            None => None,
        };
        bytes.clear();
        let offset = match (next_part, next_frame) {
            (None, None) => break,
            (Some(part), frame) if frame.is_none_or(|frame| part < frame) => {
                if let Some((_, part)) = parts.pop() {
                    part.encode(reader, &mut bytes)?;
                }
                part
            }
            _ => {
                let Some(frame) = frames.next().transpose()? else {
                    break;
                };
                encode_frame(&frame, &mut bytes)?;
                frame.entry.offset
            }
        };
        let between = reader.bytes().get(at as usize..offset as usize);
        let Some(between) = between else {
            return Err(Slog1Error::new(offset, Slog1ErrorKind::Overlap));
        };
        put(out, at, between)?;
        put(out, offset, &bytes)?;
        at = offset + bytes.len() as u64;
    }
    let rest = reader.bytes().get(at as usize..).unwrap_or_default();
    put(out, at, rest)
}

/// A part of a file that there is one of, or few.
enum FilePart<'a> {
    Header,
    Preview,
    Threads,
    Profile,
    Definitions,
    Directory(FrameDirectory<'a>),
    Statistics,
}

impl FilePart<'_> {
    fn encode(&self, reader: &Slog1Reader<'_>, out: &mut Vec<u8>) -> Result<(), Slog1Error> {
        match self {
            FilePart::Header => {
                out.extend_from_slice(&reader.header().encode());
                debug_assert_eq!(out.len(), HEADER_SIZE);
            }
            FilePart::Preview => {
                let preview = reader.preview()?;
                out.extend_from_slice(&(preview.len() as u32).to_be_bytes());
                out.extend_from_slice(preview);
            }
            FilePart::Threads => table(out, reader.threads()?, |thread, out| thread.encode(out))?,
            FilePart::Profile => profile(reader, out)?,
            FilePart::Definitions => {
                table(out, reader.definitions()?, |entry, out| entry.encode(out))?;
            }
            FilePart::Directory(directory) => {
                out.extend_from_slice(&directory.previous.to_be_bytes());
                out.extend_from_slice(&directory.next.to_be_bytes());
                out.extend_from_slice(&directory.used.to_be_bytes());
                for entry in directory.entries() {
                    entry.encode(out);
                }
            }
            FilePart::Statistics => match reader.statistics() {
                Ok(statistics) => {
                    statistics.encode_head(out);
                    for set in statistics.sets() {
                        set?.encode(out);
                    }
                }
                Err(error) if matches!(error.kind, Slog1ErrorKind::NoStatistics) => {}
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }
}

/// The number of entries, then the entries.
fn table<T>(
    out: &mut Vec<u8>,
    entries: impl Iterator<Item = Result<T, Slog1Error>>,
    encode: impl Fn(&T, &mut Vec<u8>),
) -> Result<(), Slog1Error> {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let mut count = 0u32;
    for entry in entries {
        encode(&entry?, out);
        count += 1;
    }
    out[start..start + 4].copy_from_slice(&count.to_be_bytes());
    Ok(())
}

/// The display profile.
fn profile(reader: &Slog1Reader<'_>, out: &mut Vec<u8>) -> Result<(), Slog1Error> {
    let mut from = Slog1Cursor::new(reader.bytes(), reader.header().profile, "display profile");
    let count = from.u32()?;
    out.extend_from_slice(&count.to_be_bytes());
    for _ in 0..count {
        let original = from.rest();
        Display::decode(&mut from)?.encode_like(original, out);
    }
    Ok(())
}

fn encode_frame(frame: &Slog1Frame<'_, '_>, out: &mut Vec<u8>) -> Result<(), Slog1Error> {
    frame.encode_header(out);
    for sector in Sector::ALL {
        for record in frame.records(sector) {
            record?.encode(out);
        }
    }
    Ok(())
}

fn put(out: &mut impl Write, offset: u64, bytes: &[u8]) -> Result<(), Slog1Error> {
    out.write_all(bytes)
        .map_err(|error| Slog1Error::io(offset, error))
}
