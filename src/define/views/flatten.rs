//! Flattens a datatype to the pieces of memory it covers, in the order of its type map, by taking it apart with
//! MPI_Type_get_envelope and MPI_Type_get_contents.
//!
//! Repetitions of what is dense stay one piece, and pieces at equal distances one run, however many they are; anything of more
//! than [`Runs::MAX_RUNS`] runs becomes its bounding extent. The work is bounded by [`Runs`] and by the lengths of the lists that the program
//! itself has passed.

use super::contents::{Combiner, DatatypeContents};
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Count, MPI_Datatype};
use blockfile::runs::{EvenRun, Runs};

pub use super::contents::free;

/// Most datatypes looked at for one view: a type may contain another one many times over.
const MAX_TYPES: usize = 1 << 16;
/// Deepest nesting of datatypes.
const MAX_DEPTH: usize = 200;

/// A datatype, flattened.
#[derive(Debug, Default)]
pub struct FlatDatatype {
    /// Pieces of the datatype in the order of its type map.
    pub runs: Vec<EvenRun>,
    /// Offset of the next copy, bytes.
    pub extent: i64,
    /// Bytes of data.
    pub size: u64,
    /// Whether `runs` is one piece from the first to the last byte of data, because there are too many pieces.
    pub bounding_extent: bool,
    /// Whether MPI_Type_create_resized has set a lower bound other than 0, of it or of a datatype in it.
    pub sets_lower_bound: bool,
}

/// A walk through a datatype and those in it.
struct TypeSearch {
    /// Datatypes that may still be looked at.
    types_left: usize,
    /// [`FlatDatatype::sets_lower_bound`] of those that were looked at.
    sets_lower_bound: bool,
}

/// Flattens a datatype that is valid.
pub fn flatten(datatype: MPI_Datatype) -> FlatDatatype {
    let mut flat = FlatDatatype {
        extent: extent(datatype),
        size: size(datatype),
        ..FlatDatatype::default()
    };
    let mut search = TypeSearch {
        types_left: MAX_TYPES,
        sets_lower_bound: false,
    };
    let found = pieces(datatype, &mut search, MAX_DEPTH);
    flat.sets_lower_bound = search.sets_lower_bound;
    match found {
        Some(runs) => flat.runs = runs.into_vec(),
        None => {
            flat.bounding_extent = true;
            let (first, length) = true_extent(datatype);
            flat.runs.push(EvenRun::piece(first, length));
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
    bounds(datatype).1
}

/// Lower bound and extent, bytes.
fn bounds(datatype: MPI_Datatype) -> (i64, i64) {
    let (mut lb, mut extent): (MPI_Count, MPI_Count) = (0, 0);
    // SAFETY: a valid datatype.
    unsafe { pmpi::MPI_Type_get_extent_x(datatype, &mut lb, &mut extent) };
    (lb, extent)
}

/// First byte of data, and number of bytes from there to the last one.
fn true_extent(datatype: MPI_Datatype) -> (i64, u64) {
    let (mut lb, mut extent): (MPI_Count, MPI_Count) = (0, 0);
    // SAFETY: a valid datatype.
    unsafe { pmpi::MPI_Type_get_true_extent_x(datatype, &mut lb, &mut extent) };
    (lb, u64::try_from(extent).unwrap_or(0))
}

/// The pieces of a datatype; `None` if there are too many of them or it cannot be taken apart.
fn pieces(datatype: MPI_Datatype, search: &mut TypeSearch, deep: usize) -> Option<Runs> {
    search.types_left = search.types_left.checked_sub(1)?;
    let deep = deep.checked_sub(1)?;
    let contents = DatatypeContents::of(datatype)?;
    let old = |i: usize| contents.types.get(i).copied();
    let mut out = Runs::default();
    match &contents.combiner {
        Combiner::Named => named(&mut out, datatype)?,
        Combiner::Same => return pieces(old(0)?, search, deep),
        Combiner::Resized => {
            search.sets_lower_bound |= bounds(datatype).0 != 0;
            return pieces(old(0)?, search, deep);
        }
        Combiner::Blocks(blocks) => {
            let element = pieces(old(0)?, search, deep)?;
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
            let element = pieces(old(0)?, search, deep)?;
            let extent = extent(old(0)?);
            let mut block = Runs::default();
            block.repeat(&element, 0, *length, extent)?;
            out.repeat(&block, 0, *count, stride.bytes(extent)?)?;
        }
        Combiner::Struct(blocks) => {
            // Fields of the same type, one behind the other, are frequent.
            let mut last: Option<(MPI_Datatype, Runs, i64)> = None;
            for (block, &field) in blocks.iter().zip(&contents.types) {
                if last.as_ref().is_none_or(|(of, ..)| *of != field) {
                    last = Some((field, pieces(field, search, deep)?, extent(field)));
                }
                if let Some((_, element, extent)) = &last {
                    let at = block.offset.bytes(*extent)?;
                    out.repeat(element, at, block.length, *extent)?;
                }
            }
        }
        Combiner::Grid(dimensions) => {
            let mut element = pieces(old(0)?, search, deep)?;
            let mut extent = extent(old(0)?);
            // From the fastest dimension to the slowest.
            for dimension in dimensions {
                let mut row = Runs::default();
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
            out.append(0, size(old(0)?), 1, 0)?;
            out.append(i64::try_from(all.checked_sub(index)?).ok()?, index, 1, 0)?;
        }
    }
    Some(out)
}

/// A predefined type. Pairs may have a hole between the value and its index, which is an int.
fn named(out: &mut Runs, datatype: MPI_Datatype) -> Option<()> {
    let size = size(datatype);
    let (first, all) = true_extent(datatype);
    let index = size_of::<i32>() as u64;
    if size > index && size < all {
        out.append(first, size - index, 1, 0)?;
        return out.append(first.checked_add_unsigned(all - index)?, index, 1, 0);
    }
    out.append(if size == 0 { 0 } else { first }, size, 1, 0)
}
