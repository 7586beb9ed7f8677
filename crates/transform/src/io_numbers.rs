//! Numbers of CallIDs, files and operations of traces with I/O, kept apart where several traces become one.
//!
//! Each run counts its files and operations from 0, and its CallIDs by rank. In one file equal numbers would be taken for one operation.
//! The CallIDs of a server's or device's trace are those of the ranks that it worked for, and stay so.

use super::arrows::is_sampled;
use super::call_id::CallIdCategories;
use io_attribution::OpenedFile;
use io_attribution::draw::{DrawnCategories, NumberShift};
use std::collections::{BTreeMap, HashSet};
use trace_model::{Actor, Drawable, InfoWriter, Source, Stop, lane_of};

/// Most numbers of a trace that are compared with those of another.
const MAX_COMPARED: usize = 1 << 19;
/// Bits of the counter in a CallID, where no call of a rank above 0 tells.
const COUNTER_BITS: u32 = 40;

/// Some of very many numbers, chosen by their hash, so that two traces give the same ones.
#[derive(Debug, Default)]
struct Sample {
    zeros: u32,
    numbers: HashSet<u64, foldhash::fast::RandomState>,
}

impl Sample {
    fn add(&mut self, number: u64) {
        if !is_sampled(number, self.zeros) {
            return;
        }
        self.numbers.insert(number);
        if self.numbers.len() > MAX_COMPARED {
            self.zeros += 1;
            let zeros = self.zeros;
            self.numbers.retain(|&number| is_sampled(number, zeros));
        }
    }

    fn is_apart_from(&self, other: &Sample) -> bool {
        self.numbers.is_disjoint(&other.numbers)
    }
}

/// The numbers that a trace has.
#[derive(Debug, Default)]
struct InputNumbers {
    /// CallIDs of which the trace has the MPI call itself.
    calls: Sample,
    operations: Sample,
    files: BTreeMap<u32, OpenedFile>,
    last_call: Option<u64>,
    last_file: Option<u32>,
    last_operation: Option<u64>,
    counter_bits: Option<u32>,
}

impl InputNumbers {
    fn of(source: &dyn Source) -> Result<InputNumbers, Stop> {
        let definitions = source.definitions();
        let drawn = DrawnCategories::new(&definitions.categories);
        let call_ids = CallIdCategories::new(&definitions.categories);
        let is_mpi: HashSet<i32> = definitions
            .categories
            .iter()
            .filter(|category| category.name.0.starts_with(b"MPI_"))
            .map(|category| category.index)
            .collect();
        let ranks: BTreeMap<i32, u64> = definitions
            .lines
            .iter()
            .filter_map(|line| match lane_of(line).actor {
                Actor::Rank(rank @ 1..) => Some((line.id, rank.into())),
                _ => None,
            })
            .collect();
        let rank_of = |drawable: &Drawable<'_>| {
            let vertex = drawable.vertices.first()?;
            ranks.get(&vertex.line).copied()
        };
        let mut found = InputNumbers::default();
        source.for_each(&mut |drawable| {
            if let Some(numbers) = drawn.numbers(drawable) {
                let calls = numbers.calls.into_iter().flatten();
                found.last_call = found.last_call.max(calls.max());
                found.last_file = found.last_file.max(numbers.file);
                found.last_operation = found.last_operation.max(numbers.operation);
                if let Some(operation) = numbers.operation {
                    found.operations.add(operation);
                }
                if let Some(file) = numbers.opened {
                    found.files.insert(file.id, file);
                }
                if let (true, Some(call)) = (numbers.is_access, numbers.calls[0]) {
                    found.call(call, rank_of(drawable));
                }
            } else if let Some(call) = call_ids.of(drawable.category, drawable.info) {
                found.last_call = found.last_call.max(Some(call));
                if is_mpi.contains(&drawable.category) {
                    found.call(call, rank_of(drawable));
                }
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Takes the CallID of a call of a rank; only ranks above 0 are given.
    fn call(&mut self, call: u64, rank: Option<u64>) {
        self.calls.add(call);
        if let (None, Some(rank)) = (self.counter_bits, rank) {
            self.counter_bits = (1..64).find(|bits| call >> bits == rank);
        }
    }

    fn has_calls(&self) -> bool {
        !self.calls.numbers.is_empty()
    }

    /// Whether two traces hold different calls and operations of one run: they name the same files by the same numbers.
    fn are_parts_of_one_run(&self, other: &InputNumbers) -> bool {
        let mut common = self
            .files
            .iter()
            .filter_map(|(id, file)| Some((file, other.files.get(id)?)))
            .map(|(a, b)| (a.device, a.inode, &a.name) == (b.device, b.inode, &b.name))
            .peekable();
        self.has_calls()
            && other.has_calls()
            && self.calls.is_apart_from(&other.calls)
            && self.operations.is_apart_from(&other.operations)
            && common.peek().is_some()
            && common.all(|is_same| is_same)
    }
}

/// Gives each of several traces what is to be added to its numbers; `None` if numbers run out. With each comes what is added to its ranks. Traces
/// without I/O keep theirs.
///
/// # Errors
/// The errors of the sources.
pub(super) fn shifts(inputs: &[(&dyn Source, i32)]) -> Result<Option<Vec<NumberShift>>, Stop> {
    let has_io =
        |source: &dyn Source| !DrawnCategories::new(&source.definitions().categories).is_empty();
    if !inputs.iter().any(|(source, _)| has_io(*source)) {
        return Ok(Some(vec![NumberShift::default(); inputs.len()]));
    }
    let mut known: Vec<(InputNumbers, NumberShift)> = Vec::new();
    for &(source, ranks) in inputs {
        let found = InputNumbers::of(source)?;
        let Some(shift) = shift(&found, &known, ranks) else {
            return Ok(None);
        };
        known.push((found, shift));
    }
    Ok(Some(known.into_iter().map(|(_, shift)| shift).collect()))
}

/// What is to be added to the numbers of the next trace; `None` if numbers run out.
fn shift(
    found: &InputNumbers,
    known: &[(InputNumbers, NumberShift)],
    ranks: i32,
) -> Option<NumberShift> {
    let same_run = known.iter().find(|(first, shift)| {
        let of_run = || known.iter().filter(|(_, other)| other == shift);
        first.has_calls() && of_run().all(|(other, _)| found.are_parts_of_one_run(other))
    });
    if let Some((_, shift)) = same_run {
        return Some(*shift);
    }
    let mut next = NumberShift::default();
    let mut last_call: Option<u64> = None;
    for (other, shift) in known {
        let behind_file = other.last_file.map_or(0, |last| last + shift.files + 1);
        next.files = next.files.max(behind_file);
        let last = other.last_operation;
        let behind_operation = last.map_or(0, |last| last + shift.operations + 1);
        next.operations = next.operations.max(behind_operation);
        last_call = last_call.max(other.last_call.map(|last| last + shift.calls));
    }
    let with_calls = || known.iter().filter(|(other, _)| other.has_calls());
    let ranks_before = with_calls().next_back();
    next.calls = match ranks_before {
        // A server worked for the ranks before it, or for the first ones.
        Some((_, shift)) if !found.has_calls() => shift.calls,
        Some(_) => {
            let told = with_calls().find_map(|(other, _)| other.counter_bits);
            let bits = found.counter_bits.or(told).unwrap_or(COUNTER_BITS);
            let ranks = u64::try_from(ranks).unwrap_or(0);
            let behind = last_call.map_or(0, |last| (last >> bits) + 1);
            ranks.max(behind).checked_mul(1 << bits)?
        }
        None => 0,
    };
    // The largest numbers must fit into an info, with one to spare behind them.
    let fits = |last: Option<u64>, shift: u64, most: u64| {
        last.unwrap_or(0)
            .checked_add(shift)
            .is_some_and(|sum| sum < most)
    };
    let file = found.last_file.map(u64::from);
    let all_fit = fits(file, next.files.into(), i32::MAX as u64)
        && fits(found.last_operation, next.operations, u64::MAX)
        && fits(found.last_call, next.calls, u64::MAX);
    all_fit.then_some(next)
}

/// Changes the numbers in the infos of a trace.
#[derive(Debug)]
pub(super) struct Renumbering {
    shift: NumberShift,
    drawn: DrawnCategories,
    call_ids: CallIdCategories,
}

impl Renumbering {
    pub fn new(source: &dyn Source, shift: NumberShift) -> Self {
        let categories = &source.definitions().categories;
        Renumbering {
            shift,
            drawn: DrawnCategories::new(categories),
            call_ids: CallIdCategories::new(categories),
        }
    }

    /// The info of a drawable with the numbers that it has in the merged trace; `room` is where it is written.
    pub fn info<'a>(&self, drawable: &Drawable<'a>, room: &'a mut InfoRoom) -> &'a [u8] {
        if self.shift == NumberShift::default() {
            return drawable.info;
        }
        if self.drawn.shift(drawable, &self.shift, &mut room.writer) {
            return room.writer.bytes();
        }
        let place = self.call_ids.place(drawable.category, drawable.info);
        let Some(place) = place.filter(|_| self.shift.calls != 0) else {
            return drawable.info;
        };
        room.bytes.clear();
        room.bytes.extend_from_slice(drawable.info);
        if let Some(call) = room
            .bytes
            .get_mut(place..)
            .and_then(<[u8]>::first_chunk_mut::<8>)
        {
            *call = u64::from_be_bytes(*call)
                .wrapping_add(self.shift.calls)
                .to_be_bytes();
        }
        &room.bytes
    }
}

/// Memory for the info of one drawable.
#[derive(Debug, Default)]
pub(super) struct InfoRoom {
    writer: InfoWriter,
    bytes: Vec<u8>,
}
