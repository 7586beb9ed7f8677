//! Wrappers of Fortran's own symbols, for the few procedures whose bindings do not call the C function (`fortran=` in the
//! table). They record the call as that of the C function.
//!
//! Everything comes by address: handles as Fortran's integers, logicals as integers, callbacks as they are; last the error
//! code, which `mpi_f08` may leave out. The procedures of a function have the same arguments in all bindings.

use super::declaration::{DeclaredEntry, rust_name};
use crate::abi::MpiAbi;
use crate::{Carrier, Direction, Fortran, Function, Kind, Param};
use std::fmt::Write;

/// A procedure of the libraries of one binary interface, and its symbols.
pub(super) struct Procedure<'a> {
    function: &'a Function,
    /// Index of the C function among all.
    index: usize,
    abi: MpiAbi,
    symbols: Vec<Symbol>,
}

/// A name under which Fortran programs or bindings call a procedure.
struct Symbol {
    name: String,
    /// Whether it is the name without P.
    plain: bool,
}

/// Whether the Fortran bindings of these libraries do not call the C function.
fn bypasses(abi: MpiAbi, fortran: Fortran) -> bool {
    match abi {
        MpiAbi::Mpich => fortran.mpich,
        MpiAbi::OpenMpi => fortran.openmpi,
        // No library has Fortran bindings for it.
        MpiAbi::Standard => false,
    }
}

/// The procedures that have to be wrapped, of every binary interface.
pub(super) fn procedures<'a>(entries: &[DeclaredEntry<'a>]) -> Vec<Procedure<'a>> {
    let of = |abi: MpiAbi| {
        (entries.iter().enumerate()).filter_map(move |(index, (_, function))| {
            let function = function.filter(|f| bypasses(abi, f.fortran))?;
            Some(Procedure {
                function,
                index,
                abi,
                symbols: names(abi, function),
            })
        })
    };
    MpiAbi::ALL.into_iter().flat_map(of).collect()
}

/// The names of all symbols. The slot of the first one follows those of the C functions.
pub(super) fn symbols<'a>(procedures: &'a [Procedure]) -> Vec<&'a str> {
    let all = procedures.iter().flat_map(|p| &p.symbols);
    let mut names: Vec<&str> = all.map(|symbol| symbol.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The spellings that compilers may ask for, and those of `mpi_f08`; each whether it is the name without P.
fn names(abi: MpiAbi, function: &Function) -> Vec<Symbol> {
    let mut all = Vec::new();
    for (prefix, plain) in [("", true), ("p", false)] {
        let lower = format!("{prefix}{}", function.name.to_lowercase());
        for name in [
            format!("{lower}_"),
            lower.clone(),
            format!("{lower}__"),
            lower.to_uppercase(),
        ] {
            all.push(Symbol { name, plain });
        }
    }
    if !function.fortran.not_f08 {
        let plain = format!("{}_f08_", function.name.to_lowercase());
        let profiled = match abi {
            MpiAbi::Mpich => plain.replacen("mpi_", "pmpir_", 1),
            _ => format!("p{plain}"),
        };
        all.extend([
            Symbol {
                name: plain,
                plain: true,
            },
            Symbol {
                name: profiled,
                plain: false,
            },
        ]);
    }
    all
}

impl Procedure<'_> {
    /// The wrapper of the symbol with this name and slot for the libraries of a binary interface; `None` where they have no such symbol.
    pub fn wrapper(&self, abi: MpiAbi, name: &str, slot: usize) -> Option<String> {
        let symbol = self.symbols.iter().find(|symbol| symbol.name == name)?;
        (self.abi == abi).then(|| format!("{}::<{slot}, {}>", self.rust_name(), symbol.plain))
    }

    fn rust_name(&self) -> String {
        format!("{}_{}", self.abi.word(), rust_name(&self.function.name))
    }

    /// Appends the source of the wrapper.
    pub fn write(&self, s: &mut String) {
        let f = self.function;
        let fails = f.returns == Kind::ErrorCode;
        let mut arguments: Vec<(String, &str)> = f
            .params
            .iter()
            .enumerate()
            .map(|(i, p)| (format!("a{i}"), self.pointee(p)))
            .collect();
        if fails {
            arguments.push(("ierror".to_owned(), "i32"));
        }
        let list = |one: &dyn Fn(&(String, &str)) -> String| {
            let list: Vec<String> = arguments.iter().map(one).collect();
            list.join(", ")
        };
        let signature = list(&|(name, ty)| format!("{name}: *mut {ty}"));
        let types = list(&|(_, ty)| format!("*mut {ty}"));
        let names = list(&|(name, _)| name.clone());
        let returns = if fails { "()" } else { "i64" };
        put!(
            s,
            "\n/// {} of Fortran (mpi.table:{}, {})",
            f.name,
            f.line,
            f.class.word()
        );
        put!(
            s,
            "unsafe extern \"C-unwind\" fn {}<const SLOT: usize, const PLAIN: bool>({signature}) -> {returns} {{ unsafe {{",
            self.rust_name()
        );
        put!(
            s,
            "    let real = std::mem::transmute::<CodeAddress, unsafe extern \"C-unwind\" fn({types}) -> {returns}>(slots::found(SLOT));"
        );
        put!(s, "    let call = Call::enter({}, PLAIN);", self.index);
        put!(s, "    if call.ignored() {{");
        put!(s, "        let r = real({names});");
        put!(s, "        call.leave();");
        put!(s, "        return r;");
        put!(s, "    }}");
        if fails {
            put!(s, "    let mut own = 0;");
            put!(
                s,
                "    let ierror = if ierror.is_null() {{ &raw mut own }} else {{ ierror }};"
            );
        }
        put!(s, "    let running = call.start({});", f.id);
        put!(s, "    let r = real({names});");
        put!(s, "    let stopped = running.stop();");
        let code = if fails { "*ierror" } else { "0" };
        put!(s, "    let ok = {code} == 0;");
        if fails {
            put!(s, "    if !ok && stopped.left_out({}) {{", self.index);
            put!(s, "        stopped.leave_out({});", self.index);
            put!(s, "        return r;");
            put!(s, "    }}");
        }
        self.filter(s);
        let room: usize = f.params.iter().map(|p| bytes(p.carrier())).sum();
        put!(
            s,
            "    let mut w = stopped.record({}, {code}, 0, {room});",
            f.id
        );
        for (i, p) in f.params.iter().enumerate() {
            self.emit(s, i, p);
        }
        put!(s, "    w.publish();");
        put!(s, "    r");
        put!(s, "}} }}");
    }

    /// Leaves out what the filters do not want. None of these calls moves data.
    fn filter(&self, s: &mut String) {
        let index = self.index;
        let comm = match self.function.comm() {
            Some(i) if self.abi == MpiAbi::OpenMpi => {
                format!("ok.then(|| pmpi::MPI_Comm_f2c(*a{i}))")
            }
            Some(i) => format!("ok.then(|| handle::of(*a{i}))"),
            None => "None".to_owned(),
        };
        put!(
            s,
            "    if stopped.filtered({index}) && modes::leaves_out({index}, stopped.number(), {comm}, &[]) {{"
        );
        put!(s, "        stopped.leave_out({index});");
        put!(s, "        return r;");
        put!(s, "    }}");
    }

    /// Type that an argument points to.
    fn pointee(&self, p: &Param) -> &'static str {
        match p.carrier() {
            Carrier::Nothing => "c_void",
            Carrier::I64 => "i64",
            _ => "i32",
        }
    }

    fn emit(&self, s: &mut String, i: usize, p: &Param) {
        let value = match p.carrier() {
            Carrier::Nothing => return,
            // Compilers differ in what .true. is.
            Carrier::I32 if p.kind == Kind::Logical => format!("(*a{i} != 0) as i32"),
            Carrier::I32 => format!("*a{i}"),
            // In a common block it may stand behind an odd number of integers.
            Carrier::I64 => format!("a{i}.read_unaligned()"),
            Carrier::Handle => match self.abi {
                MpiAbi::OpenMpi => format!("pmpi::{}(*a{i}).bits()", from_fortran(p.kind)),
                _ => format!("*a{i} as u32 as u64"),
            },
            other => {
                put!(
                    s,
                    "    compile_error!(\"{} of Fortran: no {other:?}\");",
                    p.name
                );
                return;
            }
        };
        let value = match p.direction {
            Direction::Out => format!("if ok {{ {value} }} else {{ 0 }}"),
            _ => value,
        };
        let put = match p.carrier() {
            Carrier::I32 => "i32",
            Carrier::I64 => "i64",
            _ => {
                let width = match self.abi {
                    MpiAbi::Mpich => "c_int",
                    _ => "*mut c_void",
                };
                put!(s, "    arg::put_handle::<{width}>(&mut w.args, {value});");
                return;
            }
        };
        put!(s, "    w.args.{put}({value});");
    }
}

/// Bytes of an argument in a record.
fn bytes(carrier: Carrier) -> usize {
    match carrier {
        Carrier::Nothing => 0,
        Carrier::I32 => 4,
        _ => 8,
    }
}

/// The function that makes a C handle of Fortran's.
fn from_fortran(kind: Kind) -> &'static str {
    match kind {
        Kind::Comm => "MPI_Comm_f2c",
        Kind::Datatype => "MPI_Type_f2c",
        Kind::Win => "MPI_Win_f2c",
        _ => "MPI_Errhandler_f2c",
    }
}
