//! A function's declaration as Rust source: its wrapper's name, its parameters, its type.
//!
//! Declarations hold for every binary interface: a handle is an `A::Handle`, a status an `A::Status` of the interface `A`.

use crate::abi::{Extension, PassedType};
use crate::{CType, Direction, Function, Kind, Param};

/// A function with the types of its result and parameters.
pub(super) struct Declaration {
    pub name: String,
    pub params: Vec<String>,
    pub returns: String,
    pub variadic: bool,
}

/// A declared function with its entry in the table, if it has one.
pub(super) type DeclaredEntry<'a> = (Declaration, Option<&'a Function>);

/// By whom a declaration is used.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Style {
    /// By wrappers, which are made for each binary interface.
    Wrapper,
    /// By the recorder itself, whose handles fit every interface; a status is a place of any kind.
    Neutral,
}

impl Declaration {
    /// The declaration of a function of the table.
    pub fn of(function: &Function, style: Style) -> Declaration {
        Declaration {
            name: function.name.clone(),
            params: (function.params.iter())
                .map(|param| param_type(param, style))
                .collect(),
            returns: base(function.returns.ctype(), function.returns, style).to_owned(),
            variadic: function.variadic,
        }
    }

    /// The declaration of a function outside the table. What is no floating-point number passes as a word: in a register or an
    /// eight-byte place of the stack, whatever its type.
    pub fn of_extension(extension: &Extension) -> Declaration {
        let word = |passed: &PassedType| match passed {
            PassedType::Double => "f64".to_owned(),
            _ => "u64".to_owned(),
        };
        Declaration {
            name: extension.name.clone(),
            params: extension.params.iter().map(word).collect(),
            returns: match extension.returns {
                PassedType::Int => "c_int",
                PassedType::Void => "()",
                PassedType::Double => "f64",
                PassedType::Long | PassedType::Pointer => "u64",
            }
            .to_owned(),
            variadic: false,
        }
    }

    /// The parameters with their types: `a0: c_int, a1: *mut A::Handle`.
    pub fn signature(&self) -> String {
        let list: Vec<String> = (self.params.iter().enumerate())
            .map(|(i, ty)| format!("a{i}: {ty}"))
            .collect();
        list.join(", ")
    }

    /// The names of the parameters: `a0, a1`.
    pub fn names(&self) -> String {
        let list: Vec<String> = (0..self.params.len()).map(|i| format!("a{i}")).collect();
        list.join(", ")
    }

    /// The type of a pointer to the function.
    pub fn pointer_type(&self) -> String {
        let more = if self.variadic { ", ..." } else { "" };
        format!(
            "unsafe extern \"C-unwind\" fn({}{more}) -> {}",
            self.params.join(", "),
            self.returns
        )
    }
}

/// Name of the wrapper: `MPI_File_open` becomes `file_open`.
pub(super) fn rust_name(name: &str) -> String {
    let short = name.strip_prefix("MPI_").unwrap_or(name).to_lowercase();
    match short.as_str() {
        "test" | "type" | "send" => format!("{short}_"),
        _ => short,
    }
}

/// Type of a parameter: pointers to what the call sets are `*mut`, others `*const`.
fn param_type(param: &Param, style: Style) -> String {
    let base = base(param.ctype, param.kind, style);
    let pointer = match param.direction {
        Direction::In => "*const ",
        Direction::Out | Direction::InOut => "*mut ",
    };
    format!("{}{base}", pointer.repeat(param.indirection()))
}

/// Type of one element.
fn base(ctype: CType, kind: Kind, style: Style) -> &'static str {
    match ctype {
        CType::Int | CType::Enum | CType::Fint => "c_int",
        CType::Aint | CType::Offset | CType::Count => "i64",
        CType::Double => "f64",
        CType::Handle if style == Style::Neutral => "Handle",
        CType::Handle if kind.is_pointer() => "*mut c_void",
        CType::Handle => "A::Handle",
        CType::Status if style == Style::Neutral => "c_void",
        CType::Status => "A::Status",
        CType::Char => "c_char",
        CType::F08Status | CType::Void => "c_void",
        CType::Function => "CodeAddress",
    }
}
