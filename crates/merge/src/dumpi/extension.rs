//! Records for what DUMPI has no function for: annotations, and calls without a record of their own. Both are a Function_enter
//! and a
//! Function_exit record, and a name in the table of addresses.
//!
//! Readers show them as a region. The pair of a call is written where the call ended, like all records; its times are those
//! of the call, so that a simulator takes the call's duration as computing. Keys of calls are far above those of annotations
//! (from 1 and from 4096 on) and above all user addresses (48 bits).

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use trace_formats::dumpi::functions::{FUNCTION_ENTER, FUNCTION_EXIT};
use trace_formats::dumpi::types::{ANNOTATION, AddressLabel, ClockSpan};
use trace_formats::dumpi::write::{DumpiWriteError, DumpiWriter, RecordHead};
use wrappers::Table;

/// Keys of calls begin with the letters MPI.
const KEY: u64 = 0x4D50_4900_0000_0000;

/// The key of function number `number` of a record.
fn key(number: u16) -> u64 {
    KEY | u64::from(number)
}

/// Meaning of a key.
#[derive(Clone, Debug)]
enum KeyMeaning {
    /// The function with this number.
    Function(u16),
    /// An annotation with this text.
    Annotation(String),
    /// A region with this name.
    Region(String),
    /// A function of the program with this name.
    Code(String),
}

/// Which of a pair's records are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Halves {
    /// Function_enter.
    pub enter: bool,
    /// Function_exit.
    pub exit: bool,
}

/// Which keys were written, and what they stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct WrittenKeys {
    outside: BTreeMap<u16, String>,
    /// By first use.
    used: Vec<(u64, KeyMeaning)>,
    keys: HashSet<u64>,
    /// Calls come in masses: the same as `keys`, by number of the function.
    is_used: Vec<bool>,
}

impl WrittenKeys {
    /// Takes note of a function outside the table.
    pub fn define(&mut self, number: u16, name: &str) {
        self.outside.insert(number, name.to_owned());
    }

    /// The pair of one call, or its first half. Of the values of counters, those at entry stand in the first record, those at
    /// return in the second.
    ///
    /// # Errors
    /// If the output fails.
    pub fn call<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        number: u16,
        head: &RecordHead,
        halves: Halves,
        counts: &[(i64, i64)],
    ) -> Result<(), DumpiWriteError> {
        let i = usize::from(number);
        if self.is_used.len() <= i {
            self.is_used.resize(i + 1, false);
        }
        if !self.is_used[i] {
            self.is_used[i] = true;
            if self.keys.insert(key(number)) {
                self.used.push((key(number), KeyMeaning::Function(number)));
            }
        }
        pair(writer, key(number), head, halves, counts)
    }

    /// An annotation. Its label is noted whichever halves are written; the first text of a key counts.
    ///
    /// # Errors
    /// If the output fails.
    pub fn annotation<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        (key, text): (u64, &str),
        head: &RecordHead,
        halves: Halves,
    ) -> Result<(), DumpiWriteError> {
        if self.keys.insert(key) {
            self.used
                .push((key, KeyMeaning::Annotation(text.to_owned())));
        }
        pair(writer, key, head, halves, &[])
    }

    /// A region begins or ends, as `halves` say.
    ///
    /// # Errors
    /// If the output fails.
    pub fn region<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        (key, name): (u64, &str),
        head: &RecordHead,
        halves: Halves,
    ) -> Result<(), DumpiWriteError> {
        if self.keys.insert(key) {
            self.used.push((key, KeyMeaning::Region(name.to_owned())));
        }
        pair(writer, key, head, halves, &[])
    }

    /// A function of the program is entered or left.
    ///
    /// # Errors
    /// If the output fails.
    pub fn step<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        (address, name): (u64, &str),
        enters: bool,
        head: &RecordHead,
    ) -> Result<(), DumpiWriteError> {
        if self.keys.insert(address) {
            self.used.push((address, KeyMeaning::Code(name.to_owned())));
        }
        let halves = Halves {
            enter: enters,
            exit: !enters,
        };
        pair(writer, address, head, halves, &[])
    }

    /// The names, in the order of the reference: by the exclusive or of the key's four low bytes, then by first use.
    pub fn labels(mut self, table: &Table) -> Vec<AddressLabel> {
        self.used.sort_by_key(|(key, _)| {
            let low = (*key as u32).to_be_bytes();
            low.into_iter().fold(0, |x, byte| x ^ byte)
        });
        let outside = self.outside;
        let name = |named| match named {
            KeyMeaning::Annotation(text) => format!("{ANNOTATION}{text}"),
            KeyMeaning::Region(name) => name,
            KeyMeaning::Code(name) => name,
            KeyMeaning::Function(number) => match table.functions.get(usize::from(number)) {
                Some(f) => f.name.clone(),
                None => match outside.get(&number) {
                    Some(name) => name.clone(),
                    None => format!("function {number}"),
                },
            },
        };
        let label = |(key, named)| AddressLabel {
            key,
            label: name(named).into_bytes(),
        };
        self.used.into_iter().map(label).collect()
    }
}

/// Writes the pair of records that the span of `head` begins and ends with.
fn pair<W: Write>(
    writer: &mut DumpiWriter<W>,
    key: u64,
    head: &RecordHead,
    halves: Halves,
    counts: &[(i64, i64)],
) -> Result<(), DumpiWriteError> {
    let at = |moment| ClockSpan {
        start: moment,
        stop: moment,
    };
    let entry: Vec<_> = counts.iter().map(|&(before, _)| (before, before)).collect();
    let after: Vec<_> = counts.iter().map(|&(_, after)| (after, after)).collect();
    let enter = (FUNCTION_ENTER, at(head.cpu.start), at(head.wall.start));
    let exit = (FUNCTION_EXIT, at(head.cpu.stop), at(head.wall.stop));
    for (wanted, (id, cpu, wall), counts) in
        [(halves.enter, enter, entry), (halves.exit, exit, after)]
    {
        if wanted {
            let head = RecordHead { cpu, wall, ..*head };
            let mut call = writer.call(id, &head, &counts);
            call.u64(key);
            call.end()?;
        }
    }
    Ok(())
}
