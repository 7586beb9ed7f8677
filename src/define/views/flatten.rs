//! From a datatype to the pieces of memory it covers, in the order of its type map, by taking it apart with
//! MPI_Type_get_envelope and MPI_Type_get_contents.
//!
//! Repetitions of what is dense stay one piece, however many they are; anything of more than [`MOST_PIECES`] becomes its hull.
//! The work is bounded by that number and by the lengths of the lists that the program itself has passed.

use super::contents::{Combiner, Contents};
use crate::interpose::generated::{MPI_Count, MPI_Datatype, pmpi};

pub use super::contents::free;

/// Most pieces of a view; it has its hull instead if there were more.
const MOST_PIECES: usize = 1 << 16;
/// Most datatypes looked at for one view: a type may contain another one many times over.
const MOST_TYPES: usize = 1 << 16;
/// How deep datatypes may be nested.
const DEEPEST: usize = 200;

/// A datatype, flattened.
#[derive(Debug, Default)]
pub struct Flat {
    /// Offset and length of each piece, bytes.
    pub pieces: Vec<(i64, u64)>,
    /// Where the next copy begins, bytes.
    pub extent: i64,
    /// Bytes of data.
    pub size: u64,
    /// There is but one piece, from the first to the last byte of data.
    pub hull: bool,
}

/// Flattens a datatype that is valid.
pub fn flatten(datatype: MPI_Datatype) -> Flat {
    let mut flat = Flat {
        extent: extent(datatype),
        size: size(datatype),
        ..Flat::default()
    };
    let mut left = MOST_TYPES;
    match pieces(datatype, &mut left, DEEPEST) {
        Some(Pieces(pieces)) => flat.pieces = pieces,
        None => {
            flat.hull = true;
            let (first, length) = true_extent(datatype);
            flat.pieces.push((first, length));
        }
    }
    flat
}

/// MPI_Type_size, 0 if the library does not tell.
pub fn size(datatype: MPI_Datatype) -> u64 {
    let mut size: MPI_Count = 0;
    // SAFETY: a valid datatype.
    unsafe { pmpi::MPI_Type_size_x(datatype, &mut size) };
    u64::try_from(size).unwrap_or(0)
}

fn extent(datatype: MPI_Datatype) -> i64 {
    let (mut lb, mut extent): (MPI_Count, MPI_Count) = (0, 0);
    // SAFETY: a valid datatype.
    unsafe { pmpi::MPI_Type_get_extent_x(datatype, &mut lb, &mut extent) };
    extent
}

/// First byte of data, and number of bytes from there to the last one.
fn true_extent(datatype: MPI_Datatype) -> (i64, u64) {
    let (mut lb, mut extent): (MPI_Count, MPI_Count) = (0, 0);
    // SAFETY: a valid datatype.
    unsafe { pmpi::MPI_Type_get_true_extent_x(datatype, &mut lb, &mut extent) };
    (lb, u64::try_from(extent).unwrap_or(0))
}

/// Pieces being put together; `None` is told where there are too many.
#[derive(Clone, Debug, Default)]
struct Pieces(Vec<(i64, u64)>);

impl Pieces {
    /// Appends a piece, to the last one if it follows it.
    fn push(&mut self, offset: i64, length: u64) -> Option<()> {
        if length == 0 {
            return Some(());
        }
        if let Some((last, l)) = self.0.last_mut()
            && last.checked_add_unsigned(*l)? == offset
        {
            *l = l.checked_add(length)?;
            return Some(());
        }
        if self.0.len() == MOST_PIECES {
            return None;
        }
        self.0.push((offset, length));
        Some(())
    }

    /// Appends `count` copies of `element`, the first at `offset`, each `stride` behind the one before it.
    fn repeat(&mut self, element: &Pieces, offset: i64, count: i64, stride: i64) -> Option<()> {
        if let [(first, length)] = element.0[..]
            && count > 0
            && (count == 1 || i64::try_from(length) == Ok(stride))
        {
            let all = length.checked_mul(count as u64)?;
            return self.push(offset.checked_add(first)?, all);
        }
        if element.0.is_empty() {
            return Some(());
        }
        for i in 0..count {
            let at = offset.checked_add(i.checked_mul(stride)?)?;
            for &(first, length) in &element.0 {
                self.push(at.checked_add(first)?, length)?;
            }
        }
        Some(())
    }
}

/// The pieces of a datatype; `None` if there are too many of them or it cannot be taken apart.
fn pieces(datatype: MPI_Datatype, left: &mut usize, deep: usize) -> Option<Pieces> {
    *left = left.checked_sub(1)?;
    let deep = deep.checked_sub(1)?;
    let contents = Contents::of(datatype)?;
    let old = |i: usize| contents.types.get(i).copied();
    let mut out = Pieces::default();
    match &contents.combiner {
        Combiner::Named => named(&mut out, datatype)?,
        Combiner::Same => return pieces(old(0)?, left, deep),
        Combiner::Blocks(blocks) => {
            let element = pieces(old(0)?, left, deep)?;
            let extent = extent(old(0)?);
            for block in blocks.iter() {
                let at = block.offset.bytes(extent)?;
                out.repeat(&element, at, block.length, extent)?;
            }
        }
        Combiner::Vector {
            count,
            length,
            stride,
        } => {
            let element = pieces(old(0)?, left, deep)?;
            let extent = extent(old(0)?);
            let mut block = Pieces::default();
            block.repeat(&element, 0, *length, extent)?;
            out.repeat(&block, 0, *count, stride.bytes(extent)?)?;
        }
        Combiner::Struct(blocks) => {
            // Fields of the same type, one behind the other, are frequent.
            let mut last: Option<(MPI_Datatype, Pieces, i64)> = None;
            for (block, &field) in blocks.iter().zip(&contents.types) {
                if last.as_ref().is_none_or(|(of, ..)| *of != field) {
                    last = Some((field, pieces(field, left, deep)?, extent(field)));
                }
                if let Some((_, element, extent)) = &last {
                    let at = block.offset.bytes(*extent)?;
                    out.repeat(element, at, block.length, *extent)?;
                }
            }
        }
        Combiner::Grid(dimensions) => {
            let mut element = pieces(old(0)?, left, deep)?;
            let mut extent = extent(old(0)?);
            // From the fastest dimension to the slowest.
            for dimension in dimensions {
                let mut row = Pieces::default();
                for &(start, length) in &dimension.runs {
                    row.repeat(&element, start.checked_mul(extent)?, length, extent)?;
                }
                element = row;
                extent = extent.checked_mul(dimension.size)?;
            }
            out = element;
        }
        Combiner::ValueIndex => {
            let (_, all) = true_extent(datatype);
            let index = size(old(1)?);
            out.push(0, size(old(0)?))?;
            out.push(i64::try_from(all.checked_sub(index)?).ok()?, index)?;
        }
    }
    Some(out)
}

/// A predefined type. Pairs may have a hole between the value and its index, which is an int.
fn named(out: &mut Pieces, datatype: MPI_Datatype) -> Option<()> {
    let size = size(datatype);
    let (first, all) = true_extent(datatype);
    let index = size_of::<i32>() as u64;
    if size > index && size < all {
        out.push(first, size - index)?;
        return out.push(first.checked_add_unsigned(all - index)?, index);
    }
    out.push(if size == 0 { 0 } else { first }, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_repetitions_are_one_piece() {
        let mut byte = Pieces::default();
        byte.push(0, 8).unwrap();
        let mut out = Pieces::default();
        out.repeat(&byte, 16, 1 << 40, 8).unwrap();
        assert_eq!(out.0, [(16, 1 << 43)]);
        out.repeat(&byte, 16 + (1 << 43), 2, 16).unwrap();
        assert_eq!(out.0, [(16, (1 << 43) + 8), (32 + (1 << 43), 8)]);
    }

    #[test]
    fn too_many_pieces_are_given_up() {
        let mut byte = Pieces::default();
        byte.push(0, 1).unwrap();
        let most = MOST_PIECES as i64;
        let count = |n| Pieces::default().repeat(&byte, 0, n, 2);
        assert_eq!(count(most), Some(()));
        assert_eq!(count(most + 1), None);
        assert_eq!(count(i64::MAX), None);
    }
}
