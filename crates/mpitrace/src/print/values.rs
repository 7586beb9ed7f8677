//! Arguments of a recorded call by name, `count=1, datatype=MPI_INT, …`. Those that were not recorded (buffers, outputs of a
//! call that failed) are left out.

use blockfile::args::{ArgValue, ArgValues, Array};
use blockfile::encode::MpiStatus;
use std::fmt::{self, Display, Formatter};
use unify::library::Library;
use wrappers::{Carrier, ElementForm, Function, Kind, Param};

/// The arguments of one call.
pub struct CallValues<'v> {
    function: &'v Function,
    args: &'v ArgValues<'v>,
    library: &'v Library,
}

impl<'v> CallValues<'v> {
    /// Values of a call of `function`. `library` has the names of handles and constants.
    pub fn new(function: &'v Function, args: &'v ArgValues<'v>, library: &'v Library) -> Self {
        CallValues {
            function,
            args,
            library,
        }
    }
}

impl Display for CallValues<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for (param, value) in self.function.params.iter().zip(self.args.values()) {
            if matches!(value, ArgValue::Absent) {
                continue;
            }
            write!(f, "{comma}{}=", param.name)?;
            comma = ", ";
            self.value(f, param, value)?;
        }
        Ok(())
    }
}

impl CallValues<'_> {
    fn value(&self, f: &mut Formatter<'_>, param: &Param, value: &ArgValue<'_>) -> fmt::Result {
        match value {
            ArgValue::Absent => Ok(()),
            ArgValue::Int(v) => self.int(f, param.kind, *v),
            ArgValue::InOut(before, after) => {
                self.int(f, param.kind, *before)?;
                f.write_str("->")?;
                self.int(f, param.kind, *after)
            }
            ArgValue::Double(v) => write!(f, "{v}"),
            ArgValue::Handle(handle) => self.handle(f, param.kind, *handle),
            ArgValue::Status(status) => write_status(f, *status),
            ArgValue::Text(text) => f.write_str(&one(*text)),
            ArgValue::Array(array) => self.array(f, param, *array),
            ArgValue::ArrayInOut(before, after) => {
                self.array(f, param, *before)?;
                f.write_str("->")?;
                self.array(f, param, *after)
            }
        }
    }

    fn array(&self, f: &mut Formatter<'_>, param: &Param, array: Option<Array<'_>>) -> fmt::Result {
        let Some(array) = array else {
            return f.write_str("NULL");
        };
        let elem = match param.carrier() {
            Carrier::Array(elem) | Carrier::ArrayInOut(elem) => elem,
            _ => return Ok(()),
        };
        let comma = |f: &mut Formatter<'_>, i: usize| f.write_str(if i > 0 { ", " } else { "" });
        f.write_str("[")?;
        match elem {
            ElementForm::Status => {
                for (i, status) in array.statuses().enumerate() {
                    comma(f, i)?;
                    write_status(f, status)?;
                }
            }
            ElementForm::Text => {
                for (i, text) in array.texts().enumerate() {
                    comma(f, i)?;
                    f.write_str(&one(text))?;
                }
            }
            ElementForm::I32 | ElementForm::I64 => {
                for (i, v) in array.ints().enumerate() {
                    comma(f, i)?;
                    self.int(f, param.kind, v)?;
                }
            }
            ElementForm::Handle | ElementForm::Pointer => {
                for (i, v) in array.ints().enumerate() {
                    comma(f, i)?;
                    self.handle(f, param.kind, v as u64)?;
                }
            }
        }
        f.write_str("]")
    }

    fn int(&self, f: &mut Formatter<'_>, kind: Kind, v: i64) -> fmt::Result {
        match constant(self.library, kind, v) {
            Some(name) => f.write_str(name),
            None => write!(f, "{v}"),
        }
    }

    fn handle(&self, f: &mut Formatter<'_>, kind: Kind, handle: u64) -> fmt::Result {
        f.write_str(&handle_text(self.library, kind, handle))
    }
}

/// The name of the constant that stands in place of a number of this kind, if one does.
pub fn constant(library: &Library, kind: Kind, v: i64) -> Option<&'static str> {
    let names: &[&str] = match kind {
        Kind::Source => &["MPI_ANY_SOURCE", "MPI_PROC_NULL"],
        Kind::Dest | Kind::Target => &["MPI_PROC_NULL"],
        Kind::Root => &["MPI_ROOT", "MPI_PROC_NULL"],
        Kind::Rank => &["MPI_UNDEFINED", "MPI_PROC_NULL"],
        Kind::Tag => &["MPI_ANY_TAG"],
        Kind::Color | Kind::Index | Kind::Count | Kind::Length => &["MPI_UNDEFINED"],
        _ => &[],
    };
    // All of these constants are negative in all MPI libraries.
    let is = |name: &&&str| v < 0 && library.constant(name) == Some(v);
    names.iter().find(is).copied()
}

/// The name of a predefined handle, else its bits.
pub fn handle_text(library: &Library, kind: Kind, handle: u64) -> String {
    let names = library.names(handle);
    let prefix = kind.handle_type().unwrap_or_default().to_ascii_uppercase();
    let name = names
        .iter()
        .find(|n| n.starts_with(&prefix))
        .or(names.first());
    match name {
        Some(name) => name.to_string(),
        None => format!("{handle:#x}"),
    }
}

fn write_status(f: &mut Formatter<'_>, status: Option<MpiStatus>) -> fmt::Result {
    let Some(s) = status else {
        return f.write_str("none");
    };
    write!(f, "{{source={}, tag={}, bytes={}", s.source, s.tag, s.bytes)?;
    if s.error != 0 {
        write!(f, ", error={}", s.error)?;
    }
    if s.cancelled {
        f.write_str(", cancelled")?;
    }
    f.write_str("}")
}

/// A text in quotes, what is not printable escaped.
pub fn one(text: Option<&[u8]>) -> String {
    text.map_or_else(
        || "NULL".to_owned(),
        |t| format!("\"{}\"", t.escape_ascii()),
    )
}
