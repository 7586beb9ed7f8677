//! Records as text: see [`mod@super::print`].

use super::functions::{self, DumpiField, FieldCode, FieldShape, MAX_FIELDS};
use super::names::{self, ASSERTION_FLAGS};
use super::types::{AddressLabel, ClockTime, DumpiRecord, Mask};
use super::value::{DumpiStatus, FieldValue, Statuses, Strs};

/// Names that stand outside the stream.
pub(super) struct Labels {
    pub counters: Vec<Vec<u8>>,
    pub addresses: Addresses,
}

/// Address labels in the order of their keys.
pub(super) struct Addresses(Vec<AddressLabel>);

impl Addresses {
    pub fn new(mut labels: Vec<AddressLabel>) -> Self {
        labels.sort_by_key(|l| l.key);
        labels.dedup_by_key(|l| l.key);
        Self(labels)
    }

    fn get(&self, key: u64) -> &[u8] {
        match self.0.binary_search_by_key(&key, |l| l.key) {
            Ok(i) => self.0.get(i).map_or(&[], |l| &l.label),
            Err(_) => b"(null)",
        }
    }
}

/// Text under construction.
pub(super) struct TextWriter {
    pub buf: Vec<u8>,
}

impl TextWriter {
    #[inline]
    pub fn str(&mut self, s: &str) -> &mut Self {
        self.bytes(s.as_bytes())
    }

    #[inline]
    pub fn bytes(&mut self, b: &[u8]) -> &mut Self {
        self.buf.extend_from_slice(b);
        self
    }

    #[inline]
    pub fn number(&mut self, n: impl itoa::Integer) -> &mut Self {
        self.str(itoa::Buffer::new().format(n))
    }

    /// Writes an element of a list for [`TextWriter::joined`].
    pub fn number_item(&mut self, n: i32) {
        self.number(n);
    }

    /// Items with a comma and a blank between them.
    #[inline]
    pub fn joined<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut show: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        for (i, item) in items.enumerate() {
            if i > 0 {
                self.str(", ");
            }
            show(self, item);
        }
        self
    }

    /// `%d.%09d`
    fn clock(&mut self, clock: ClockTime) -> &mut Self {
        self.number(clock.sec);
        let mut digits = *b".000000000";
        match u32::try_from(clock.nsec) {
            Ok(mut rest @ 0..1_000_000_000) => {
                for digit in digits[1..].iter_mut().rev() {
                    *digit = b'0' + (rest % 10) as u8;
                    rest /= 10;
                }
                self.bytes(&digits)
            }
            _ => self.str(&format!(".{:09}", clock.nsec)),
        }
    }

    pub fn record(&mut self, record: &DumpiRecord<'_>, labels: &Labels) {
        self.edge(
            record,
            " entering at walltime ",
            record.wall.start,
            record.cpu.start,
        );
        self.counters(record, labels, |(entry, _)| entry);
        self.args(record, labels);
        self.edge(
            record,
            " returning at walltime ",
            record.wall.stop,
            record.cpu.stop,
        );
        self.counters(record, labels, |(_, exit)| exit);
    }

    fn edge(&mut self, record: &DumpiRecord<'_>, what: &str, wall: ClockTime, cpu: ClockTime) {
        self.str(record.function.name)
            .str(what)
            .clock(wall)
            .str(", cputime ")
            .clock(cpu);
        self.str(" seconds in thread ")
            .number(record.thread)
            .str(".\n");
    }

    fn counters(
        &mut self,
        record: &DumpiRecord<'_>,
        labels: &Labels,
        pick: impl Fn((i64, i64)) -> i64,
    ) {
        if !record.mask.has(Mask::COUNTERS) || record.counters.is_empty() {
            return;
        }
        self.str("Perfcounters: [");
        self.joined(record.counters.iter().enumerate(), |text, (i, pair)| {
            let label = labels.counters.get(i).map_or(b"(null)".as_slice(), |l| l);
            text.bytes(label).str("=").number(pick(pair));
        });
        self.str("]\n");
    }

    fn args(&mut self, record: &DumpiRecord<'_>, labels: &Labels) {
        let fields = record.function.fields();
        let mut args = [FieldValue::Absent; MAX_FIELDS];
        for (place, (_, arg)) in args.iter_mut().zip(record.args()) {
            *place = arg;
        }
        // A field that bounds an array shows the length that the array has in the file.
        for (i, field) in fields.iter().enumerate() {
            if let (FieldShape::Array { bound } | FieldShape::Rows { bound }, Some(len)) =
                (field.shape, stored(args[i]))
            {
                args[usize::from(bound)] = FieldValue::Int(i32::try_from(len).unwrap_or(i32::MAX));
            }
        }
        match record.function.display_order() {
            None => (0..fields.len()).for_each(|i| self.arg(record, fields, &args, i, labels)),
            Some(order) => order
                .iter()
                .for_each(|&i| self.arg(record, fields, &args, i.into(), labels)),
        }
    }

    fn arg(
        &mut self,
        record: &DumpiRecord<'_>,
        fields: &[DumpiField],
        args: &[FieldValue<'_>; MAX_FIELDS],
        i: usize,
        labels: &Labels,
    ) {
        let (field, arg) = (&fields[i], args[i]);
        match field.shape {
            FieldShape::One => self.one(field, arg, labels),
            FieldShape::Array { bound } => {
                let bound = args.get(usize::from(bound)).copied().map_or(0, int);
                self.declare(field).str("[").number(bound).str("]=");
                self.array(field, arg);
            }
            FieldShape::Rows { bound } => {
                let bound = args.get(usize::from(bound)).copied().map_or(0, int);
                self.declare(field).str("[").number(bound).str("][3]=");
                self.rows(arg);
            }
            FieldShape::List => self.list(record.function.id, field, arg),
            FieldShape::Lists => self.lists(field, arg),
        }
    }

    /// Type and name.
    #[inline]
    fn declare(&mut self, field: &DumpiField) -> &mut Self {
        self.str(names::c_type(field.code)).str(" ").str(field.name)
    }

    fn one(&mut self, field: &DumpiField, arg: FieldValue<'_>, labels: &Labels) {
        self.declare(field).str("=");
        match field.code {
            FieldCode::Int => self.number(int(arg)),
            FieldCode::I64 => self.number(if let FieldValue::I64(v) = arg { v } else { 0 }),
            FieldCode::U64 => {
                let key = if let FieldValue::U64(v) = arg { v } else { 0 };
                self.number(key)
                    .str(" (\"")
                    .bytes(labels.addresses.get(key))
                    .str("\")")
            }
            FieldCode::Str => match arg {
                FieldValue::Str(s) => self.str("\"").bytes(s).str("\""),
                _ => self.str("\"(null)\""),
            },
            FieldCode::Stat => match arg {
                FieldValue::Statuses(s) if !s.is_empty() => self.statuses(s),
                _ => self.str("<IGNORED>"),
            },
            FieldCode::Req | FieldCode::IoReq => self.str("[").number(int(arg)).str("]"),
            FieldCode::Src | FieldCode::Dst | FieldCode::Tag => {
                let v = int(arg);
                self.number(v);
                match names::wildcard(field.code, v) {
                    Some(name) => self.str(" (").str(name).str(")"),
                    None => self,
                }
            }
            FieldCode::Assert => self.assertion(int(arg)),
            code => {
                let v = int(arg);
                self.number(v)
                    .str(" (")
                    .str(names::name(code, v).unwrap_or_default())
                    .str(")")
            }
        };
        self.str("\n");
    }

    fn assertion(&mut self, v: i32) -> &mut Self {
        self.number(v).str(" (");
        match v {
            0 => _ = self.str("DUMPI_MODE_NONE"),
            1..=31 => {
                let set = ASSERTION_FLAGS
                    .iter()
                    .enumerate()
                    .filter(|(bit, _)| v >> bit & 1 == 1);
                for (nth, (_, name)) in set.enumerate() {
                    self.str(if nth > 0 { "|" } else { "" }).str(name);
                }
            }
            _ => _ = self.str("DUMPI_MODE_ERROR"),
        }
        self.str(")")
    }

    fn array(&mut self, field: &DumpiField, arg: FieldValue<'_>) {
        match arg {
            FieldValue::Ints(v) if !v.is_empty() => {
                self.str("[").joined(v.iter(), Self::number_item).str("]")
            }
            FieldValue::Handles(v) => self
                .str("[")
                .joined(v.iter().map(i32::from), Self::number_item)
                .str("]"),
            FieldValue::Enums(v) => self
                .str("[")
                .joined(v.iter().map(|v| i32::from(*v)), Self::number_item)
                .str("]"),
            FieldValue::Statuses(s) if !s.is_empty() => self.statuses(s),
            FieldValue::Absent if field.code.width() < 4 => self.str("[]"),
            _ => self.str("<IGNORED>"),
        };
        self.str("\n");
    }

    /// The line break behind the last row is missing, so that the next line continues there.
    fn rows(&mut self, arg: FieldValue<'_>) {
        match arg {
            FieldValue::Rows(rows) if !rows.is_empty() => {
                self.str("[");
                self.joined(rows.iter(), |text, row| {
                    text.str("[")
                        .joined(row.iter(), Self::number_item)
                        .str("]\n");
                });
                self.str("]");
            }
            _ => {
                self.str("<IGNORED>\n");
            }
        }
    }

    /// argv of MPI_Init, argv of MPI_Comm_spawn, commands of MPI_Comm_spawn_multiple: each in its own way.
    fn list(&mut self, function: u16, field: &DumpiField, arg: FieldValue<'_>) {
        let texts = if let FieldValue::Strs(s) = arg {
            Some(s)
        } else {
            None
        };
        let count = texts.map_or(0, |t| t.len());
        if field.name == "argv" && function != functions::INIT && function != functions::INIT_THREAD
        {
            self.str("string argv[-2]=");
            match texts {
                Some(texts) => self.run_together(texts),
                None => self.str("<IGNORED>"),
            };
        } else {
            if field.name == "argv" {
                self.str("int argc=").number(count).str("\n");
            }
            self.declare(field).str("[").number(count).str("]=");
            match texts {
                Some(texts) if count > 0 => {
                    self.str("[").joined(texts.iter(), Self::quoted).str("]")
                }
                _ => self.str("<IGNORED>"),
            };
        }
        self.str("\n");
    }

    fn lists(&mut self, field: &DumpiField, arg: FieldValue<'_>) {
        let lists = if let FieldValue::StrLists(l) = arg {
            Some(l)
        } else {
            None
        };
        let count = lists.map_or(0, |l| l.len());
        self.declare(field).str("[").number(count).str("][-2]=");
        match lists {
            Some(lists) if count > 0 => self
                .str("[")
                .joined(lists.iter(), |text, texts| _ = text.run_together(texts))
                .str("]"),
            _ => self.str("<IGNORED>"),
        };
        self.str("\n");
    }

    fn quoted(&mut self, s: &[u8]) {
        self.str("\"").bytes(s).str("\"");
    }

    fn run_together(&mut self, texts: Strs<'_>) -> &mut Self {
        self.str("[");
        texts.iter().for_each(|s| self.quoted(s));
        self.str("]")
    }

    fn statuses(&mut self, statuses: Statuses<'_>) -> &mut Self {
        self.str("[");
        self.joined(
            statuses.iter(),
            |text,
             DumpiStatus {
                 bytes,
                 source,
                 cancelled,
                 error,
                 tag,
             }| {
                text.str("{bytes=")
                    .number(bytes)
                    .str(", cancelled=")
                    .number(cancelled)
                    .str(", source=")
                    .number(source);
                text.str(", tag=")
                    .number(tag)
                    .str(", error=")
                    .number(error)
                    .str("}");
            },
        );
        self.str("]")
    }
}

/// The number of a field; an absent one is 0.
fn int(arg: FieldValue<'_>) -> i32 {
    if let FieldValue::Int(v) = arg { v } else { 0 }
}

/// Length of an array in the file, if it is there and its length replaces that of the bound.
fn stored(arg: FieldValue<'_>) -> Option<usize> {
    match arg {
        FieldValue::Ints(v) => Some(v.len()),
        FieldValue::Handles(v) => Some(v.len()),
        FieldValue::Enums(v) => Some(v.len()),
        FieldValue::Rows(v) => Some(v.len()),
        _ => None,
    }
}
