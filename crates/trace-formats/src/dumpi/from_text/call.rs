//! The argument lines of a record.

use std::io::Write;
use std::ops::Range;

use super::super::call::RecordBuilder;
use super::super::functions::{self, DumpiField, DumpiFunction, FieldCode, FieldShape, MAX_FIELDS};
use super::super::names;
use super::super::value::DumpiStatus;
use super::error::{Expected, TextError};
use super::scan::TextScan;

/// The value of one field; lists are ranges of the vectors of [`ParsedValues`].
#[derive(Clone, Debug, Default)]
enum ParsedValue<'t> {
    #[default]
    Absent,
    Int(i32),
    I64(i64),
    U64(u64),
    Str(&'t [u8]),
    Ints(Range<usize>),
    Rows(Range<usize>),
    Strs(Range<usize>),
    StrLists(Range<usize>),
    Statuses(Range<usize>),
}

/// The values of the fields of one record, and the memory for them.
#[derive(Debug, Default)]
pub(super) struct ParsedValues<'t> {
    fields: [ParsedValue<'t>; MAX_FIELDS],
    ints: Vec<i32>,
    rows: Vec<Range<usize>>,
    texts: Vec<&'t [u8]>,
    lists: Vec<Range<usize>>,
    statuses: Vec<DumpiStatus>,
    label: Option<(u64, &'t [u8])>,
}

const IGNORED: &str = "<IGNORED>\n";

impl<'t> ParsedValues<'t> {
    /// Takes the lines of all fields.
    pub(super) fn parse(
        &mut self,
        scan: &mut TextScan<'t>,
        function: &'static DumpiFunction,
    ) -> Result<(), TextError> {
        self.fields = Default::default();
        self.ints.clear();
        self.rows.clear();
        self.texts.clear();
        self.lists.clear();
        self.statuses.clear();
        self.label = None;
        let fields = function.fields();
        let order = function.display_order();
        let place = |nth: usize| order.map_or(nth, |order| usize::from(order[nth]));
        for nth in 0..fields.len() {
            let i = place(nth);
            let next = (nth + 1 < fields.len()).then(|| &fields[place(nth + 1)]);
            let follows = Follows { function, next };
            self.fields[i] = self.field(scan, &fields[i], function, follows)?;
        }
        Ok(())
    }

    /// Key and label of Function_enter and Function_exit, if it has one.
    pub(super) fn label(&self) -> Option<(u64, &'t [u8])> {
        self.label
    }

    /// Writes the arguments in stream order.
    pub(super) fn put<W: Write>(
        &self,
        function: &'static DumpiFunction,
        call: &mut RecordBuilder<'_, W>,
    ) {
        let int = |i: u8| match self.fields[usize::from(i)] {
            ParsedValue::Int(value) => value,
            _ => 0,
        };
        let is_root = function
            .root
            .is_none_or(|(rank, root)| int(rank) == int(root));
        for (field, value) in function.fields().iter().zip(&self.fields) {
            if field.root_only && !is_root {
                continue;
            }
            match value {
                ParsedValue::Absent => absent(field, call),
                ParsedValue::Int(v) => match field.code.width() {
                    4 => _ = call.int(*v),
                    2 => _ = call.handle(*v),
                    _ => _ = call.code(*v),
                },
                ParsedValue::I64(v) => _ = call.i64(*v),
                ParsedValue::U64(v) => _ = call.u64(*v),
                ParsedValue::Str(text) => _ = call.string(text),
                ParsedValue::Ints(range) => {
                    let ints = self.ints[range.clone()].iter().copied();
                    match field.code.width() {
                        4 => _ = call.ints(ints),
                        2 => _ = call.handles(ints),
                        _ => _ = call.codes(ints),
                    }
                }
                ParsedValue::Rows(range) => {
                    call.uneven_rows(
                        self.rows[range.clone()]
                            .iter()
                            .map(|row| &self.ints[row.clone()]),
                    );
                }
                ParsedValue::Strs(range) => _ = call.strings(&self.texts[range.clone()]),
                ParsedValue::StrLists(range) => {
                    let lists = self.lists[range.clone()].iter();
                    call.string_lists(lists.map(|list| &self.texts[list.clone()]));
                }
                ParsedValue::Statuses(range) => {
                    call.statuses(self.statuses[range.clone()].iter().copied());
                }
            }
        }
    }

    fn field(
        &mut self,
        scan: &mut TextScan<'t>,
        field: &DumpiField,
        function: &DumpiFunction,
        follows: Follows,
    ) -> Result<ParsedValue<'t>, TextError> {
        let is_init = [functions::INIT, functions::INIT_THREAD].contains(&function.id);
        if field.shape == FieldShape::List && is_init {
            scan.expect("int argc=")?;
            scan.number::<u32>()?;
            scan.expect("\n")?;
        }
        scan.expect(names::c_type(field.code))?;
        scan.expect(" ")?;
        scan.expect(field.name)?;
        if field.shape == FieldShape::One {
            scan.expect("=")?;
            return self.one(scan, field, &follows);
        }
        scan.expect("[")?;
        // The bound is that of the field it names; what is there, the elements tell.
        let bound: i64 = scan.number()?;
        match field.shape {
            FieldShape::Rows { .. } => scan.expect("][3]=")?,
            FieldShape::Lists => scan.expect("][-2]=")?,
            _ => scan.expect("]=")?,
        }
        if scan.eat(IGNORED) {
            return Ok(ParsedValue::Absent);
        }
        scan.expect("[")?;
        match field.shape {
            FieldShape::Rows { .. } => self.rows(scan),
            FieldShape::List if bound < 0 => {
                let inside = follows.until(scan, "]\n")?;
                Ok(ParsedValue::Strs(self.run_together(inside)))
            }
            FieldShape::List => self.list(scan, bound, &follows),
            FieldShape::Lists => self.lists(scan, bound, &follows),
            _ if field.code == FieldCode::Stat => self.statuses(scan),
            _ => self.array(scan),
        }
    }

    fn one(
        &mut self,
        scan: &mut TextScan<'t>,
        field: &DumpiField,
        follows: &Follows,
    ) -> Result<ParsedValue<'t>, TextError> {
        let value = match field.code {
            FieldCode::I64 => ParsedValue::I64(scan.number()?),
            FieldCode::U64 => {
                let key = scan.number()?;
                scan.expect(" (\"")?;
                let label = follows.until(scan, "\")\n")?;
                if label != b"(null)" {
                    self.label = Some((key, label));
                }
                return Ok(ParsedValue::U64(key));
            }
            FieldCode::Str => {
                scan.expect("\"")?;
                return Ok(ParsedValue::Str(follows.until(scan, "\"\n")?));
            }
            FieldCode::Stat => {
                if scan.eat(IGNORED) {
                    return Ok(ParsedValue::Absent);
                }
                scan.expect("[")?;
                return self.statuses(scan);
            }
            FieldCode::Req | FieldCode::IoReq => {
                scan.expect("[")?;
                let value = scan.int()?;
                scan.expect("]\n")?;
                return Ok(ParsedValue::Int(value));
            }
            _ => ParsedValue::Int(scan.int()?),
        };
        // The name of the value.
        if scan.eat(" (") {
            let name = scan.line();
            if name.last() != Some(&b')') {
                return Err(scan.error(Expected::Text(")".to_owned())));
            }
        } else {
            scan.expect("\n")?;
        }
        Ok(value)
    }

    fn ints(&mut self, scan: &mut TextScan<'t>) -> Result<Range<usize>, TextError> {
        let start = self.ints.len();
        if !scan.eat("]") {
            loop {
                self.ints.push(scan.int()?);
                if !scan.eat(", ") {
                    scan.expect("]")?;
                    break;
                }
            }
        }
        Ok(start..self.ints.len())
    }

    fn array(&mut self, scan: &mut TextScan<'t>) -> Result<ParsedValue<'t>, TextError> {
        let ints = self.ints(scan)?;
        scan.expect("\n")?;
        Ok(ParsedValue::Ints(ints))
    }

    /// Rows end with a line break each, but the last bracket with none.
    fn rows(&mut self, scan: &mut TextScan<'t>) -> Result<ParsedValue<'t>, TextError> {
        let start = self.rows.len();
        loop {
            scan.expect("[")?;
            let row = self.ints(scan)?;
            self.rows.push(row);
            scan.expect("\n")?;
            if !scan.eat(", ") {
                scan.expect("]")?;
                return Ok(ParsedValue::Rows(start..self.rows.len()));
            }
        }
    }

    /// `"a", "b"]`; the strings may hold anything, so the number of them decides where one ends.
    fn list(
        &mut self,
        scan: &mut TextScan<'t>,
        count: i64,
        follows: &Follows,
    ) -> Result<ParsedValue<'t>, TextError> {
        let start = self.texts.len();
        scan.expect("\"")?;
        for _ in 1..count {
            let text = scan.until(b"\", \"", 4)?;
            self.texts.push(text);
        }
        let text = follows.until(scan, "\"]\n")?;
        self.texts.push(text);
        Ok(ParsedValue::Strs(start..self.texts.len()))
    }

    /// `"a""b"`, with nothing between the strings.
    fn run_together(&mut self, inside: &'t [u8]) -> Range<usize> {
        let start = self.texts.len();
        if let [b'"', between @ .., b'"'] = inside {
            let mut rest = between;
            while let Some(end) = super::scan::find(rest, b"\"\"") {
                self.texts.push(&rest[..end]);
                rest = &rest[end + 2..];
            }
            self.texts.push(rest);
        }
        start..self.texts.len()
    }

    /// `["a""b"], []]`
    fn lists(
        &mut self,
        scan: &mut TextScan<'t>,
        count: i64,
        follows: &Follows,
    ) -> Result<ParsedValue<'t>, TextError> {
        let start = self.lists.len();
        for nth in 0..count {
            scan.expect("[")?;
            let inside = if nth + 1 < count {
                let inside = end_of_list(scan)?;
                scan.expect("], ")?;
                inside
            } else {
                follows.until(scan, "]]\n")?
            };
            let list = self.run_together(inside);
            self.lists.push(list);
        }
        Ok(ParsedValue::StrLists(start..self.lists.len()))
    }

    fn statuses(&mut self, scan: &mut TextScan<'t>) -> Result<ParsedValue<'t>, TextError> {
        let start = self.statuses.len();
        loop {
            scan.expect("{bytes=")?;
            let bytes = scan.int()?;
            scan.expect(", cancelled=")?;
            let cancelled = scan.number()?;
            scan.expect(", source=")?;
            let source = scan.int()?;
            scan.expect(", tag=")?;
            let tag = scan.int()?;
            scan.expect(", error=")?;
            let error = scan.number()?;
            scan.expect("}")?;
            self.statuses.push(DumpiStatus {
                bytes,
                source,
                cancelled,
                error,
                tag,
            });
            if !scan.eat(", ") {
                scan.expect("]\n")?;
                return Ok(ParsedValue::Statuses(start..self.statuses.len()));
            }
        }
    }
}

/// Goes to the `]` of a list of strings that another list follows.
fn end_of_list<'t>(scan: &mut TextScan<'t>) -> Result<&'t [u8], TextError> {
    let rest = scan.rest();
    if rest.starts_with(b"], [") {
        return Ok(&[]);
    }
    match super::scan::find(rest, b"\"], [") {
        Some(end) => {
            scan.skip(end + 1);
            Ok(&rest[..end + 1])
        }
        None => Err(scan.error(Expected::EndOfString)),
    }
}

/// An `<IGNORED>` field that is there all the same: nothing is in it.
fn absent<W: Write>(field: &DumpiField, call: &mut RecordBuilder<'_, W>) {
    match field.code {
        FieldCode::Stat => _ = call.statuses([]),
        _ => _ = call.ints([]),
    }
}

/// Beginning of the line after a string, by which the string's end is told from quotes within it.
#[derive(Clone, Copy)]
struct Follows {
    function: &'static DumpiFunction,
    next: Option<&'static DumpiField>,
}

impl Follows {
    /// Takes the text before `close` and the beginning of the next line; goes on after `close`.
    fn until<'t>(&self, scan: &mut TextScan<'t>, close: &str) -> Result<&'t [u8], TextError> {
        let mut end = close.as_bytes().to_vec();
        match self.next {
            Some(field) => {
                end.extend_from_slice(names::c_type(field.code).as_bytes());
                end.push(b' ');
                end.extend_from_slice(field.name.as_bytes());
            }
            None => {
                end.extend_from_slice(self.function.name.as_bytes());
                end.extend_from_slice(b" returning at walltime ");
            }
        }
        scan.until(&end, close.len())
    }
}
