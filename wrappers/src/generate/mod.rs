//! Generates the recorder's wrappers from the table and an installed `mpi.h`: Rust source, one function each.
//!
//! A wrapper keeps what the call will overwrite, runs the real function between two time stamps, and writes the arguments in
//! the order of the signature, each in the form that [`Carrier`] says. What it calls (`Call`, `arg::…`, `lengths::…`,
//! `define::…`, `init::…`) is the recorder's, written by hand. Functions that the table does not know are wrapped without
//! arguments.

/// Writes to a string, which cannot fail.
macro_rules! put {
    ($s:expr, $($arg:tt)*) => {{ let _ = writeln!($s, $($arg)*); }};
}

mod declaration;
mod filter;
mod fortran;
mod wrapper;

use declaration::{DeclaredEntry, names, pointer_type, rust_name, signature};
use fortran::Procedure;
use wrapper::FunctionWrapper;

use crate::header::{MpiAbi, MpiHeader};
use crate::{Class, Function, Table};
use std::fmt::Write;

/// Functions whose wrapper is written by hand in the recorder, because they end or switch recording.
pub const BY_HAND: &[&str] = &["MPI_Finalize", "MPI_Abort", "MPI_Pcontrol"];

/// Path of a wrapper that is written by hand.
fn by_hand(name: &str) -> String {
    let module = match name {
        "MPI_Pcontrol" => "pcontrol",
        _ => "ends",
    };
    format!("{module}::{}", rust_name(name))
}

/// Number of the first function that the table does not know (`blockfile::record::FIRST_UNKNOWN`).
const FIRST_UNKNOWN: usize = 0x0E00;

/// Rust source of the recorder, by the modules that include it, and what was left out.
#[derive(Debug)]
pub struct Generated {
    /// The functions of MPI by index: names, numbers, classes.
    pub functions: String,
    /// The MPI library's own functions, for the recorder's use.
    pub pmpi: String,
    /// The wrappers, and the table of them.
    pub wrappers: String,
    /// The exported functions, and the table of them.
    pub exports: String,
    /// Functions without a table entry, recorded by name only.
    pub unknown: Vec<String>,
    /// Functions whose declaration does not fit the table entry, recorded by name only, with the reason.
    pub misfits: Vec<String>,
}

/// Text by which a recorder's file names what it was built for: the ABI, and the generation of the functions that its wrappers know
/// (3: before sessions, 4: with them, 5: with the functions about the ABI).
fn built_for(header: &MpiHeader) -> String {
    let abi = match header.family {
        MpiAbi::Mpich => "mpich",
        MpiAbi::OpenMpi => "openmpi",
        MpiAbi::Standard => "abi",
    };
    let declares = |name: &str| header.functions.iter().any(|f| f.name == name);
    let generation = if declares("MPI_Abi_get_version") {
        5
    } else if declares("MPI_Session_init") {
        4
    } else {
        3
    };
    format!("libtrace abi={abi} generation={generation}")
}

/// Makes the wrappers for the functions that `header` declares.
pub fn generate(table: &Table, header: &MpiHeader) -> Generated {
    let mut out = Generated {
        functions: String::new(),
        pmpi: String::new(),
        wrappers: String::new(),
        exports: String::new(),
        unknown: Vec::new(),
        misfits: Vec::new(),
    };
    let mut entries = Vec::new();
    let only_fortran = fortran::undeclared(table, header);
    for declared in &header.functions {
        let function = match table.get(&declared.name) {
            None => {
                out.unknown.push(declared.name.clone());
                None
            }
            Some(function) => match declared.misfit(function) {
                Some(why) => {
                    out.misfits.push(format!("{}: {why}", declared.name));
                    None
                }
                None => Some(function),
            },
        };
        entries.push((declared, function));
    }
    let exported = entries.len();
    entries.extend(only_fortran.iter().map(|d| (d, table.get(&d.name))));
    let mut unknown = FIRST_UNKNOWN;
    let numbers: Vec<usize> = entries
        .iter()
        .map(|(_, function)| match function {
            Some(f) => f.id,
            None => {
                unknown += 1;
                unknown - 1
            }
        })
        .collect();
    let procedures = fortran::procedures(header.family, &entries);
    tables(
        &mut out.functions,
        table,
        header,
        &entries,
        &numbers,
        &procedures,
    );
    pmpi(&mut out.pmpi, &entries[..exported]);
    exports(
        &mut out.exports,
        &entries[..exported],
        entries.len(),
        &procedures,
    );
    let s = &mut out.wrappers;
    wrapper_table(s, &entries[..exported], entries.len(), &procedures);
    for (index, ((declared, function), number)) in
        entries.iter().zip(&numbers).enumerate().take(exported)
    {
        if BY_HAND.contains(&declared.name.as_str()) {
            continue;
        }
        let wrapper = FunctionWrapper {
            index,
            number: *number,
            declared,
            function: *function,
        };
        wrapper.write(s);
    }
    for procedure in &procedures {
        procedure.write(s);
    }
    out
}

fn tables(
    s: &mut String,
    table: &Table,
    header: &MpiHeader,
    entries: &[DeclaredEntry],
    numbers: &[usize],
    procedures: &[Procedure],
) {
    let count = entries.len();
    put!(
        s,
        "/// Functions that `mpi.h` declares, and behind them those that only Fortran has."
    );
    put!(s, "pub const COUNT: usize = {count};");
    put!(s, "/// ABI family of this `mpi.h`.");
    put!(s, "pub const FAMILY: Family = Family::{:?};", header.family);
    let built_for = built_for(header);
    put!(s, "/// ABI and generation of this `mpi.h`.");
    put!(
        s,
        "pub const BUILT_FOR: &[u8; {}] = b\"{built_for}\\0\";",
        built_for.len() + 1
    );
    put!(s, "/// Fingerprint of the function table.");
    put!(
        s,
        "pub const FINGERPRINT: u64 = {:#x};",
        table.fingerprint()
    );
    put!(s, "/// Names of the functions, with the P of PMPI.");
    put!(s, "pub const NAMES: [&CStr; COUNT] = [");
    for (declared, _) in entries {
        put!(s, "    c\"P{}\",", declared.name);
    }
    put!(s, "];");
    put!(
        s,
        "/// Numbers of the functions in records: position in the table, or that of an unknown function."
    );
    put!(s, "pub const NUMBERS: [u16; COUNT] = {numbers:?};");
    put!(s, "/// Classes of the functions.");
    put!(s, "pub const CLASSES: [Option<Class>; COUNT] = [");
    for (_, function) in entries {
        match function {
            Some(f) => put!(s, "    Some(Class::{}),", f.class.variant()),
            None => put!(s, "    None,"),
        }
    }
    put!(s, "];");
    put!(
        s,
        "/// Functions that send or receive messages, or that what they are depends on."
    );
    let moving: Vec<bool> = entries
        .iter()
        .map(|(_, f)| f.is_some_and(Function::moves_messages))
        .collect();
    put!(s, "pub const MOVES_MESSAGES: [bool; COUNT] = {moving:?};");
    put!(s, "/// Functions that only convert handles.");
    let conversions: Vec<usize> = (0..count)
        .filter(|&i| entries[i].1.is_some_and(|f| f.class == Class::Convert))
        .collect();
    put!(s, "pub const CONVERSIONS: &[usize] = &{conversions:?};");
    put!(
        s,
        "/// Functions that are recorded by name only: index and name."
    );
    put!(s, "pub const UNKNOWN: &[usize] = &[");
    for (i, (_, function)) in entries.iter().enumerate() {
        if function.is_none() {
            put!(s, "    {i},");
        }
    }
    put!(s, "];");
    put!(
        s,
        "/// Functions whose answer is an error code; the others give a time or a handle."
    );
    let codes: Vec<bool> = entries
        .iter()
        .map(|(declared, _)| declared.returns == "::std::os::raw::c_int")
        .collect();
    put!(s, "pub const RETURNS_CODE: [bool; COUNT] = {codes:?};");
    let symbols = || procedures.iter().flat_map(|p| &p.symbols);
    put!(
        s,
        "/// Symbols of Fortran bindings that do not call the C function."
    );
    put!(s, "pub const SYMBOLS: [&CStr; {}] = [", symbols().count());
    for symbol in symbols() {
        put!(s, "    c\"{}\",", symbol.name);
    }
    put!(s, "];");
    put!(
        s,
        "/// Slots: two for each function, one for each of these symbols."
    );
    put!(s, "pub const SLOTS: usize = 2 * COUNT + SYMBOLS.len();");
    put!(s, "/// Index of each function.");
    put!(s, "#[allow(non_upper_case_globals)]\npub mod index {{");
    for (i, (declared, _)) in entries.iter().enumerate() {
        put!(
            s,
            "    /// {0}.\n    pub const {0}: usize = {i};",
            declared.name
        );
    }
    put!(s, "}}");
}

/// The table of the wrappers. `count` is the number of functions, with those that only Fortran has.
fn wrapper_table(
    s: &mut String,
    exported: &[DeclaredEntry],
    count: usize,
    procedures: &[Procedure],
) {
    put!(
        s,
        "/// The wrappers: of MPI_X at twice the index, of PMPI_X after it; after them those of Fortran's symbols."
    );
    put!(
        s,
        "pub static WRAPPERS: AddressTable<SLOTS> = AddressTable(["
    );
    for (declared, _) in exported {
        let path = if BY_HAND.contains(&declared.name.as_str()) {
            by_hand(&declared.name)
        } else {
            rust_name(&declared.name)
        };
        put!(
            s,
            "    {path}::<0> as CodeAddress, {path}::<1> as CodeAddress,"
        );
    }
    for _ in exported.len()..count {
        put!(
            s,
            "    missing::error as CodeAddress, missing::error as CodeAddress,"
        );
    }
    for procedure in procedures {
        for symbol in &procedure.symbols {
            put!(s, "    {} as CodeAddress,", procedure.wrapper(symbol));
        }
    }
    put!(s, "]);");
}

/// The exported functions, each of which jumps through its slot, and the table of them.
fn exports(s: &mut String, exported: &[DeclaredEntry], count: usize, procedures: &[Procedure]) {
    let symbols = || procedures.iter().flat_map(|p| &p.symbols);
    put!(s, "export! {{");
    for (i, (declared, _)) in exported.iter().enumerate() {
        put!(
            s,
            "    {} {} {} P{}",
            2 * i,
            declared.name,
            2 * i + 1,
            declared.name
        );
    }
    for symbol in symbols() {
        put!(s, "    {} {}", symbol.slot, symbol.name);
    }
    put!(s, "}}");
    put!(s, "/// The exported functions, by slot.");
    put!(
        s,
        "pub static EXPORTS: AddressTable<SLOTS> = AddressTable(["
    );
    for (declared, _) in exported {
        put!(
            s,
            "    {0} as CodeAddress, P{0} as CodeAddress,",
            declared.name
        );
    }
    for _ in exported.len()..count {
        put!(s, "    std::ptr::null(), std::ptr::null(),");
    }
    for symbol in symbols() {
        put!(s, "    {} as CodeAddress,", symbol.name);
    }
    put!(s, "]);");
}

/// The MPI library's own functions, for the recorder's use.
fn pmpi(s: &mut String, exported: &[DeclaredEntry]) {
    for (i, (declared, _)) in exported.iter().enumerate() {
        let params = signature(declared);
        put!(s, "/// P{}.", declared.name);
        put!(
            s,
            "#[inline(always)]\npub unsafe fn {}({params}) -> {} {{",
            declared.name,
            declared.returns
        );
        put!(
            s,
            "    unsafe {{ std::mem::transmute::<CodeAddress, {}>(slots::real({}))({}) }}",
            pointer_type(declared),
            2 * i + 1,
            names(declared)
        );
        put!(s, "}}");
    }
}
