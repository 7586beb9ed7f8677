//! Numbers of communicators and ranks in MPI_COMM_WORLD, kept apart where several traces become one.
//!
//! Each trace counts its communicators from 1 and calls its own MPI_COMM_WORLD 0. In one file equal numbers would be taken for one communicator, and
//! the calls of different runs for calls that wait for each other.

use std::collections::HashMap;

use super::call_id::value_bytes;
use trace_model::{
    Actor, Category, Definitions, InfoValue, Line, Source, Stop, Topology, info_values, lane_of,
};

/// A value in the info of a call that changes with the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberedValue {
    /// Number of a communicator, as lines have it; −1 for none.
    Comm,
    /// Ranks in MPI_COMM_WORLD, a text such as `0,2-5`.
    Ranks,
}

impl NumberedValue {
    /// The value that stands behind a key.
    fn of(key: &[u8], kind: u8) -> Option<NumberedValue> {
        match kind {
            b'd' if key.ends_with(b"makes=") || key.ends_with(b"remote=") => {
                Some(NumberedValue::Comm)
            }
            b's' if key.ends_with(b"ranks=") => Some(NumberedValue::Ranks),
            _ => None,
        }
    }
}

/// The categories of calls with such values: each with what its values are.
fn numbered_categories(
    categories: &[Category],
) -> HashMap<i32, (Category, Vec<Option<NumberedValue>>)> {
    let of_calls = categories.iter().filter(|category| {
        category.topology == Topology::State && category.name.0.starts_with(b"MPI")
    });
    let numbered = of_calls.filter_map(|category| {
        let keys = category.info_keys.iter().zip(&category.info_types);
        let values: Vec<_> = keys
            .map(|(key, &kind)| NumberedValue::of(&key.0, kind))
            .collect();
        let any = values.iter().any(Option::is_some);
        any.then(|| (category.index, (category.clone(), values)))
    });
    numbered.collect()
}

/// Whether a line is about MPI_COMM_WORLD: one of a rank's, not of a server or device, on communicator 0.
pub(super) fn is_of_world(line: &Line) -> bool {
    line.comm == 0 && matches!(lane_of(line).actor, Actor::Rank(_))
}

/// The largest number of a communicator that a trace has, on its lines and in the calls that make communicators.
///
/// # Errors
/// The errors of the source, which is read if it has such calls.
pub(super) fn largest(source: &dyn Source) -> Result<i32, Stop> {
    let definitions = source.definitions();
    let mut largest = definitions.lines.iter().map(|line| line.comm).max();
    let mut categories = numbered_categories(&definitions.categories);
    categories.retain(|_, (_, values)| values.contains(&Some(NumberedValue::Comm)));
    if !categories.is_empty() {
        source.for_each(&mut |drawable| {
            if let Some((category, values)) = categories.get(&drawable.category) {
                for ((_, value), kind) in info_values(category, drawable.info).zip(values) {
                    if let (InfoValue::Integer(number), Some(NumberedValue::Comm)) = (value, kind) {
                        largest = largest.max(i32::try_from(number).ok());
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok(largest.unwrap_or(0).max(0))
}

/// What becomes of the numbers of one trace.
#[derive(Debug)]
pub(super) struct CommNumbering {
    /// Number of its MPI_COMM_WORLD.
    world: i32,
    /// Added to all other numbers of communicators.
    others: i32,
    /// Added to its ranks.
    ranks: i32,
    categories: HashMap<i32, (Category, Vec<Option<NumberedValue>>)>,
}

impl CommNumbering {
    /// The numbering of the trace with these definitions. `next` is the first number of a communicator that no trace before has; `has_world` is
    /// whether one of these has ranks already.
    pub(super) fn new(
        definitions: &Definitions,
        next: i32,
        has_world: bool,
        ranks: i32,
    ) -> CommNumbering {
        CommNumbering {
            world: if has_world { next } else { 0 },
            // Numbers from 1 on come behind that of MPI_COMM_WORLD.
            others: if has_world { next } else { (next - 1).max(0) },
            ranks,
            categories: numbered_categories(&definitions.categories),
        }
    }

    /// The number of a communicator; what is none stays.
    pub(super) fn comm(&self, number: i32) -> i32 {
        match number {
            0 => self.world,
            ..0 => number,
            _ => number.saturating_add(self.others),
        }
    }

    /// The first number behind those of a trace whose own numbers end with `largest`; `None` if there is none.
    pub(super) fn behind(&self, largest: i32) -> Option<i32> {
        let last = match largest {
            0 => self.world,
            _ => largest.checked_add(self.others)?,
        };
        last.checked_add(1)
    }

    /// The communicator and the rank in it of a line.
    pub(super) fn of_line(&self, line: &Line) -> (i32, i32) {
        match line.comm {
            0 if self.world != 0 && is_of_world(line) => (self.world, line.comm_rank),
            0 => (0, line.comm_rank.saturating_add(self.ranks)),
            _ => (self.comm(line.comm), line.comm_rank),
        }
    }

    /// Writes an info of a drawable of this category with the numbers that it has in the merged trace to `out`. Returns false, and writes nothing of
    /// use, if none of them changes.
    pub(super) fn info(&self, category: i32, info: &[u8], out: &mut Vec<u8>) -> bool {
        if (self.world, self.others, self.ranks) == (0, 0, 0) {
            return false;
        }
        let Some((category, values)) = self.categories.get(&category) else {
            return false;
        };
        out.clear();
        let mut rest = info;
        for (&kind, numbered) in category.info_types.iter().zip(values) {
            let bytes = value_bytes(kind, rest);
            let Some((value, behind)) = bytes.and_then(|bytes| rest.split_at_checked(bytes)) else {
                break;
            };
            match (numbered, value.split_first_chunk(), value.get(2..)) {
                (Some(NumberedValue::Comm), Some((number, _)), _) => {
                    let number = self.comm(i32::from_be_bytes(*number));
                    out.extend_from_slice(&number.to_be_bytes());
                }
                (Some(NumberedValue::Ranks), _, Some(ranks)) => {
                    let mut ranks = shifted(ranks, self.ranks);
                    ranks.truncate(i16::MAX as usize);
                    out.extend_from_slice(&(ranks.len() as i16).to_be_bytes());
                    out.extend_from_slice(&ranks);
                }
                _ => out.extend_from_slice(value),
            }
            rest = behind;
        }
        out.extend_from_slice(rest);
        true
    }
}

/// The text of ranks with `shift` added to each of its numbers.
fn shifted(text: &[u8], shift: i32) -> Vec<u8> {
    let mut out = Vec::new();
    for part in text.chunk_by(|a, b| a.is_ascii_digit() && b.is_ascii_digit()) {
        let number = std::str::from_utf8(part).ok();
        match number.and_then(|number| number.parse::<i64>().ok()) {
            Some(rank) => {
                out.extend_from_slice(rank.saturating_add(shift.into()).to_string().as_bytes());
            }
            None => out.extend_from_slice(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, InfoWriter};

    #[test]
    fn numbers_in_infos_are_those_of_the_merged_trace() {
        let mut made = Category::new(
            4,
            "MPI_Comm_create_group".into(),
            Topology::State,
            Color::WHITE,
        );
        made.set_info_format(b"CallID=0x%X, ranks=%s, makes=%d, remote=%d, x=%e");
        let mut region = made.clone();
        (region.index, region.name) = (5, "makes".into());
        let definitions = Definitions {
            categories: vec![made, region],
            ..Definitions::default()
        };
        let info = |ranks: &[u8], makes, remote| {
            let mut info = InfoWriter::default();
            info.long(7).text(ranks).int(makes).int(remote);
            // A NaN that is not the usual one.
            [info.bytes(), &[0xff, 0x80, 0, 1]].concat()
        };
        let mut out = Vec::new();
        let numbering = CommNumbering::new(&definitions, 3, true, 10);
        assert!(numbering.info(4, &info(b"0,2-5", 2, -1), &mut out));
        assert_eq!(out, info(b"10,12-15", 5, -1));
        // An info that ends early keeps what it has.
        assert!(numbering.info(4, &info(b"0", 1, 0)[..17], &mut out));
        assert_eq!(out, [&info(b"10", 4, 0)[..16], &[0, 0]].concat());
        assert!(!numbering.info(5, &info(b"0", 1, 0), &mut out));
        let first = CommNumbering::new(&definitions, 0, false, 0);
        assert!(!first.info(4, &info(b"0", 1, 0), &mut out));
        assert_eq!([0, 1, -1].map(|number| first.comm(number)), [0, 1, -1]);
    }
}
