//! The constants of the libraries of each binary interface as Rust source.

use crate::abi::{AbiFacts, ConstantValue};
use std::fmt::Write;

/// Constants that wrappers compare arguments with: they are numbers in every interface.
const SENTINELS: [&str; 3] = ["MPI_IN_PLACE", "MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE"];

/// One `ConstantTable` for each interface, in the order of `facts`, and the sentinels of each as a `SentinelTable`.
pub(super) fn source(facts: &[AbiFacts]) -> String {
    let mut source = String::new();
    let s = &mut source;
    for facts in facts {
        let name = facts.abi.word().to_uppercase();
        put!(s, "/// Constants of {}.", facts.headers.join(", "));
        put!(s, "pub const {name}: ConstantTable = ConstantTable {{");
        put!(s, "    libraries: &[");
        for library in &facts.libraries {
            put!(s, "        c\"{library}\",");
        }
        put!(s, "    ],");
        for (field, name) in [
            ("unweighted", "MPI_UNWEIGHTED"),
            ("weights_empty", "MPI_WEIGHTS_EMPTY"),
        ] {
            let value = facts
                .address(name)
                .map_or("ConstantSource::Number(0)".to_owned(), place);
            put!(s, "    {field}: {value},");
        }
        for (field, list) in [("handles", &facts.handles), ("datatypes", &facts.datatypes)] {
            put!(s, "    {field}: &[");
            for (name, value) in list {
                put!(s, "        (\"{name}\", {}),", place(value));
            }
            put!(s, "    ],");
        }
        put!(s, "    integers: &[");
        for (name, value) in &facts.integers {
            put!(s, "        (\"{name}\", {value}),");
        }
        put!(s, "    ],");
        put!(s, "}};");
        put!(
            s,
            "/// What calls may be passed in place of an address, by the libraries of this interface."
        );
        put!(s, "pub mod {} {{", facts.abi.word());
        for sentinel in SENTINELS {
            // Anything else would be an address that is not known when the recorder is built.
            let value = match facts.address(sentinel) {
                Some(ConstantValue::Number(n)) => format!("{n:#x}"),
                _ => format!("compile_error!(\"{sentinel} is no number\")"),
            };
            put!(
                s,
                "    /// {sentinel}.\n    pub const {sentinel}: usize = {value};"
            );
        }
        for name in ["MPI_UNDEFINED", "MPI_PROC_NULL"] {
            let value = facts.integer(name).unwrap_or(0);
            put!(s, "    /// {name}.\n    pub const {name}: i32 = {value};");
        }
        let status = facts.status;
        put!(
            s,
            "    /// Bytes of MPI_Status, and offsets of its source, tag and error."
        );
        put!(
            s,
            "    pub const MPI_STATUS: [usize; 4] = [{}, {}, {}, {}];",
            status.size,
            status.source,
            status.tag,
            status.error
        );
        put!(s, "}}");
    }
    source
}

fn place(value: &ConstantValue) -> String {
    match value {
        ConstantValue::Number(n) => format!("ConstantSource::Number({n:#x})"),
        ConstantValue::Symbol(symbol) => format!("ConstantSource::Symbol(c\"{symbol}\")"),
        ConstantValue::Variable(symbol) => format!("ConstantSource::Variable(c\"{symbol}\")"),
    }
}
