//! Calls that DUMPI has no record for: a Function_enter and a Function_exit record, the name in the table of addresses.
//!
//! Readers show them as an annotated region. The pair is written where the call ended, like all records; its times are those
//! of the call, so that a simulator takes the call's duration as computing. Keys are far above those of annotations (from 1
//! and from 4096 on) and above all user addresses (47 bits).

use crate::dumpi::functions::{FUNCTION_ENTER, FUNCTION_EXIT};
use crate::dumpi::types::{AddressLabel, Span};
use crate::dumpi::write::{Head, WriteError, Writer};
use std::collections::BTreeMap;
use std::io::Write;
use wrappers::Table;

/// Keys begin with the letters MPI.
const KEY: u64 = 0x4D50_4900_0000_0000;

/// The key of function number `number` of a record.
fn key(number: u16) -> u64 {
    KEY | u64::from(number)
}

/// Which functions were written as pairs, and the names of those outside the table.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    outside: BTreeMap<u16, String>,
    /// By first use.
    used: Vec<u16>,
    is_used: Vec<bool>,
}

impl Names {
    /// Takes note of a function outside the table.
    pub fn define(&mut self, number: u16, name: &str) {
        self.outside.insert(number, name.to_owned());
    }

    /// Writes the pair of one call.
    ///
    /// # Errors
    /// If the output fails.
    pub fn pair<W: Write>(
        &mut self,
        writer: &mut Writer<W>,
        number: u16,
        head: &Head,
    ) -> Result<(), WriteError> {
        let i = usize::from(number);
        if self.is_used.len() <= i {
            self.is_used.resize(i + 1, false);
        }
        if !self.is_used[i] {
            self.is_used[i] = true;
            self.used.push(number);
        }
        let at = |moment| Span {
            start: moment,
            stop: moment,
        };
        let halves = [
            (FUNCTION_ENTER, at(head.cpu.start), at(head.wall.start)),
            (FUNCTION_EXIT, at(head.cpu.stop), at(head.wall.stop)),
        ];
        for (id, cpu, wall) in halves {
            let head = Head { cpu, wall, ..*head };
            let mut call = writer.call(id, &head, &[]);
            call.u64(key(number));
            call.end()?;
        }
        Ok(())
    }

    /// The names, in the order of the reference: by the exclusive or of the key's four low bytes, then by first use.
    pub fn labels(self, table: &Table) -> Vec<AddressLabel> {
        let name = |number: u16| match table.functions.get(usize::from(number)) {
            Some(f) => f.name.clone(),
            None => match self.outside.get(&number) {
                Some(name) => name.clone(),
                None => format!("function {number}"),
            },
        };
        let mut used = self.used.clone();
        used.sort_by_key(|n| n.to_be_bytes().into_iter().fold(0, |x, b| x ^ b));
        used.into_iter()
            .map(|number| AddressLabel {
                key: key(number),
                label: name(number).into_bytes(),
            })
            .collect()
    }
}
