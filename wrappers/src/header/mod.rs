//! Declarations of an installed `mpi.h` as bindgen sees them, and the facts of [`crate::abi`] that are made of them and of the
//! library's constants.
//!
//! The table says what a function means, the header which functions exist here and with which C types. Functions of
//! the QMPI_ and PMPI_ families are left out: the former are not wrapped, the latter have the types of their MPI_
//! siblings. The program that uses this needs libclang at run time; nothing is linked with MPI.

mod constants;

use crate::abi::{AbiFacts, Extension, MpiAbi, PassedType};
use crate::kind::{CType, Kind};
use crate::table::{Function, Param, Table};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;
use syn::{Expr, FnArg, ForeignItem, Item, Lit, Pat, PointerMutability, ReturnType, Type, UnOp};

/// Everything taken from one header.
#[derive(Clone, Debug)]
pub struct MpiHeader {
    /// Functions `MPI_*` and `MPIX_*`, in the order of the header.
    pub functions: Vec<DeclaredFunction>,
    /// The types that are other names of types, by name.
    pub aliases: BTreeMap<String, String>,
    /// The constants that are integers, macros and enumerators alike.
    pub constants: BTreeMap<String, i64>,
    /// Binary interface: the form of handles, and so the libraries that the wrappers work with.
    pub family: MpiAbi,
    /// Flags that the compiler wrapper adds for the preprocessor: `-I…`, `-D…`.
    pub flags: Vec<String>,
}

/// A function the header declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredFunction {
    /// Name of the function.
    pub name: String,
    /// Parameters of the function.
    pub params: Vec<DeclaredArgument>,
    /// Rust type of the result; `()` for void.
    pub returns: String,
    /// Whether further arguments may follow.
    pub variadic: bool,
}

/// A parameter of a declared function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredArgument {
    /// The header's name for it, made usable as a Rust name.
    pub name: String,
    /// Rust type of the parameter, `*const ::std::os::raw::c_void`.
    pub ty: String,
}

/// Why a header cannot be read.
#[derive(Debug)]
pub enum MpiHeaderError {
    /// The compiler wrapper cannot be run, or does not know `-show`.
    Wrapper {
        /// Command that was run.
        command: String,
        /// Error of the operating system.
        message: String,
    },
    /// bindgen fails; mostly there is no `mpi.h`, or no libclang.
    Bindgen {
        /// The message of bindgen, and the flags it was given.
        message: String,
    },
    /// The values of the constants cannot be found out.
    Constants {
        /// The compiler wrapper.
        command: String,
        /// Message of the compiler or of the program that it made.
        message: String,
    },
    /// bindgen's result is not what this module expects.
    Rust {
        /// Description of the fault.
        message: String,
    },
}

impl fmt::Display for MpiHeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MpiHeaderError::Wrapper { command, message }
            | MpiHeaderError::Constants { command, message } => write!(f, "{command}: {message}"),
            MpiHeaderError::Bindgen { message } => write!(f, "mpi.h: {message}"),
            MpiHeaderError::Rust { message } => write!(f, "result of bindgen: {message}"),
        }
    }
}

impl std::error::Error for MpiHeaderError {}

/// The compiler wrapper to use: `$MPICC`, else `mpicc`.
pub fn mpicc() -> String {
    std::env::var("MPICC")
        .ok()
        .filter(|s| !s.is_empty())
        .unwrap_or_else(|| "mpicc".into())
}

/// Reads the `mpi.h` of a compiler wrapper.
///
/// # Errors
/// If the wrapper cannot be asked for its flags, or bindgen fails.
pub fn read(mpicc: &str) -> Result<MpiHeader, MpiHeaderError> {
    let flags = flags(mpicc)?;
    let rust = bindgen::builder()
        .header_contents("wrappers_mpi.h", "#include <mpi.h>\n")
        .clang_args(&flags)
        // Open MPI hides the functions removed with MPI-3.0 behind macros that end in an error.
        .clang_arg("-DOMPI_OMIT_MPI1_COMPAT_DECLS=0")
        .allowlist_function("MPIX?_.*")
        .allowlist_type("MPI.*")
        .allowlist_var("MPI.*|OMPI_[A-Z]+_VERSION|I_MPI_[A-Z]*VERSION")
        .prepend_enum_name(false)
        .layout_tests(false)
        .formatter(bindgen::Formatter::None)
        .generate()
        .map_err(|e| MpiHeaderError::Bindgen {
            message: format!("{e} (flags: {})", flags.join(" ")),
        })?
        .to_string();
    let file = syn::parse_file(&rust).map_err(|e| MpiHeaderError::Rust {
        message: e.to_string(),
    })?;
    split(file, flags)
}

/// The wrapper's flags for the preprocessor.
fn flags(mpicc: &str) -> Result<Vec<String>, MpiHeaderError> {
    let fail = |message: String| MpiHeaderError::Wrapper {
        command: format!("{mpicc} -show"),
        message,
    };
    let output = Command::new(mpicc)
        .arg("-show")
        .output()
        .map_err(|e| fail(e.to_string()))?;
    if !output.status.success() {
        return Err(fail(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut flags = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "-I" | "-D" | "-isystem" | "-include" => {
                flags.push(word.to_owned());
                flags.extend(words.next().map(str::to_owned));
            }
            _ if word.starts_with("-I") || word.starts_with("-D") => flags.push(word.to_owned()),
            _ => {}
        }
    }
    Ok(flags)
}

/// Takes functions, constants and names of types out of the source.
fn split(file: syn::File, flags: Vec<String>) -> Result<MpiHeader, MpiHeaderError> {
    let mut functions: Vec<DeclaredFunction> = Vec::new();
    let mut constants = BTreeMap::new();
    let mut aliases = BTreeMap::new();
    for item in file.items {
        match item {
            Item::ForeignMod(block) => {
                for item in block.items {
                    if let ForeignItem::Fn(function) = item {
                        functions.push(declared(&function.sig)?);
                    }
                }
            }
            Item::Const(constant) => {
                if let Some(value) = integer(&constant.expr) {
                    constants.insert(constant.ident.to_string(), value);
                }
            }
            // Pointers to functions are left: no such type is that of a handle.
            Item::Type(alias) => {
                if let Ok(ty) = text(&alias.ty) {
                    aliases.insert(alias.ident.to_string(), ty);
                }
            }
            _ => {}
        }
    }
    let family = match aliases.get("MPI_Comm").map(String::as_str) {
        Some("::std::os::raw::c_int") => MpiAbi::Mpich,
        Some("*mut ompi_communicator_t") => MpiAbi::OpenMpi,
        Some("*mut MPI_ABI_Comm") => MpiAbi::Standard,
        other => {
            return Err(MpiHeaderError::Rust {
                message: format!("MPI_Comm is {other:?}"),
            });
        }
    };
    Ok(MpiHeader {
        functions,
        aliases,
        constants,
        family,
        flags,
    })
}

/// A literal, perhaps negative.
fn integer(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(value) => value.base10_parse().ok(),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => integer(&unary.expr).map(|v| -v),
        _ => None,
    }
}

/// One function declaration.
fn declared(signature: &syn::Signature) -> Result<DeclaredFunction, MpiHeaderError> {
    let name = signature.ident.to_string();
    let mut params = Vec::new();
    for argument in &signature.inputs {
        match argument {
            FnArg::Typed(argument) => match &*argument.pat {
                Pat::Ident(pattern) => params.push(DeclaredArgument {
                    name: pattern.ident.to_string(),
                    ty: text(&argument.ty)?,
                }),
                _ => {
                    return Err(MpiHeaderError::Rust {
                        message: format!("a pattern in {name}"),
                    });
                }
            },
            FnArg::Receiver(_) => {
                return Err(MpiHeaderError::Rust {
                    message: format!("self in {name}"),
                });
            }
        }
    }
    let returns = match &signature.output {
        ReturnType::Default => "()".to_owned(),
        ReturnType::Type(_, ty) => text(ty)?,
    };
    Ok(DeclaredFunction {
        name,
        params,
        returns,
        variadic: signature.variadic.is_some(),
    })
}

/// A type as one writes it.
fn text(ty: &Type) -> Result<String, MpiHeaderError> {
    match ty {
        Type::Ptr(pointer) => {
            let mutable = if matches!(pointer.mutability, PointerMutability::Mut(_)) {
                "mut"
            } else {
                "const"
            };
            Ok(format!("*{mutable} {}", text(&pointer.elem)?))
        }
        Type::Path(path) if path.qself.is_none() => {
            let names: Vec<String> = path
                .path
                .segments
                .iter()
                .map(|s| s.ident.to_string())
                .collect();
            let global = if path.path.leading_colon.is_some() {
                "::"
            } else {
                ""
            };
            Ok(format!("{global}{}", names.join("::")))
        }
        Type::Array(array) => match integer(&array.len) {
            Some(length) => Ok(format!("[{}; {length}]", text(&array.elem)?)),
            None => Err(MpiHeaderError::Rust {
                message: "an array without number".into(),
            }),
        },
        _ => Err(MpiHeaderError::Rust {
            message: "a type that is no pointer, name or array".into(),
        }),
    }
}

impl MpiHeader {
    /// The functions that the table does not have, or has with other parameters; extensions (`MPIX_`) are among them.
    pub fn unknown<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = &'a DeclaredFunction> {
        self.functions.iter().filter(|declared| {
            let known = table.get(&declared.name);
            known.is_none_or(|function| declared.misfit(function).is_some())
        })
    }

    /// The facts about this header and its library, whose compiler wrapper is `mpicc`; `out` is a folder for a small program that
    /// finds the values of constants.
    ///
    /// # Errors
    /// If the program cannot be compiled or fails, or a function outside the table takes or gives a struct.
    pub fn facts(
        &self,
        mpicc: &str,
        table: &Table,
        out: &Path,
    ) -> Result<AbiFacts, MpiHeaderError> {
        let facts = constants::read(mpicc, self.family, &self.constants, out);
        let mut facts = facts.map_err(|message| MpiHeaderError::Constants {
            command: mpicc.to_owned(),
            message,
        })?;
        let lacks = |name: &str| self.functions.iter().all(|declared| declared.name != name);
        facts.lacking = (table.functions.iter())
            .filter(|function| lacks(&function.name))
            .map(|function| (function.name.clone(), vec![1]))
            .collect();
        for declared in self.unknown(table) {
            facts.extensions.push((self.extension(declared)?, vec![1]));
        }
        Ok(facts)
    }

    /// A function by the C types of its result and parameters.
    fn extension(&self, declared: &DeclaredFunction) -> Result<Extension, MpiHeaderError> {
        let params: Result<Vec<PassedType>, MpiHeaderError> = (declared.params.iter())
            .map(|param| self.passed(&param.ty, &declared.name))
            .collect();
        Ok(Extension {
            name: declared.name.clone(),
            returns: self.passed(&declared.returns, &declared.name)?,
            params: params?,
        })
    }

    /// How a Rust type of a declaration of function `of` is passed.
    fn passed(&self, ty: &str, of: &str) -> Result<PassedType, MpiHeaderError> {
        if ty.starts_with('*') || ty.contains("_function") || ty.contains("_fn") {
            return Ok(PassedType::Pointer);
        }
        match ty.strip_prefix("::std::os::raw::").unwrap_or(ty) {
            "()" => Ok(PassedType::Void),
            "c_int" | "c_uint" | "i32" | "u32" => Ok(PassedType::Int),
            "c_long" | "c_ulong" | "c_longlong" | "i64" | "u64" | "isize" | "usize" => {
                Ok(PassedType::Long)
            }
            "f64" => Ok(PassedType::Double),
            name => match self.aliases.get(name) {
                Some(other) => self.passed(other, of),
                None => Err(MpiHeaderError::Rust {
                    message: format!("{of} passes a {name}"),
                }),
            },
        }
    }
}

impl DeclaredFunction {
    /// Difference between the declaration and the table's entry; `None` if a wrapper made from the entry fits.
    pub fn misfit(&self, function: &Function) -> Option<String> {
        if self.params.len() != function.params.len() {
            return Some(format!(
                "{} parameters declared, {} in the table",
                self.params.len(),
                function.params.len()
            ));
        }
        if self.variadic != function.variadic {
            return Some("variadic on one side only".into());
        }
        if !fits(&self.returns, 0, function.returns.ctype(), function.returns) {
            return Some(format!(
                "returns {}, not {}",
                self.returns,
                function.returns.word()
            ));
        }
        let differs = |(declared, param): &(&DeclaredArgument, &Param)| {
            !fits(&declared.ty, param.indirection(), param.ctype, param.kind)
        };
        self.params
            .iter()
            .zip(&function.params)
            .find(differs)
            .map(|(declared, param)| {
                format!(
                    "{} is a {}, not a {}",
                    declared.name,
                    declared.ty,
                    param.kind.word()
                )
            })
    }
}

/// Whether a Rust type is that C type behind so many pointers.
fn fits(ty: &str, indirection: usize, ctype: CType, kind: Kind) -> bool {
    let mut base = ty;
    let mut pointers = 0;
    while let Some(rest) = base
        .strip_prefix("*mut ")
        .or_else(|| base.strip_prefix("*const "))
    {
        base = rest;
        pointers += 1;
    }
    // Ranges of groups: `int ranges[][3]`.
    if let Some((element, _)) = base.strip_prefix('[').and_then(|rest| rest.split_once(';')) {
        base = element;
    }
    let base = base.strip_prefix("::std::os::raw::").unwrap_or(base);
    pointers == indirection
        && match ctype {
            CType::Int => base == "c_int",
            CType::Enum => matches!(base, "MPI_T_cb_safety" | "MPI_T_source_order"),
            CType::Fint => matches!(base, "MPI_Fint" | "c_int"),
            CType::Aint => base == "MPI_Aint",
            CType::Offset => base == "MPI_Offset",
            CType::Count => base == "MPI_Count",
            CType::Double => base == "f64",
            CType::Handle => kind.handle_type() == Some(base),
            CType::Status => base == "MPI_Status",
            CType::F08Status => base == "MPI_F08_status",
            CType::Char => base == "c_char",
            CType::Void => base == "c_void",
            CType::Function => {
                base.starts_with("MPI_") && (base.contains("_function") || base.contains("_fn"))
            }
        }
}
