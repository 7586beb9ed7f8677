//! The truth about a program: how many times it calls each MPI function.
//!
//! A header of macros is generated from the functions the installed `mpi.h` declares; test programs include it. Each call
//! in the source counts itself and then makes the call. At exit every rank writes one line, in the form the recorder's
//! `TRACE_COUNTS` has too: `rank total function=count ...`.

use crate::Mpi;
use crate::process;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// Calls of each function by one rank.
pub type CallTally = BTreeMap<String, u64>;

/// Which declarations of `mpi.h` are visible: Open MPI hides the names MPI 3 removed unless asked.
const WITH_REMOVED: &str = "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0";

/// Signatures of these differ between plain and large-count form in more than integer types.
const NOT_LARGE: [&str; 3] = [
    "MPI_Type_get_contents",
    "MPI_Type_get_envelope",
    "MPI_Register_datarep",
];

/// The `MPI_` functions that the implementation's `mpi.h` declares.
pub fn declared(mpi: Mpi) -> BTreeSet<String> {
    let folder = process::TestFolder::new("header");
    let source = folder.path().join("all.c");
    fs::write(&source, "#include <mpi.h>\n").expect("own folder");
    let mut command = mpi.mpicc();
    command.args(["-E", "-P", WITH_REMOVED]).arg(&source);
    let text = process::run(&mut command, Duration::from_secs(60))
        .succeeded()
        .stdout;
    functions_in(&text)
}

/// Names that start with `MPI_` and are followed by a parenthesis. Types of callbacks are declared in parentheses of their
/// own and so are not among them.
fn functions_in(text: &str) -> BTreeSet<String> {
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices("MPI_")
        .filter(|&(at, _)| !text[..at].ends_with(part_of_name))
        .filter_map(|(at, _)| {
            let name = &text[at..];
            let name = &name[..name.find(|c| !part_of_name(c))?];
            // `MPI_Aint (QMPI_Aint_add_t)(...)` is a return type in front of the type of a function
            let parameters = text[at + name.len()..].trim_start().strip_prefix('(')?;
            (!parameters.starts_with("QMPI_")).then(|| name.to_owned())
        })
        .collect()
}

/// Whether the recorder leaves this function out on purpose: conversions of handles between C and Fortran, which are no
/// calls of the program but noise of the Fortran bindings.
pub fn is_conversion(function: &str) -> bool {
    [
        "_c2f", "_f2c", "_c2f08", "_f082c", "_f2f08", "_f082f", "_fromint", "_toint",
    ]
    .iter()
    .any(|suffix| function.ends_with(suffix))
}

/// Writes `tally.h` for the declared functions into a folder.
pub fn write_header(folder: &Path, declared: &BTreeSet<String>) {
    let functions: Vec<&String> = declared.iter().filter(|f| !is_conversion(f)).collect();
    let mut text = String::from("/* Generated: every MPI call of this source counts itself. */\n");
    text.push_str("enum {\n");
    for function in &functions {
        let _ = writeln!(text, "    TALLY_{function},");
    }
    text.push_str("    TALLY_LENGTH\n};\nstatic const char *const tally_names[] = {\n");
    for function in &functions {
        let _ = writeln!(text, "    \"{function}\",");
    }
    text.push_str(HEADER);
    for function in &functions {
        let large = format!("{function}_c");
        let _ = writeln!(text, "#undef {function}");
        if declared.contains(&large) && !NOT_LARGE.contains(&function.as_str()) {
            let _ = writeln!(
                text,
                "#ifdef LARGE_COUNT\n#define {function}(...) (TALLY({large}), {large}(__VA_ARGS__))\n#else"
            );
            let _ = writeln!(
                text,
                "#define {function}(...) (TALLY({function}), {function}(__VA_ARGS__))\n#endif"
            );
        } else if function.ends_with("_c") {
            // Reached by name or through the macro of the plain form; not a macro where that one expands to it.
            let _ = writeln!(
                text,
                "#ifndef LARGE_COUNT\n#define {function}(...) (TALLY({function}), {function}(__VA_ARGS__))\n#endif"
            );
        } else {
            let _ = writeln!(
                text,
                "#define {function}(...) (TALLY({function}), {function}(__VA_ARGS__))"
            );
        }
    }
    fs::write(folder.join("tally.h"), text).expect("own folder");
}

const HEADER: &str = r#"};
static unsigned long long tally_counts[TALLY_LENGTH];
#define TALLY(function) (void)__atomic_fetch_add(&tally_counts[TALLY_##function], 1, __ATOMIC_RELAXED)

__attribute__((destructor)) static void tally_write(void)
{
    const char *folder = getenv("TALLY_DIR"), *rank_text = getenv("PMI_RANK");
    if (!rank_text)
        rank_text = getenv("OMPI_COMM_WORLD_RANK");
    if (!folder || !rank_text)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.tally", folder, rank_text);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    unsigned long long total = 0;
    for (int i = 0; i < TALLY_LENGTH; i++)
        total += tally_counts[i];
    fprintf(file, "%s %llu", rank_text, total);
    for (int i = 0; i < TALLY_LENGTH; i++)
        if (tally_counts[i])
            fprintf(file, " %s=%llu", tally_names[i], tally_counts[i]);
    fprintf(file, "\n");
    fclose(file);
}
"#;

/// Reads lines `rank total function=count ...`; the total must be the sum.
#[track_caller]
pub fn parse(text: &str) -> BTreeMap<usize, CallTally> {
    let mut ranks = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let (Some(rank), Some(total)) = (number(), number()) else {
            panic!("not `rank total function=count ...`: {line}");
        };
        let counts: CallTally = words
            .map(|word| {
                let (function, count) = word.split_once('=').expect("function=count");
                (function.to_owned(), count.parse().expect("a count"))
            })
            .collect();
        assert_eq!(counts.values().sum::<u64>(), total, "total of: {line}");
        let other = ranks.insert(rank as usize, counts);
        assert!(other.is_none(), "two lines for rank {rank}");
    }
    ranks
}

/// Reads the tallies that the ranks of a program left in a folder.
pub fn read(folder: &Path) -> BTreeMap<usize, CallTally> {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("own folder") {
        let path = entry.expect("own folder").path();
        if path
            .extension()
            .is_some_and(|extension| extension == "tally")
        {
            text += &fs::read_to_string(path).expect("a tally");
        }
    }
    parse(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_from_types_of_callbacks() {
        let text = "typedef MPI_Aint (QMPI_Aint_add_t) (int);typedef int (MPI_Copy_function)(MPI_Comm, int);\nint MPI_Send (const void *b);\nint PMPI_Send(int);\n\
                    double MPI_Wtime(void); extern MPI_Datatype MPI_INT;";
        let found: Vec<String> = functions_in(text).into_iter().collect();
        assert_eq!(found, ["MPI_Send", "MPI_Wtime"]);
    }

    #[test]
    fn a_tally_line_is_read() {
        let ranks = parse("1 5 MPI_Send=2 MPI_Recv=3\n");
        assert_eq!(ranks[&1]["MPI_Recv"], 3);
    }
}
