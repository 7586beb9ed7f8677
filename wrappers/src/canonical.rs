//! The canonical text of the table and its fingerprint, by which a reader recognises the table a block file was written with.
//!
//! The text is part of the layout of block files. It is made of words of `mpi.table` and of words that stand here; names of Rust types
//! and variants are not in it, so renaming one leaves block files readable.

use crate::class::{FileAccessKind, Phase};
use crate::length::{LengthQuery, LengthRule};
use crate::table::{BufferAmount, BufferExtent, Function, Param, Table};
use std::fmt::{self, Display, Formatter, Write};

impl Table {
    /// A number that changes whenever ids or the meaning of recorded arguments may have changed: FNV-1a, 64 bits,
    /// of [`Table::canonical`].
    pub fn fingerprint(&self) -> u64 {
        self.canonical()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            })
    }

    /// The canonical text of the table: everything that decides ids and how arguments are read back, one line for each function and
    /// parameter. Colours, state ids and all that is said of DUMPI are not in it.
    ///
    /// A function's line is `NAME CLASS IO RETURNS CREATES FREES`. A parameter's line begins with a space: ` NAME DIRECTION KIND CTYPE
    /// LENGTH ROOT BYREF EXTENT SENTINELS INPLACE IF`. Parameters are named by position from 0, lists are separated by commas, and `-`
    /// stands for nothing.
    pub fn canonical(&self) -> String {
        let mut text = String::with_capacity(LENGTH);
        for f in &self.functions {
            push_function(&mut text, f);
            for p in &f.params {
                push_param(&mut text, p);
            }
        }
        text
    }
}

/// Bytes that the text of `mpi.table` has room in.
const LENGTH: usize = 1 << 18;

fn push_function(text: &mut String, f: &Function) {
    text.push_str(&f.name);
    push_word(text, f.class.word());
    push_value(text, f.io.as_ref());
    push_word(text, f.returns.word());
    push_list(text, &f.creates);
    push_value(text, f.frees);
    text.push('\n');
}

fn push_param(text: &mut String, p: &Param) {
    let mark = |is_set, word| if is_set { word } else { NOTHING };
    push_word(text, &p.name);
    push_word(text, p.direction.word());
    push_word(text, p.kind.word());
    push_word(text, p.ctype.word());
    push_value(text, p.len.as_ref());
    push_word(text, mark(p.root_only, "root"));
    push_word(text, mark(p.by_address, "byref"));
    push_value(text, p.extent);
    push_list(text, p.sentinels.iter().map(|sentinel| sentinel.word()));
    push_value(text, p.inplace);
    push_value(text, p.set_if);
    text.push('\n');
}

/// Stands for no value, and for an empty list.
const NOTHING: &str = "-";

fn push_word(text: &mut String, word: &str) {
    text.push(' ');
    text.push_str(word);
}

/// A value, if there is one. Most have none, so the machinery of formats is not called for every word.
fn push_value(text: &mut String, value: Option<impl Display>) {
    match value {
        Some(value) => {
            // Writing to a String cannot fail.
            let _ = write!(text, " {value}");
        }
        None => push_word(text, NOTHING),
    }
}

/// Values separated by commas.
fn push_list(text: &mut String, values: impl IntoIterator<Item: Display>) {
    let mut values = values.into_iter();
    push_value(text, values.next());
    for value in values {
        let _ = write!(text, ",{value}");
    }
}

/// The value of `io=` in `mpi.table`.
impl Display for FileAccessKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.write { "write" } else { "read" })?;
        write!(f, ",{}", self.pointer.word())?;
        if self.collective {
            f.write_str(",collective")?;
        }
        match self.phase {
            Phase::Blocking => Ok(()),
            phase => write!(f, ",{}", phase.word()),
        }
    }
}

/// The rule with positions of parameters in place of their names, as the canonical text has it.
impl Display for LengthRule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LengthRule::Param(n) => write!(f, "before({n})"),
            LengthRule::Returned(n) => write!(f, "after({n})"),
            LengthRule::InOut(n) => write!(f, "smaller({n})"),
            LengthRule::Times(factor, n) => write!(f, "{factor}*before({n})"),
            LengthRule::Sum(n) => write!(f, "sum({n})"),
            LengthRule::Last(n) => write!(f, "last({n})"),
            LengthRule::Query(query) => query.fmt(f),
            LengthRule::Min(n, query) => write!(f, "min({n},{query})"),
            LengthRule::NullEnded => f.write_str("null-ended"),
            LengthRule::Nul => f.write_str("nul"),
            LengthRule::NulWithin(n) => write!(f, "nul-within({n})"),
            LengthRule::NulWithinConstant(name) => write!(f, "nul-within({name})"),
            LengthRule::Chars(n) => write!(f, "chars({n})"),
        }
    }
}

/// The query in the notation of `mpi.table`, with positions of parameters in place of their names.
impl Display for LengthQuery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.rank {
            Some(rank) => write!(f, "{}({},{rank})", self.property.word(), self.of),
            None => write!(f, "{}({})", self.property.word(), self.of),
        }
    }
}

/// The value of `of=` in `mpi.table`, with positions of parameters in place of their names.
impl Display for BufferExtent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.count {
            BufferAmount::One => f.write_str("one")?,
            BufferAmount::Param(n) => n.fmt(f)?,
        }
        match self.datatype {
            Some(n) => write!(f, ",{n}"),
            None => Ok(()),
        }
    }
}
