//! The columns of a table: what is asked for, and the sums of one rank in one bin.

use super::pattern::Pattern;
use super::traffic::Traffic;
use std::fmt::Write;
use trace_formats::dumpi::types::{ClockSpan, DumpiRecord};
use trace_model::units::exact_seconds;

/// Classes of message sizes.
const CLASSES: usize = 40;

/// Quantity that a group of columns counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Count,
    Time,
    Sent,
    Received,
    Exchange,
    Lump,
    Counters,
}

/// A group of columns.
#[derive(Clone, Debug)]
pub struct Column {
    pub kind: ColumnKind,
    pub pattern: Pattern,
}

/// Columns, number of ranks and counters of a run.
pub struct RunShape<'a> {
    pub columns: &'a [Column],
    pub ranks: u32,
    pub counters: &'a [String],
}

impl RunShape<'_> {
    /// The descriptions of all columns, in order.
    pub fn titles(&self) -> Vec<String> {
        let mut titles = Vec::new();
        for Column { kind, pattern } in self.columns {
            let of = &pattern.text;
            match kind {
                ColumnKind::Count => titles.push(format!("Call count for pattern \"{of}\"")),
                ColumnKind::Time => {
                    for clock in ["CPU", "wall"] {
                        titles.push(format!("profiled {clock} time for pattern \"{of}\""));
                        titles.push(format!("unprofiled {clock} time for pattern \"{of}\""));
                    }
                }
                ColumnKind::Sent => titles.push(format!("total sends for pattern \"{of}\"")),
                ColumnKind::Received => titles.push(format!("total receives for pattern \"{of}\"")),
                ColumnKind::Exchange => {
                    titles.extend((0..self.ranks).map(|node| {
                        format!("bytes sent by funcs matching \"{of}\" to node {node}")
                    }))
                }
                ColumnKind::Lump => {
                    for class in 0..CLASSES {
                        let high = 1u64 << class;
                        let low = if class == 0 { 1 } else { high / 2 + 1 };
                        for what in ["sends", "recvs"] {
                            titles.push(format!("{what} from {low} up to {high} bytes for {of}"));
                        }
                    }
                }
                ColumnKind::Counters => {
                    for name in self.counters {
                        for side in ["inside", "outside"] {
                            titles.push(format!("performance counter {name} {side} MPI"));
                        }
                    }
                }
            }
        }
        titles
    }
}

/// Sums of one rank in one bin.
#[derive(Clone, Debug)]
pub struct ColumnSums(Vec<ColumnSum>);

#[derive(Clone, Debug)]
enum ColumnSum {
    Count(u64),
    /// Cpu and wall clock.
    Time([InOut; 2]),
    Bytes(i64),
    Exchange(Vec<i64>),
    Lump(Vec<[u64; 2]>),
    Counters(Vec<InOut>),
}

/// Time inside matching calls, and between them and in others.
#[derive(Clone, Copy, Debug, Default)]
struct InOut {
    inside: i64,
    outside: i64,
    /// End of the last call.
    last: Option<i64>,
}

impl InOut {
    fn add(&mut self, start: i64, stop: i64, matches: bool) {
        let gap = |to: i64| self.last.map_or(0, |last| to.wrapping_sub(last));
        if matches {
            self.outside = self.outside.wrapping_add(gap(start));
            self.inside = self.inside.wrapping_add(stop.wrapping_sub(start));
        } else {
            self.outside = self.outside.wrapping_add(gap(stop));
        }
        self.last = Some(stop);
    }
}

impl ColumnSums {
    pub fn new(shape: &RunShape<'_>) -> Self {
        let sum = |column: &Column| match column.kind {
            ColumnKind::Count => ColumnSum::Count(0),
            ColumnKind::Time => ColumnSum::Time(Default::default()),
            ColumnKind::Sent | ColumnKind::Received => ColumnSum::Bytes(0),
            ColumnKind::Exchange => ColumnSum::Exchange(vec![0; shape.ranks as usize]),
            ColumnKind::Lump => ColumnSum::Lump(vec![[0; 2]; CLASSES]),
            ColumnKind::Counters => {
                ColumnSum::Counters(vec![InOut::default(); shape.counters.len()])
            }
        };
        ColumnSums(shape.columns.iter().map(sum).collect())
    }

    /// A new interval begins: what passed since the last one does not count.
    pub fn pause(&mut self) {
        for sum in &mut self.0 {
            match sum {
                ColumnSum::Time(clocks) => clocks.iter_mut().for_each(|clock| clock.last = None),
                ColumnSum::Counters(counters) => counters.iter_mut().for_each(|c| c.last = None),
                _ => {}
            }
        }
    }

    /// Takes a call, and its bytes if it is one that is counted.
    pub fn add(&mut self, columns: &[Column], record: &DumpiRecord<'_>, traffic: Option<&Traffic>) {
        for (sum, Column { kind, pattern }) in self.0.iter_mut().zip(columns) {
            let matches = pattern.has(record.function.id);
            let bytes = || traffic.filter(|_| matches);
            match sum {
                ColumnSum::Count(count) => *count += u64::from(matches),
                ColumnSum::Time([cpu, wall]) => {
                    for (clock, ClockSpan { start, stop }) in
                        [(cpu, record.cpu), (wall, record.wall)]
                    {
                        clock.add(start.ns(), stop.ns(), matches);
                    }
                }
                ColumnSum::Bytes(sum) => {
                    if let Some(traffic) = bytes() {
                        *sum = sum.saturating_add(match kind {
                            ColumnKind::Sent => traffic.sent,
                            _ => traffic.received,
                        });
                    }
                }
                ColumnSum::Exchange(sums) => {
                    let sum = bytes().and_then(|traffic| {
                        let to = usize::try_from(traffic.to?).ok()?;
                        Some((sums.get_mut(to)?, traffic.sent))
                    });
                    if let Some((sum, sent)) = sum {
                        *sum = sum.saturating_add(sent);
                    }
                }
                ColumnSum::Lump(classes) => {
                    if let Some(traffic) = bytes() {
                        for (side, bytes) in
                            [traffic.sent, traffic.received].into_iter().enumerate()
                        {
                            if let Some(class) = class(bytes).and_then(|at| classes.get_mut(at)) {
                                class[side] += 1;
                            }
                        }
                    }
                }
                ColumnSum::Counters(counters) => {
                    for (counter, (entry, exit)) in counters.iter_mut().zip(record.counters.iter())
                    {
                        counter.add(entry, exit, matches);
                    }
                }
            }
        }
    }

    /// The columns of a row.
    pub fn write(&self, row: &mut String) {
        for sum in &self.0 {
            match sum {
                ColumnSum::Count(count) => cell(row, count),
                ColumnSum::Time(clocks) => {
                    for clock in clocks {
                        cell(row, &exact_seconds(clock.inside));
                        cell(row, &exact_seconds(clock.outside));
                    }
                }
                ColumnSum::Bytes(bytes) => cell(row, bytes),
                ColumnSum::Exchange(bytes) => bytes.iter().for_each(|bytes| cell(row, bytes)),
                ColumnSum::Lump(classes) => {
                    classes.iter().flatten().for_each(|count| cell(row, count))
                }
                ColumnSum::Counters(counters) => {
                    for counter in counters {
                        cell(row, &counter.inside);
                        cell(row, &counter.outside);
                    }
                }
            }
        }
    }
}

/// The class of a message of so many bytes: 1, 2, 3 to 4, 5 to 8, …; none of no bytes.
fn class(bytes: i64) -> Option<usize> {
    let bytes = u64::try_from(bytes).ok().filter(|&bytes| bytes > 0)?;
    let class = (u64::BITS - (bytes - 1).leading_zeros()) as usize;
    Some(class.min(CLASSES - 1))
}

/// A column of 20 characters and a blank.
pub fn cell(row: &mut String, value: &impl std::fmt::Display) {
    // Writing to a string cannot fail.
    let _ = write!(row, "{:>20} ", value.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_hold_what_their_titles_say() {
        let classes = [0, -4, 1, 2, 3, 4, 5, 8, 9, 1 << 39, i64::MAX].map(class);
        let expected = [
            None,
            None,
            Some(0),
            Some(1),
            Some(2),
            Some(2),
            Some(3),
            Some(3),
            Some(4),
            Some(39),
            Some(39),
        ];
        assert_eq!(classes, expected);
    }

    #[test]
    fn times_beyond_32_bits_of_nanoseconds() {
        assert_eq!(exact_seconds(5_000_000_001), "5.000000001");
        assert_eq!(exact_seconds(-1_500_000_000), "-1.500000000");
        let mut clock = InOut::default();
        clock.add(0, 10, false);
        clock.add(5_000_000_010, 9_000_000_010, true);
        clock.add(9_000_000_010, 9_000_000_020, false);
        assert_eq!(
            (clock.inside, clock.outside),
            (4_000_000_000, 5_000_000_010)
        );
    }
}
