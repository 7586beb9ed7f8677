//! A record on its way into a [`DumpiWriter`]: its fields, one by one.

use std::io::Write;

use super::cursor::DumpiCursor;
use super::dialect::{Mask, StreamDialect};
use super::encode::{put_count, put_ints, put_list, put_string};
use super::schema::{DumpiField, DumpiFunction};
use super::stream::{callable, measure};
use super::types::{ClockOffsets, ClockSpan, ClockTime, DumpiRecord};
use super::value::{DumpiStatus, FieldValue};
use super::write::{DumpiWriteError, DumpiWriter, FLUSH_BYTES, RecordHead};

/// A record under construction. Every method appends one field, in stream order.
#[derive(Debug)]
pub struct RecordBuilder<'w, W: Write> {
    writer: &'w mut DumpiWriter<W>,
    id: u16,
    function: Option<&'static DumpiFunction>,
    mask: Mask,
    start: usize,
    args: usize,
    ended: bool,
}

impl<W: Write> DumpiWriter<W> {
    /// Begins a record. `counters` are (entry, return) values, at most 255, written if the mask says so. Without
    /// [`RecordBuilder::end`] the record is dropped.
    #[inline]
    pub fn call(
        &mut self,
        id: u16,
        head: &RecordHead,
        counters: &[(i64, i64)],
    ) -> RecordBuilder<'_, W> {
        RecordBuilder::begin(self, id, head, counters)
    }

    /// Writes a record whose arguments stand encoded in the first `bytes` bytes of `args`, as [`RecordBuilder::end_with`] gave them for
    /// another record of the same function and the same status bits.
    ///
    /// # Errors
    /// If the output fails.
    #[inline(always)] // so that nothing is kept of the head that is not used
    pub fn encoded_call<const N: usize>(
        &mut self,
        id: u16,
        head: &RecordHead,
        counters: &[(i64, i64)],
        args: &[u8; N],
        bytes: usize,
    ) -> Result<(), DumpiWriteError> {
        put_usual_head(&mut self.buf, self.offsets, id, head, counters);
        // All of the array, as a copy of known size takes some instructions only.
        let end = self.buf.len() + bytes.min(N);
        self.buf.extend_from_slice(args);
        self.buf.truncate(end);
        if end >= FLUSH_BYTES {
            self.pass_on()?;
        }
        Ok(())
    }

    /// Copies a record of another file, in the current layout.
    pub fn record(&mut self, record: &DumpiRecord<'_>) -> Result<(), DumpiWriteError> {
        let head = RecordHead {
            mask: record.mask,
            thread: record.thread,
            cpu: record.cpu,
            wall: record.wall,
        };
        let counters: Vec<_> = record.counters.iter().collect();
        let mut call = self.call(record.function.id, &head, &counters);
        for (field, arg) in record.args() {
            call.arg(field, &arg);
        }
        call.end()
    }
}

impl<'w, W: Write> RecordBuilder<'w, W> {
    /// Writes what stands in front of the arguments.
    #[inline]
    fn begin(
        writer: &'w mut DumpiWriter<W>,
        id: u16,
        head: &RecordHead,
        counters: &[(i64, i64)],
    ) -> Self {
        let start = writer.buf.len();
        put_head(&mut writer.buf, writer.offsets, id, head, counters);
        let args = writer.buf.len();
        RecordBuilder {
            writer,
            id,
            function: callable(id),
            mask: head.mask,
            start,
            args,
            ended: false,
        }
    }

    /// Codes int, src, dst, tag, req, ioreq: four bytes.
    #[inline]
    pub fn int(&mut self, value: i32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Code i64.
    #[inline]
    pub fn i64(&mut self, value: i64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Code u64.
    #[inline]
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Codes comm, dt, grp, eh, file, info, win, kv: the low 16 bits of a handle number.
    #[inline]
    pub fn handle(&mut self, number: i32) -> &mut Self {
        self.raw(&(number as u16).to_be_bytes())
    }

    /// Codes of one byte, op among them: the low 8 bits.
    #[inline]
    pub fn code(&mut self, value: i32) -> &mut Self {
        self.raw(&[value as u8])
    }

    /// Code str.
    pub fn string(&mut self, text: &[u8]) -> &mut Self {
        put_count(&mut self.writer.buf, text.len());
        self.raw(text)
    }

    /// An array of four-byte numbers.
    #[inline]
    pub fn ints(&mut self, values: impl IntoIterator<Item = i32>) -> &mut Self {
        self.list(values, |b, v| b.extend_from_slice(&v.to_be_bytes()))
    }

    /// An array of handle numbers.
    #[inline]
    pub fn handles(&mut self, numbers: impl IntoIterator<Item = i32>) -> &mut Self {
        self.list(numbers, |b, v| {
            b.extend_from_slice(&(v as u16).to_be_bytes())
        })
    }

    /// An array of one-byte values.
    pub fn codes(&mut self, values: impl IntoIterator<Item = i32>) -> &mut Self {
        self.list(values, |b, v| b.push(v as u8))
    }

    /// Rows of three.
    pub fn rows(&mut self, rows: impl IntoIterator<Item = [i32; 3]>) -> &mut Self {
        self.list(rows, |b, row| put_ints(b, &row))
    }

    /// Rows of any length, as only damaged files have them.
    pub(super) fn uneven_rows<'r>(&mut self, rows: impl Iterator<Item = &'r [i32]>) -> &mut Self {
        self.list(rows, put_ints)
    }

    /// A list of strings.
    pub fn strings<S: AsRef<[u8]>>(&mut self, texts: impl IntoIterator<Item = S>) -> &mut Self {
        self.list(texts, |b, text| put_string(b, text.as_ref()))
    }

    /// A list of lists of strings.
    pub fn string_lists<L, S>(&mut self, lists: impl IntoIterator<Item = L>) -> &mut Self
    where
        L: IntoIterator<Item = S>,
        S: AsRef<[u8]>,
    {
        self.list(lists, |b, texts| {
            put_list(b, texts, |b, text| put_string(b, text.as_ref()))
        })
    }

    /// Code stat, scalar or array: empty for an ignored or unavailable status. Writes nothing if the record's mask
    /// has no status bit.
    #[inline]
    pub fn statuses(&mut self, statuses: impl IntoIterator<Item = DumpiStatus>) -> &mut Self {
        if self.mask.statuses() {
            self.list(statuses, |b, status| b.extend_from_slice(&status.encode()))
        } else {
            self
        }
    }

    /// A value as the reader gives it.
    pub fn arg(&mut self, field: &DumpiField, arg: &FieldValue<'_>) -> &mut Self {
        match *arg {
            FieldValue::Absent => self,
            FieldValue::Int(v) => match field.code.width() {
                4 => self.int(v),
                2 => self.handle(v),
                _ => self.code(v),
            },
            FieldValue::I64(v) => self.i64(v),
            FieldValue::U64(v) => self.u64(v),
            FieldValue::Str(text) => self.string(text),
            FieldValue::Ints(values) => self.ints(values.iter()),
            FieldValue::Handles(numbers) => self.handles(numbers.iter().map(i32::from)),
            FieldValue::Enums(values) => self.codes(values.iter().map(|v| i32::from(*v))),
            FieldValue::Rows(rows) => self.list(rows.iter(), |b, row| {
                put_list(b, row.iter(), |b, v| b.extend_from_slice(&v.to_be_bytes()))
            }),
            FieldValue::Strs(texts) => self.strings(texts.iter()),
            FieldValue::StrLists(lists) => {
                self.string_lists(lists.iter().map(|texts| texts.iter()))
            }
            FieldValue::Statuses(statuses) => self.statuses(statuses.iter()),
        }
    }

    /// Keeps the record if it fits the function table.
    #[inline]
    pub fn end(self) -> Result<(), DumpiWriteError> {
        self.end_with(|_| ())
    }

    /// As [`RecordBuilder::end`]; shows the encoded arguments of a record that fits to `look`.
    ///
    /// # Errors
    /// If the record does not fit, or the output fails.
    #[inline]
    pub fn end_with(mut self, look: impl FnOnce(&[u8])) -> Result<(), DumpiWriteError> {
        let function = self
            .function
            .ok_or(DumpiWriteError::UnknownFunction(self.id))?;
        let written = self.writer.buf.len() - self.args;
        let args = DumpiCursor::at(&self.writer.buf, self.args);
        let needed = measure(function, self.mask, StreamDialect::CURRENT, args).ok();
        if needed != Some(written) {
            return Err(DumpiWriteError::Misfit {
                function: function.name,
                written,
                needed,
            });
        }
        self.ended = true;
        look(self.writer.buf.get(self.args..).unwrap_or_default());
        if self.writer.buf.len() >= FLUSH_BYTES {
            self.writer.pass_on()?;
        }
        Ok(())
    }

    #[inline]
    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.writer.buf.extend_from_slice(bytes);
        self
    }

    #[inline]
    fn list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        put: impl FnMut(&mut Vec<u8>, T),
    ) -> &mut Self {
        put_list(&mut self.writer.buf, items, put);
        self
    }
}

impl<W: Write> Drop for RecordBuilder<'_, W> {
    fn drop(&mut self) {
        if !self.ended {
            self.writer.buf.truncate(self.start);
        }
    }
}

/// Appends what stands in front of the arguments, quickly where that is number, thread and wall times.
#[inline(always)] // as what it is used in
fn put_usual_head(
    b: &mut Vec<u8>,
    offsets: ClockOffsets,
    id: u16,
    head: &RecordHead,
    counters: &[(i64, i64)],
) {
    let mask = head.mask;
    let [id_high, id_low] = id.to_be_bytes();
    let [thread_high, thread_low] = head.thread.to_be_bytes();
    let usual = Mask::THREAD | Mask::WALL;
    if mask.0 & (usual | Mask::CPU | Mask::COUNTERS) == usual {
        let mut out = [0; 5 + SPAN_BYTES];
        out[..5].copy_from_slice(&[id_high, id_low, mask.0, thread_high, thread_low]);
        out[5..].copy_from_slice(&encode_span(head.wall, offsets.wall));
        b.extend_from_slice(&out);
        return;
    }
    put_head(b, offsets, id, head, counters);
}

/// Appends what stands in front of the arguments.
fn put_head(
    b: &mut Vec<u8>,
    offsets: ClockOffsets,
    id: u16,
    head: &RecordHead,
    counters: &[(i64, i64)],
) {
    let mask = head.mask;
    b.extend_from_slice(&id.to_be_bytes());
    b.push(mask.0);
    if mask.has(Mask::THREAD) {
        b.extend_from_slice(&head.thread.to_be_bytes());
    }
    if mask.has(Mask::CPU) {
        b.extend_from_slice(&encode_span(head.cpu, offsets.cpu));
    }
    if mask.has(Mask::WALL) {
        b.extend_from_slice(&encode_span(head.wall, offsets.wall));
    }
    if mask.has(Mask::COUNTERS) {
        let count = u8::try_from(counters.len()).unwrap_or(u8::MAX);
        b.push(count);
        for (entry, exit) in counters.iter().take(count.into()) {
            b.extend_from_slice(&entry.to_be_bytes());
            b.extend_from_slice(&exit.to_be_bytes());
        }
    }
}

/// Bytes of a start and a stop.
const SPAN_BYTES: usize = 12;

/// Start and stop as the stream has them.
#[inline]
pub(super) fn encode_span(span: ClockSpan, offset: i32) -> [u8; SPAN_BYTES] {
    let mut out = [0; SPAN_BYTES];
    let mut put = |at: usize, clock: ClockTime| {
        out[at..at + 2].copy_from_slice(&(clock.sec.wrapping_sub(offset) as u16).to_be_bytes());
        out[at + 2..at + 6].copy_from_slice(&clock.nsec.to_be_bytes());
    };
    put(0, span.start);
    put(6, span.stop);
    out
}
