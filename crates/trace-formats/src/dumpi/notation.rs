//! Reads the notation of the function table, at compile time.

use super::schema::{
    DumpiField, DumpiFunction, FieldCode, FieldMoment, FieldShape, LibraryBinding, MAX_FIELDS,
};

const NO_FIELD: DumpiField = DumpiField {
    name: "",
    code: FieldCode::Int,
    shape: FieldShape::One,
    moment: FieldMoment::Before,
    root_only: false,
};

/// Builds a table entry from the specification's notation.
pub(super) const fn function(
    id: u16,
    name: &'static str,
    binding: LibraryBinding,
    text: &'static str,
) -> DumpiFunction {
    let mut fields = [NO_FIELD; MAX_FIELDS];
    let mut count = 0;
    let mut rest = text;
    let mut in_root = false;
    while !rest.is_empty() {
        let (word, after) = split(rest, b' ');
        rest = after;
        if same(word, "?root{") {
            in_root = true;
        } else if same(word, "}") {
            in_root = false;
        } else {
            fields[count] = field(word, in_root, &fields, count);
            count += 1;
        }
    }
    let mut root = None;
    let mut fixed = Some(0u16);
    let mut i = 0;
    while i < count {
        let f = &fields[i];
        if f.root_only {
            root = Some((rank_field(&fields, count), position("root", &fields, count)));
        }
        fixed = match (fixed, f.shape, f.code) {
            (_, _, FieldCode::Str | FieldCode::Stat) => None,
            (Some(sum), FieldShape::One, code) if !f.root_only => Some(sum + code.width() as u16),
            _ => None,
        };
        i += 1;
    }
    DumpiFunction {
        id,
        name,
        binding,
        fields,
        count: count as u8,
        root,
        fixed,
    }
}

/// Reads one field in the notation `name:code[…]*`.
const fn field(
    word: &'static str,
    root_only: bool,
    before: &[DumpiField],
    count: usize,
) -> DumpiField {
    let (name, kind) = split(word, b':');
    let (kind, moment) = match kind.as_bytes() {
        [.., b'*', b'?'] => (
            kind.split_at(kind.len() - 2).0,
            FieldMoment::AfterCompletion,
        ),
        [.., b'*'] => (kind.split_at(kind.len() - 1).0, FieldMoment::After),
        _ => (kind, FieldMoment::Before),
    };
    let (kind_of, brackets) = split(kind, b'[');
    let shape = if kind_of.len() == kind.len() {
        FieldShape::One
    } else if same(brackets, "]") {
        FieldShape::List
    } else if same(brackets, "][]") {
        FieldShape::Lists
    } else {
        let (bound, more) = split(brackets, b']');
        let bound = position(bound, before, count);
        if more.is_empty() {
            FieldShape::Array { bound }
        } else {
            FieldShape::Rows { bound }
        }
    };
    DumpiField {
        name,
        code: self::code(kind_of),
        shape,
        moment,
        root_only,
    }
}

/// The rank that is compared with `root`.
const fn rank_field(fields: &[DumpiField], count: usize) -> u8 {
    let mut i = 0;
    while i < count {
        if same(fields[i].name, "commrank") || same(fields[i].name, "oldcommrank") {
            return i as u8;
        }
        i += 1;
    }
    panic!("root-only fields without a rank field")
}

const fn position(name: &str, fields: &[DumpiField], count: usize) -> u8 {
    let mut i = 0;
    while i < count {
        if same(fields[i].name, name) {
            return i as u8;
        }
        i += 1;
    }
    panic!("no such field before this one in the function table")
}

/// The text before the first `mark` and the text behind it.
const fn split(text: &str, mark: u8) -> (&str, &str) {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == mark {
            let (head, tail) = text.split_at(i);
            return (head, tail.split_at(1).1);
        }
        i += 1;
    }
    (text, "")
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    i == a.len() && i == b.len()
}

const fn code(text: &str) -> FieldCode {
    use FieldCode::*;
    const NAMES: [(&str, FieldCode); 30] = [
        ("int", Int),
        ("i64", I64),
        ("u64", U64),
        ("src", Src),
        ("dst", Dst),
        ("tag", Tag),
        ("req", Req),
        ("ioreq", IoReq),
        ("comm", Comm),
        ("dt", Dt),
        ("grp", Grp),
        ("eh", Eh),
        ("file", File),
        ("info", Info),
        ("win", Win),
        ("kv", Kv),
        ("op", Op),
        ("cmp", Cmp),
        ("topo", Topo),
        ("comb", Comb),
        ("dist", Dist),
        ("order", Order),
        ("thr", Thr),
        ("tcls", Tcls),
        ("lock", Lock),
        ("whence", Whence),
        ("amode", Amode),
        ("assert", Assert),
        ("str", Str),
        ("stat", Stat),
    ];
    let mut i = 0;
    while i < NAMES.len() {
        if same(NAMES[i].0, text) {
            return NAMES[i].1;
        }
        i += 1;
    }
    panic!("unknown field code in the function table")
}
