//! Reader of `mpi.table`. The rules of the format stand in the header of that file.
//!
//! Two passes: the lines become entries that still have names, then each entry becomes one or two functions whose
//! parameters refer to each other by position. Whatever is misspelled or refers to nothing is an error with its line.

use crate::class::{Class, FileAccessKind};
use crate::kind::{CType, Direction, Kind};
use crate::length::{LengthRule, RuleScope};
use crate::short::ShortForm;
use crate::table::{BufferAmount, BufferExtent, Fortran, Function, Param, Sentinel, Table};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// A line of the table that does not follow the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line in `mpi.table`, from 1.
    pub line: usize,
    /// Description of what was expected.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mpi.table:{}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// A line, split into words.
struct TableLine<'a> {
    number: usize,
    words: Vec<&'a str>,
}

/// A function as it is written.
struct TableEntry<'a> {
    head: TableLine<'a>,
    params: Vec<TableLine<'a>>,
    /// The line with the fields of its DUMPI record.
    dumpi_fields: Option<TableLine<'a>>,
}

/// Words that few lines have more of.
const USUAL_WORDS: usize = 8;

/// Reads the whole table.
pub(crate) fn parse(text: &str) -> Result<Table, ParseError> {
    let mut colors = HashMap::new();
    let mut entries: Vec<TableEntry> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let comment = line.bytes().position(|byte| byte == b'#');
        let content = &line[..comment.unwrap_or(line.len())];
        let mut words = Vec::with_capacity(USUAL_WORDS);
        words.extend(content.split_ascii_whitespace());
        let indented = content.starts_with(' ');
        let line = TableLine {
            number: index + 1,
            words,
        };
        match line.words.first() {
            None => {}
            Some(&"class") => {
                let (class, color) = class_line(&line)?;
                if colors.insert(class, color).is_some() {
                    return Err(line.error("class declared twice"));
                }
            }
            Some(word) if indented => match entries.last_mut() {
                Some(entry) if *word == "dumpi:" => entry.set_dumpi_fields(line)?,
                Some(entry) => entry.params.push(line),
                None => return Err(line.error("parameter without function")),
            },
            Some(_) => entries.push(TableEntry {
                head: line,
                params: Vec::new(),
                dumpi_fields: None,
            }),
        }
    }
    let mut functions = Vec::new();
    for entry in &entries {
        let large = entry.head.words.contains(&"large");
        let base = functions.len();
        functions.push(entry.function(base, None, &colors)?);
        if large {
            functions.push(entry.function(base + 1, Some(base), &colors)?);
        }
    }
    finish(functions)
}

/// Builds the index and checks what only shows across entries.
fn finish(functions: Vec<Function>) -> Result<Table, ParseError> {
    let mut by_name = HashMap::new();
    let (mut dumpi, mut states) = (HashSet::new(), HashSet::new());
    for f in &functions {
        let fail = |message: String| {
            Err(ParseError {
                line: f.line,
                message,
            })
        };
        if by_name.insert(f.name.clone(), f.id).is_some() {
            return fail(format!("{} is listed twice", f.name));
        }
        if f.dumpi.is_some_and(|id| !dumpi.insert(id)) {
            return fail("dumpi id is taken".into());
        }
        if f.state.is_some_and(|id| !states.insert(id)) {
            return fail("state id is taken".into());
        }
    }
    Ok(Table { functions, by_name })
}

/// `class NAME COLOUR meaning`
fn class_line<'a>(line: &TableLine<'a>) -> Result<(Class, &'a str), ParseError> {
    match line.words[..] {
        [_, class, color, _, ..] => Class::from_word(class)
            .map(|class| (class, color))
            .ok_or_else(|| line.error(format!("unknown class {class}"))),
        _ => Err(line.error("expected: class NAME COLOUR meaning")),
    }
}

impl TableLine<'_> {
    fn error(&self, message: impl Into<String>) -> ParseError {
        ParseError {
            line: self.number,
            message: message.into(),
        }
    }
}

impl<'a> TableEntry<'a> {
    /// `dumpi: NAME:CODE ...`
    fn set_dumpi_fields(&mut self, line: TableLine<'a>) -> Result<(), ParseError> {
        if self.dumpi_fields.is_some() {
            return Err(line.error("dumpi: stands twice"));
        }
        if !self.head.words.iter().any(|w| w.starts_with("dumpi=")) {
            return Err(line.error("dumpi: goes with dumpi="));
        }
        self.dumpi_fields = Some(line);
        Ok(())
    }

    /// The small form, or the `_c` form if `base` is given.
    fn function(
        &self,
        id: usize,
        base: Option<usize>,
        colors: &HashMap<Class, &str>,
    ) -> Result<Function, ParseError> {
        let large = base.is_some();
        let head = &self.head;
        let lines = self.params_of_form(large)?;
        let scope = scope(&lines)?;
        let find = |name: &str| scope.find(name).map_err(|m| head.error(m));
        let number = |value: &str| {
            value
                .parse::<u16>()
                .map_err(|_| head.error(format!("not a number: {value}")))
        };
        let (mut class, mut io, mut color) = (None, None, None);
        let (mut dumpi, mut dumpi_old, mut state) = (None, false, None);
        let (mut variadic, mut removed, mut has_large) = (false, false, false);
        let (mut creates, mut frees, mut returns) = (Vec::new(), None, Kind::ErrorCode);
        let mut fortran = Fortran::default();
        for word in &head.words[1..] {
            match word.split_once('=').unwrap_or((word, "")) {
                ("class", name) => class = Class::from_word(name),
                ("io", words) => {
                    io = Some(FileAccessKind::parse(words).map_err(|m| head.error(m))?)
                }
                ("returns", kind) => {
                    returns = Kind::from_word(kind)
                        .ok_or_else(|| head.error(format!("unknown kind {kind}")))?;
                }
                ("dumpi", value) => {
                    dumpi_old = value.ends_with(",old");
                    dumpi = Some(number(value.strip_suffix(",old").unwrap_or(value))?);
                }
                ("state", value) => state = Some(number(value)?),
                ("color", name) => color = Some(name),
                ("creates", list) => {
                    creates = list.split(',').map(find).collect::<Result<_, _>>()?;
                }
                ("frees", name) => frees = Some(find(name)?),
                ("fortran", words) => {
                    for word in words.split(',') {
                        match word {
                            "mpich" => fortran.mpich = true,
                            "openmpi" => fortran.openmpi = true,
                            "not_f08" => fortran.not_f08 = true,
                            _ => return Err(head.error(format!("unknown word {word}"))),
                        }
                    }
                }
                ("large", "") => has_large = true,
                ("variadic", "") => variadic = true,
                ("removed", "") => removed = true,
                _ => return Err(head.error(format!("unknown attribute {word}"))),
            }
        }
        let class = class.ok_or_else(|| head.error("no known class"))?;
        if io.is_some() != (class == Class::FileAccess) {
            return Err(head.error("io= belongs to class=file_access, and to no other"));
        }
        if color.is_some() != state.is_some() {
            return Err(head.error("state= and color= go together"));
        }
        let params = (lines.iter().enumerate())
            .map(|(index, line)| param(line, &scope, index, large))
            .collect::<Result<Vec<_>, _>>()?;
        let marked = |line| attributes(line).any(is_large_mark);
        if has_large != self.params.iter().any(marked) {
            return Err(head.error("large goes with poly parameters"));
        }
        let is_value = |&i: &usize| !params[i].kind.is_handle();
        if creates.iter().chain(&frees).any(is_value) {
            return Err(head.error("creates= and frees= name handles"));
        }
        let color = color.or_else(|| colors.get(&class).copied());
        let color = color.ok_or_else(|| head.error("the class has no colour"))?;
        Ok(Function {
            id,
            name: format!("{}{}", head.words[0], if large { "_c" } else { "" }),
            base,
            large,
            class,
            io,
            returns,
            variadic,
            removed,
            dumpi: dumpi.filter(|_| !large),
            dumpi_old: dumpi_old && !large,
            dumpi_fields: match &self.dumpi_fields {
                Some(line) if !large => line.words[1..].join(" "),
                _ => String::new(),
            },
            state: state.filter(|_| !large),
            color: color.to_owned(),
            short_form: short_form(&params),
            params,
            creates,
            frees,
            fortran,
            line: head.number,
        })
    }

    /// The parameters that this form has. Each line of the result has at least three words.
    fn params_of_form(&self, large: bool) -> Result<Vec<&TableLine<'_>>, ParseError> {
        let mut lines = Vec::new();
        for line in &self.params {
            if line.words.len() < 3 {
                return Err(line.error("expected: NAME DIRECTION KIND"));
            }
            if large || !attributes(line).any(|word| word == "large_only") {
                lines.push(line);
            }
        }
        Ok(lines)
    }
}

/// The short form of records of a function with these parameters.
fn short_form(params: &[Param]) -> Option<ShortForm> {
    let told = |p: &Param| (p.carrier(), p.kind, p.direction);
    ShortForm::new(&params.iter().map(told).collect::<Vec<_>>())
}

/// The words behind name, direction and kind.
fn attributes<'a>(line: &'a TableLine) -> impl Iterator<Item = &'a str> {
    line.words.iter().skip(3).copied()
}

fn is_large_mark(attribute: &str) -> bool {
    matches!(attribute, "poly" | "poly=aint" | "large_only")
}

/// Names and directions of parameters; those of the same function can refer to each other.
fn scope<'a>(lines: &[&'a TableLine]) -> Result<RuleScope<'a>, ParseError> {
    let mut params: Vec<(&str, Direction)> = Vec::new();
    for line in lines {
        let (name, word) = (line.words[0], line.words[1]);
        if params.iter().any(|(other, _)| *other == name) {
            return Err(line.error("two parameters have the same name"));
        }
        let direction = Direction::from_word(word);
        params.push((
            name,
            direction.ok_or_else(|| line.error(format!("unknown direction {word}")))?,
        ));
    }
    Ok(RuleScope(params))
}

/// The parameter at a position of the scope.
fn param(
    line: &TableLine,
    scope: &RuleScope,
    index: usize,
    large: bool,
) -> Result<Param, ParseError> {
    let find = |name: &str| scope.find(name).map_err(|m| line.error(m));
    let (name, direction) = scope.0[index];
    let (word, length) = match line.words[2].split_once('[') {
        Some((word, rest)) => (
            word,
            Some(rest.strip_suffix(']').ok_or_else(|| line.error("no ]"))?),
        ),
        None => (line.words[2], None),
    };
    let kind = Kind::from_word(word).ok_or_else(|| line.error(format!("unknown kind {word}")))?;
    let mut param = Param {
        name: name.to_owned(),
        direction,
        kind,
        ctype: kind.ctype(),
        len: match (length, kind) {
            (Some(rule), Kind::String) => Some(scope.text(rule).map_err(|m| line.error(m))?),
            (Some(rule), _) => Some(scope.array(rule).map_err(|m| line.error(m))?),
            (None, Kind::String) => Some(LengthRule::Nul),
            (None, Kind::Argv) => Some(LengthRule::NullEnded),
            (None, _) => None,
        },
        poly: false,
        root_only: false,
        by_address: false,
        extent: None,
        sentinels: Vec::new(),
        inplace: None,
        set_if: None,
    };
    for attribute in attributes(line) {
        match attribute.split_once('=').unwrap_or((attribute, "")) {
            ("poly", wide) => {
                param.poly = true;
                param.ctype = wide_type(param.ctype, wide, large).map_err(|m| line.error(m))?;
            }
            ("large_only", "") => {}
            ("root", "") => param.root_only = true,
            ("byref", "") => param.by_address = true,
            ("of", amount) if kind == Kind::Buffer => {
                let (count, datatype) = match amount.split_once(',') {
                    Some((count, datatype)) => (count, Some(find(datatype)?)),
                    None => (amount, None),
                };
                let count = if count == "1" {
                    BufferAmount::One
                } else {
                    BufferAmount::Param(find(count)?)
                };
                param.extent = Some(BufferExtent { count, datatype });
            }
            ("or", list) => {
                param.sentinels = (list.split(',').map(Sentinel::from_word))
                    .collect::<Option<_>>()
                    .ok_or_else(|| line.error(format!("unknown constant in {list}")))?;
            }
            ("inplace", name) => param.inplace = Some(find(name)?),
            ("if", name) => param.set_if = Some(find(name)?),
            _ => return Err(line.error(format!("unknown attribute {attribute}"))),
        }
    }
    Ok(param)
}

/// The type that a `poly` parameter has in this form.
fn wide_type(small: CType, wide: &str, large: bool) -> Result<CType, String> {
    let wide = match (small, wide) {
        (CType::Function, "") => CType::Function,
        (CType::Int | CType::Aint, "") => CType::Count,
        (CType::Int, "aint") => CType::Aint,
        _ => return Err(format!("a {} cannot be poly", small.word())),
    };
    Ok(if large { wide } else { small })
}

#[cfg(test)]
mod tests {
    use super::parse;

    /// Every error names its line.
    #[test]
    fn errors() {
        let class = "class send blue blocking send\n";
        for (text, line, part) in [
            ("MPI_X class=send\n    a in nothing\n", 3, "unknown kind"),
            ("MPI_X class=send\n    a at count\n", 3, "unknown direction"),
            ("MPI_X class=send\n    a in\n", 3, "expected: NAME"),
            (
                "MPI_X class=send\n    a in count poly\n",
                2,
                "large goes with",
            ),
            (
                "MPI_X class=send large\n    a in count\n",
                2,
                "large goes with",
            ),
            (
                "MPI_X class=send large\n    a in double poly\n",
                3,
                "cannot be poly",
            ),
            ("MPI_X class=send\n    a in count[b]\n", 3, "no parameter b"),
            (
                "MPI_X class=send\n    a in count[twice(a)]\n",
                3,
                "unknown length",
            ),
            (
                "MPI_X class=send\n    a in count[degree(a)]\n",
                3,
                "only degree",
            ),
            (
                "MPI_X class=send\n    a in buffer or=MPI_NOTHING\n",
                3,
                "unknown constant",
            ),
            (
                "MPI_X class=send\n    a in comm of=a\n",
                3,
                "unknown attribute",
            ),
            ("MPI_X class=send frees=b\n", 2, "no parameter b"),
            (
                "MPI_X class=send frees=a\n    a in count\n",
                2,
                "name handles",
            ),
            ("MPI_X class=none\n", 2, "no known class"),
            ("MPI_X class=recv\n", 2, "no colour"),
            ("MPI_X class=send state=1\n", 2, "go together"),
            ("MPI_X class=send dumpi=x\n", 2, "not a number"),
            ("MPI_X class=send io=read,shared\n", 2, "io="),
            ("MPI_X class=send\nMPI_X class=send\n", 3, "listed twice"),
            (
                "MPI_X class=send dumpi=1\nMPI_Y class=send dumpi=1\n",
                3,
                "is taken",
            ),
            (
                "MPI_X class=send\n    a in tag\n    a in tag\n",
                4,
                "same name",
            ),
            ("    a in tag\n", 2, "without function"),
            ("class send red again\n", 2, "declared twice"),
        ] {
            let error = parse(&format!("{class}{text}")).expect_err(text);
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.message.contains(part), "{text}: {error}");
        }
    }

    /// A large-only parameter shifts the positions that others refer to.
    #[test]
    fn large_only() {
        let table = parse(
            "class type_info white x\n\
             MPI_X class=type_info large\n    \
                 a in length large_only\n    b in length poly\n    c out int[b]\n",
        )
        .expect("valid");
        let len = |name| table.get(name).and_then(|f| f.params.last()?.len.clone());
        assert_eq!(len("MPI_X"), Some(crate::LengthRule::Param(0)));
        assert_eq!(len("MPI_X_c"), Some(crate::LengthRule::Param(1)));
    }
}
