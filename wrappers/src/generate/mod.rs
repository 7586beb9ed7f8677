//! Generates the recorder's wrappers from the table and the facts about the binary interfaces: Rust source, one function each.
//!
//! A wrapper is generic over the interface `A`, of whose libraries it takes and gives the handles and statuses.
//!
//! A wrapper keeps what the call will overwrite, runs the real function between two time stamps, and writes the arguments in
//! the order of the signature, each in the form that [`crate::Carrier`] says. What it calls (`Call`, `arg::…`, `lengths::…`,
//! `define::…`, `init::…`) is the recorder's, written by hand. Functions that the table does not know are wrapped without
//! arguments.

/// Writes to a string, which cannot fail.
macro_rules! put {
    ($s:expr, $($arg:tt)*) => {{ let _ = writeln!($s, $($arg)*); }};
}

mod constants;
mod declaration;
mod definitions;
mod filter;
mod fortran;
mod short;
mod wait;
mod wrapper;

use declaration::{Declaration, DeclaredEntry, Style, rust_name};
use fortran::Procedure;
use wrapper::FunctionWrapper;

use crate::abi::{AbiFacts, Extension, MpiAbi};
use crate::{Class, Function, Table};
use std::fmt::Write;

/// Functions whose wrapper is written by hand in the recorder, because they end or switch recording.
pub const BY_HAND: &[&str] = &["MPI_Finalize", "MPI_Abort", "MPI_Pcontrol"];

/// Number of the first function that the table does not know (`blockfile::record::FIRST_UNKNOWN`).
const FIRST_UNKNOWN: usize = 0x0E00;

/// Rust source of the recorder, by the modules that include it.
#[derive(Debug)]
pub struct Generated {
    /// The functions of MPI by index: names, numbers, classes.
    pub functions: String,
    /// The constants of the libraries of each binary interface.
    pub constants: String,
    /// The MPI library's own functions, for the recorder's use.
    pub pmpi: String,
    /// The wrappers, and the tables of them.
    pub wrappers: String,
    /// The exported functions, and the table of them.
    pub exports: String,
}

/// Makes the wrappers for all functions of the table and of the extensions in `facts`, which has each binary interface once.
pub fn generate(table: &Table, facts: &[AbiFacts]) -> Generated {
    let extensions = extensions(facts);
    let known = (table.functions.iter()).map(|f| (Declaration::of(f, Style::Wrapper), Some(f)));
    let unknown = (extensions.iter()).map(|e| (Declaration::of_extension(e), None));
    let entries: Vec<DeclaredEntry> = known.chain(unknown).collect();
    let procedures = fortran::procedures(&entries);
    let symbols = fortran::symbols(&procedures);
    let mut out = Generated {
        functions: functions(table, &entries, &symbols),
        constants: constants::source(facts),
        pmpi: pmpi(table),
        wrappers: wrapper_tables(&entries, &procedures, &symbols),
        exports: exports(&entries, &symbols),
    };
    for (index, (declared, function)) in entries.iter().enumerate() {
        if BY_HAND.contains(&declared.name.as_str()) {
            continue;
        }
        let wrapper = FunctionWrapper {
            index,
            number: number(index, *function, table),
            declared,
            function: *function,
        };
        wrapper.write(&mut out.wrappers);
    }
    for procedure in &procedures {
        procedure.write(&mut out.wrappers);
    }
    out
}

/// The functions outside the table, each once: if interfaces differ in the number of its parameters, with most of them.
fn extensions(facts: &[AbiFacts]) -> Vec<Extension> {
    let mut all: Vec<Extension> = Vec::new();
    for (extension, _) in facts.iter().flat_map(|facts| &facts.extensions) {
        match all.iter_mut().find(|known| known.name == extension.name) {
            Some(known) if known.params.len() < extension.params.len() => {
                *known = extension.clone();
            }
            Some(_) => {}
            None => all.push(extension.clone()),
        }
    }
    all
}

/// Number of a function in records: its position in the table, or that of an unknown function.
fn number(index: usize, function: Option<&Function>, table: &Table) -> usize {
    match function {
        Some(function) => function.id,
        None => FIRST_UNKNOWN + index - table.functions.len(),
    }
}

/// The functions by index.
fn functions(table: &Table, entries: &[DeclaredEntry], symbols: &[&str]) -> String {
    let mut source = String::new();
    let s = &mut source;
    let count = entries.len();
    put!(
        s,
        "/// Functions of the table, and behind them those outside it."
    );
    put!(s, "pub const COUNT: usize = {count};");
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
    let numbers: Vec<usize> = (entries.iter().enumerate())
        .map(|(index, (_, function))| number(index, *function, table))
        .collect();
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
    put!(s, "/// Functions that are recorded by name only.");
    put!(
        s,
        "pub const UNKNOWN: std::ops::Range<usize> = {}..COUNT;",
        table.functions.len()
    );
    put!(
        s,
        "/// Functions whose answer is an error code; the others give a time or a handle."
    );
    let codes: Vec<bool> = entries
        .iter()
        .map(|(declared, _)| declared.returns == "c_int")
        .collect();
    put!(s, "pub const RETURNS_CODE: [bool; COUNT] = {codes:?};");
    put!(
        s,
        "/// Symbols of Fortran bindings that do not call the C function."
    );
    put!(s, "pub const SYMBOLS: [&CStr; {}] = [", symbols.len());
    for symbol in symbols {
        put!(s, "    c\"{symbol}\",");
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
    source
}

/// Path of the wrapper of a function for a binary interface.
fn wrapper_path(name: &str, abi: MpiAbi, p: usize) -> String {
    let wrapper = rust_name(name);
    let abi = abi.variant();
    match name {
        "MPI_Finalize" => format!("ends::{wrapper}::<{p}>"),
        "MPI_Abort" => format!("ends::{wrapper}::<{abi}, {p}>"),
        "MPI_Pcontrol" => format!("pcontrol::{wrapper}::<{p}>"),
        _ => format!("{wrapper}::<{abi}, {p}>"),
    }
}

/// The tables of the wrappers, one for each binary interface.
fn wrapper_tables(entries: &[DeclaredEntry], procedures: &[Procedure], symbols: &[&str]) -> String {
    let mut source = String::new();
    let s = &mut source;
    let abis = MpiAbi::ALL.len();
    put!(
        s,
        "/// The wrappers by binary interface: of MPI_X at twice the index, of PMPI_X after it; after them those of Fortran's symbols, null where the \
         libraries have none that is to be wrapped.\n\
         #[cfg(not(test))]\n\
         pub static WRAPPERS: [AddressTable<SLOTS>; {abis}] = ["
    );
    for abi in MpiAbi::ALL {
        put!(s, "AddressTable([");
        for (declared, _) in entries {
            let [plain, profiled] = [0, 1].map(|p| wrapper_path(&declared.name, abi, p));
            put!(s, "    {plain} as CodeAddress, {profiled} as CodeAddress,");
        }
        for (name, slot) in symbols.iter().zip(2 * entries.len()..) {
            let wrapper = procedures.iter().find_map(|p| p.wrapper(abi, name, slot));
            match wrapper {
                Some(wrapper) => put!(s, "    {wrapper} as CodeAddress,"),
                None => put!(s, "    std::ptr::null(),"),
            }
        }
        put!(s, "]),");
    }
    put!(s, "];");
    put!(
        s,
        "/// The wrappers that are written by hand. No unit test enters a generated one, and compiling those takes most of the time.\n\
         #[cfg(test)]\n\
         pub static WRAPPERS: [AddressTable<SLOTS>; {abis}] = ["
    );
    for abi in MpiAbi::ALL {
        put!(s, "AddressTable({{");
        put!(
            s,
            "    let mut table = [missing::nothing as CodeAddress; SLOTS];"
        );
        for ((declared, _), at) in entries.iter().zip((0..).step_by(2)) {
            if BY_HAND.contains(&declared.name.as_str()) {
                let plain = wrapper_path(&declared.name, abi, 0);
                put!(s, "    table[{at}] = {plain} as CodeAddress;");
            }
        }
        put!(s, "    table");
        put!(s, "}}),");
    }
    put!(s, "];");
    source
}

/// The exported functions, each of which jumps through its slot, and the table of them.
fn exports(entries: &[DeclaredEntry], symbols: &[&str]) -> String {
    let mut source = String::new();
    let s = &mut source;
    put!(s, "export! {{");
    for (i, (declared, _)) in entries.iter().enumerate() {
        put!(
            s,
            "    {} {} {} P{}",
            2 * i,
            declared.name,
            2 * i + 1,
            declared.name
        );
    }
    for (symbol, slot) in symbols.iter().zip(2 * entries.len()..) {
        put!(s, "    {slot} {symbol}");
    }
    put!(s, "}}");
    put!(s, "/// The exported functions, by slot.");
    put!(
        s,
        "pub static EXPORTS: AddressTable<SLOTS> = AddressTable(["
    );
    for (declared, _) in entries {
        put!(
            s,
            "    {0} as CodeAddress, P{0} as CodeAddress,",
            declared.name
        );
    }
    for symbol in symbols {
        put!(s, "    {symbol} as CodeAddress,");
    }
    put!(s, "]);");
    source
}

/// The MPI library's own functions, for the recorder's use.
fn pmpi(table: &Table) -> String {
    let mut source = String::new();
    let s = &mut source;
    for (i, function) in table.functions.iter().enumerate() {
        let declared = Declaration::of(function, Style::Neutral);
        // A function gives a handle as wide as the interface has it.
        let is_handle = declared.returns == "Handle";
        put!(s, "/// P{}.", declared.name);
        put!(
            s,
            "#[inline(always)]\npub unsafe fn {}({}) -> {} {{",
            declared.name,
            declared.signature(),
            declared.returns
        );
        let call = format!(
            "unsafe {{ std::mem::transmute::<CodeAddress, {}>(slots::real({}))({}) }}",
            declared.pointer_type(),
            2 * i + 1,
            declared.names()
        );
        match is_handle {
            true => put!(s, "    {call}.as_passed()"),
            false => put!(s, "    {call}"),
        }
        put!(s, "}}");
    }
    source
}
