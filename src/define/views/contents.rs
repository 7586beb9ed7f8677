//! Contents of a datatype, in a form in which constructors that differ in nothing but how arguments are passed are
//! the same.

use crate::call::envelope::{TypeEnvelope, has_large_counts};
use crate::mpi::constants;
use crate::mpi::handles::Handle;
use crate::mpi::pmpi;
use crate::mpi::types::{MPI_Aint, MPI_Count, MPI_Datatype};
use std::ffi::c_int;

/// Most numbers that are asked for: a list of this length takes 32 MB.
const MAX_NUMBERS: u64 = 1 << 22;

/// Offset of an element.
#[derive(Clone, Copy, Debug)]
pub enum ElementOffset {
    /// In bytes.
    Bytes(i64),
    /// In extents of the old type.
    Extents(i64),
}

impl ElementOffset {
    /// The offset in bytes if the old type has this extent; `None` on overflow.
    pub fn bytes(self, extent: i64) -> Option<i64> {
        match self {
            ElementOffset::Bytes(n) => Some(n),
            ElementOffset::Extents(n) => n.checked_mul(extent),
        }
    }
}

/// Elements one behind the other.
#[derive(Clone, Copy, Debug)]
pub struct ElementBlock {
    /// Offset of the first element.
    pub offset: ElementOffset,
    /// Number of elements.
    pub length: i64,
}

/// The elements of an array that a dimension of a grid has.
#[derive(Debug)]
pub struct Dimension {
    /// Elements of the whole grid.
    pub size: i64,
    /// First one and number of those that belong to the datatype.
    pub runs: Vec<(i64, i64)>,
}

/// Constructor of a datatype.
#[derive(Debug)]
pub enum Combiner {
    /// A predefined datatype.
    Named,
    /// A datatype with the data of the old type.
    Same,
    /// A datatype with the data of the old type and bounds of its own.
    Resized,
    /// Blocks of the old type.
    Blocks(Vec<ElementBlock>),
    /// Blocks of one length at equal distances.
    Vector {
        /// Number of blocks.
        count: i64,
        /// Elements of a block.
        length: i64,
        /// From one block to the next.
        stride: ElementOffset,
    },
    /// A block of each old type.
    Struct(Vec<ElementBlock>),
    /// Part of a grid; the fastest dimension stands first.
    Grid(Vec<Dimension>),
    /// A value and an index, of the two old types.
    ValueIndex,
}

/// A datatype's contents. Old types that are not predefined are freed with it.
#[derive(Debug)]
pub struct DatatypeContents {
    /// Constructor of the datatype.
    pub combiner: Combiner,
    /// Datatypes that it is made from.
    pub types: Vec<MPI_Datatype>,
}

impl Drop for DatatypeContents {
    fn drop(&mut self) {
        for &datatype in &self.types {
            // SAFETY: handles that MPI_Type_get_contents has given, which are ours.
            unsafe { free(datatype) };
        }
    }
}

/// Frees a datatype unless it is predefined.
///
/// # Safety
/// The datatype is valid, and nobody else's.
pub unsafe fn free(datatype: MPI_Datatype) {
    let mut datatype = datatype;
    if TypeEnvelope::of(datatype).is_some_and(|e| !is_predefined(e.combiner)) {
        // SAFETY: as the caller promises.
        unsafe { pmpi::MPI_Type_free(&mut datatype) };
    }
}

fn is_predefined(combiner: c_int) -> bool {
    let c = constants::integers();
    let predefined = [
        c.combiner_named,
        c.combiner_f90_real,
        c.combiner_f90_complex,
        c.combiner_f90_integer,
    ];
    predefined.contains(&combiner) || c.combiner_value_index == Some(combiner)
}

/// The arguments that a datatype was made with.
#[derive(Default)]
struct Arguments {
    ints: Vec<c_int>,
    addresses: Vec<MPI_Aint>,
    counts: Vec<MPI_Count>,
    types: Vec<MPI_Datatype>,
}

impl Arguments {
    fn of(datatype: MPI_Datatype, envelope: &TypeEnvelope) -> Option<Arguments> {
        let all = envelope.ints + envelope.addresses + envelope.counts + envelope.types;
        if all > MAX_NUMBERS {
            return None;
        }
        let mut args = Arguments {
            ints: vec![0; envelope.ints as usize],
            addresses: vec![0; envelope.addresses as usize],
            counts: vec![0; envelope.counts as usize],
            types: vec![constants::predefined("MPI_DATATYPE_NULL"); envelope.types as usize],
        };
        // SAFETY: a datatype that is not predefined; the arrays are as long as the envelope says.
        let code = unsafe {
            if has_large_counts() {
                pmpi::MPI_Type_get_contents_c(
                    datatype,
                    envelope.ints as MPI_Count,
                    envelope.addresses as MPI_Count,
                    envelope.counts as MPI_Count,
                    envelope.types as MPI_Count,
                    args.ints.as_mut_ptr(),
                    args.addresses.as_mut_ptr(),
                    args.counts.as_mut_ptr(),
                    args.types.as_mut_ptr(),
                )
            } else {
                pmpi::MPI_Type_get_contents(
                    datatype,
                    envelope.ints as c_int,
                    envelope.addresses as c_int,
                    envelope.types as c_int,
                    args.ints.as_mut_ptr(),
                    args.addresses.as_mut_ptr(),
                    args.types.as_mut_ptr(),
                )
            }
        };
        Handle::spread(&mut args.types);
        (code == 0).then_some(args)
    }

    /// The numbers in the order of the constructor's parameters: those that the functions for large counts pass as counts
    /// stand behind the ints, as the addresses do elsewhere.
    fn numbers(&self) -> NumberReader {
        let ints = self.ints.iter().map(|&n| i64::from(n));
        let wide = self.addresses.iter().chain(&self.counts).copied();
        let all = ints.chain(wide);
        NumberReader {
            all: all.collect(),
            at: 0,
        }
    }
}

/// Numbers read one after the other.
struct NumberReader {
    all: Vec<i64>,
    at: usize,
}

impl NumberReader {
    fn next(&mut self) -> Option<i64> {
        let n = self.all.get(self.at).copied();
        self.at += 1;
        n
    }

    fn list(&mut self, count: i64) -> Option<Vec<i64>> {
        let end = self.at.checked_add(usize::try_from(count).ok()?)?;
        let list = self.all.get(self.at..end)?.to_vec();
        self.at = end;
        Some(list)
    }
}

impl DatatypeContents {
    /// Takes a valid datatype apart; `None` if that cannot be done.
    pub fn of(datatype: MPI_Datatype) -> Option<DatatypeContents> {
        let c = constants::integers();
        let envelope = TypeEnvelope::of(datatype)?;
        let made_by = envelope.combiner;
        if is_predefined(made_by) && c.combiner_value_index != Some(made_by) {
            return Some(DatatypeContents {
                combiner: Combiner::Named,
                types: Vec::new(),
            });
        }
        let mut args = Arguments::of(datatype, &envelope)?;
        // From here on the types are freed whatever happens.
        let mut contents = DatatypeContents {
            combiner: Combiner::Same,
            types: std::mem::take(&mut args.types),
        };
        let n = &mut args.numbers();
        let blocks = |lengths: Vec<i64>, offsets: Vec<i64>, unit: fn(i64) -> ElementOffset| {
            let pairs = lengths.into_iter().zip(offsets);
            let block = |(length, offset)| ElementBlock {
                offset: unit(offset),
                length,
            };
            pairs.map(block).collect::<Vec<ElementBlock>>()
        };
        let integer = |name: Option<c_int>| name == Some(made_by);
        contents.combiner = if made_by == c.combiner_dup {
            Combiner::Same
        } else if made_by == c.combiner_resized {
            Combiner::Resized
        } else if made_by == c.combiner_contiguous {
            Combiner::Vector {
                count: 1,
                length: n.next()?,
                stride: ElementOffset::Bytes(0),
            }
        } else if made_by == c.combiner_vector
            || made_by == c.combiner_hvector
            || integer(c.combiner_hvector_integer)
        {
            let unit = if made_by == c.combiner_vector {
                ElementOffset::Extents
            } else {
                ElementOffset::Bytes
            };
            Combiner::Vector {
                count: n.next()?,
                length: n.next()?,
                stride: unit(n.next()?),
            }
        } else if made_by == c.combiner_indexed
            || made_by == c.combiner_hindexed
            || integer(c.combiner_hindexed_integer)
        {
            let unit = if made_by == c.combiner_indexed {
                ElementOffset::Extents
            } else {
                ElementOffset::Bytes
            };
            let count = n.next()?;
            Combiner::Blocks(blocks(n.list(count)?, n.list(count)?, unit))
        } else if made_by == c.combiner_indexed_block || made_by == c.combiner_hindexed_block {
            let unit = if made_by == c.combiner_indexed_block {
                ElementOffset::Extents
            } else {
                ElementOffset::Bytes
            };
            let (count, length) = (n.next()?, n.next()?);
            let offsets = n.list(count)?;
            Combiner::Blocks(blocks(vec![length; offsets.len()], offsets, unit))
        } else if made_by == c.combiner_struct || integer(c.combiner_struct_integer) {
            let count = n.next()?;
            Combiner::Struct(blocks(n.list(count)?, n.list(count)?, ElementOffset::Bytes))
        } else if made_by == c.combiner_subarray {
            Combiner::Grid(subarray(n, &envelope)?)
        } else if made_by == c.combiner_darray {
            Combiner::Grid(darray(n, &envelope)?)
        } else if integer(c.combiner_value_index) {
            Combiner::ValueIndex
        } else {
            return None;
        };
        Some(contents)
    }
}

/// Puts the fastest dimension first.
fn ordered(mut dimensions: Vec<Dimension>, order: i64) -> Vec<Dimension> {
    if order == i64::from(constants::integers().order_c) {
        dimensions.reverse();
    }
    dimensions
}

/// ndims, sizes, subsizes, starts, order; the order stands before the sizes where these are large counts.
fn subarray(n: &mut NumberReader, envelope: &TypeEnvelope) -> Option<Vec<Dimension>> {
    let ndims = n.next()?;
    let large = envelope.counts > 0;
    let first = if large { n.next()? } else { 0 };
    let (sizes, subsizes, starts) = (n.list(ndims)?, n.list(ndims)?, n.list(ndims)?);
    let order = if large { first } else { n.next()? };
    let dimensions =
        sizes
            .into_iter()
            .zip(subsizes.into_iter().zip(starts))
            .map(|(size, (length, start))| Dimension {
                size,
                runs: vec![(start, length)],
            });
    Some(ordered(dimensions.collect(), order))
}

/// size, rank, ndims, gsizes, distribs, dargs, psizes, order; the gsizes stand last where they are large counts.
fn darray(n: &mut NumberReader, envelope: &TypeEnvelope) -> Option<Vec<Dimension>> {
    let (_, rank, ndims) = (n.next()?, n.next()?, n.next()?);
    let large = envelope.counts > 0;
    let gsizes = if large { Vec::new() } else { n.list(ndims)? };
    let (distribs, dargs, psizes) = (n.list(ndims)?, n.list(ndims)?, n.list(ndims)?);
    let order = n.next()?;
    let gsizes = if large { n.list(ndims)? } else { gsizes };
    // The grid of processes is in C order whatever that of the array is.
    let mut left = rank;
    let mut dimensions = Vec::new();
    for d in (0..gsizes.len()).rev() {
        let processes = psizes[d].max(1);
        let mine = left % processes;
        left /= processes;
        dimensions.push(Dimension {
            size: gsizes[d],
            runs: distributed(gsizes[d], distribs[d], dargs[d], processes, mine)?,
        });
    }
    dimensions.reverse();
    Some(ordered(dimensions, order))
}

/// The elements of `size` that process `mine` of `processes` has.
fn distributed(
    size: i64,
    how: i64,
    argument: i64,
    processes: i64,
    mine: i64,
) -> Option<Vec<(i64, i64)>> {
    let unset = argument == i64::from(constants::integers().distribute_dflt_darg);
    let block = if how == i64::from(constants::integers().distribute_none) {
        size
    } else if how == i64::from(constants::integers().distribute_block) && unset {
        (size + processes - 1) / processes
    } else if unset {
        1
    } else {
        argument
    };
    let step = block.checked_mul(processes)?;
    let mut start = block.checked_mul(mine)?;
    let mut runs = Vec::new();
    while start < size {
        if runs.len() as u64 == MAX_NUMBERS || step <= 0 {
            return None;
        }
        runs.push((start, block.min(size - start)));
        start = start.checked_add(step)?;
    }
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cyclic_blocks_go_round() {
        // Any number but those of the other two ways.
        let cyclic = i64::from(constants::integers().distribute_none) + 1000;
        assert_eq!(distributed(10, cyclic, 2, 2, 1), Some(vec![(2, 2), (6, 2)]));
        assert_eq!(
            distributed(10, cyclic, 2, 2, 0),
            Some(vec![(0, 2), (4, 2), (8, 2)])
        );
    }

    #[test]
    fn the_last_block_may_be_short_or_empty() {
        let (block, unset) = (
            i64::from(constants::integers().distribute_block),
            i64::from(constants::integers().distribute_dflt_darg),
        );
        assert_eq!(distributed(5, block, unset, 4, 2), Some(vec![(4, 1)]));
        assert_eq!(distributed(5, block, unset, 4, 3), Some(vec![]));
    }
}
