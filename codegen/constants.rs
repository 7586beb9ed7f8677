//! The values of an MPI library's constants, found out by compiling and running a small program with its compiler wrapper.
//! Most are casts, which no binding generator sees; some are addresses of objects in the library, which that program names.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// Constants that stand for objects or addresses.
const ADDRESSES: &[&str] = &[
    "MPI_IN_PLACE",
    "MPI_STATUS_IGNORE",
    "MPI_STATUSES_IGNORE",
    "MPI_UNWEIGHTED",
    "MPI_WEIGHTS_EMPTY",
];

/// Predefined handles. Those that a library lacks are left out.
const HANDLES: &str = "MPI_COMM_NULL MPI_COMM_WORLD MPI_COMM_SELF MPI_GROUP_NULL MPI_GROUP_EMPTY MPI_REQUEST_NULL \
MPI_FILE_NULL MPI_INFO_NULL MPI_INFO_ENV MPI_WIN_NULL MPI_MESSAGE_NULL MPI_MESSAGE_NO_PROC MPI_SESSION_NULL \
MPI_ERRHANDLER_NULL MPI_ERRORS_ARE_FATAL MPI_ERRORS_RETURN MPI_ERRORS_ABORT MPI_OP_NULL MPI_MAX MPI_MIN MPI_SUM MPI_PROD \
MPI_LAND MPI_BAND MPI_LOR MPI_BOR MPI_LXOR MPI_BXOR MPI_MINLOC MPI_MAXLOC MPI_REPLACE MPI_NO_OP MPI_DATATYPE_NULL MPI_CHAR \
MPI_SIGNED_CHAR MPI_UNSIGNED_CHAR MPI_BYTE MPI_WCHAR MPI_SHORT MPI_UNSIGNED_SHORT MPI_INT MPI_UNSIGNED MPI_LONG \
MPI_UNSIGNED_LONG MPI_FLOAT MPI_DOUBLE MPI_LONG_DOUBLE MPI_LONG_LONG_INT MPI_UNSIGNED_LONG_LONG MPI_LONG_LONG MPI_PACKED \
MPI_LB MPI_UB MPI_FLOAT_INT MPI_DOUBLE_INT MPI_LONG_INT MPI_SHORT_INT MPI_2INT MPI_LONG_DOUBLE_INT MPI_C_BOOL MPI_INT8_T \
MPI_INT16_T MPI_INT32_T MPI_INT64_T MPI_UINT8_T MPI_UINT16_T MPI_UINT32_T MPI_UINT64_T MPI_AINT MPI_COUNT MPI_OFFSET \
MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX MPI_C_DOUBLE_COMPLEX MPI_C_LONG_DOUBLE_COMPLEX MPI_CXX_BOOL MPI_CXX_FLOAT_COMPLEX \
MPI_CXX_DOUBLE_COMPLEX MPI_CXX_LONG_DOUBLE_COMPLEX MPI_INTEGER MPI_REAL MPI_DOUBLE_PRECISION MPI_COMPLEX \
MPI_DOUBLE_COMPLEX MPI_LOGICAL MPI_CHARACTER MPI_2REAL MPI_2DOUBLE_PRECISION MPI_2INTEGER MPI_INTEGER1 MPI_INTEGER2 \
MPI_INTEGER4 MPI_INTEGER8 MPI_REAL4 MPI_REAL8 MPI_REAL16 MPI_COMPLEX8 MPI_COMPLEX16 MPI_COMPLEX32";

/// Integers. Every library has these, as macros or enumerators.
const INTEGERS: &str = "MPI_SUCCESS MPI_ANY_SOURCE MPI_ANY_TAG MPI_PROC_NULL MPI_ROOT MPI_UNDEFINED MPI_ERR_OTHER \
MPI_ERR_IN_STATUS MPI_ERR_INTERN MPI_IDENT MPI_CONGRUENT MPI_SIMILAR MPI_UNEQUAL MPI_CART MPI_GRAPH MPI_DIST_GRAPH \
MPI_TAG_UB MPI_HOST MPI_IO MPI_WTIME_IS_GLOBAL MPI_UNIVERSE_SIZE MPI_LASTUSEDCODE MPI_APPNUM MPI_WIN_BASE MPI_WIN_SIZE \
MPI_WIN_DISP_UNIT MPI_KEYVAL_INVALID \
MPI_COMBINER_NAMED MPI_COMBINER_DUP MPI_COMBINER_CONTIGUOUS MPI_COMBINER_VECTOR MPI_COMBINER_HVECTOR MPI_COMBINER_INDEXED \
MPI_COMBINER_HINDEXED MPI_COMBINER_INDEXED_BLOCK MPI_COMBINER_STRUCT MPI_COMBINER_SUBARRAY MPI_COMBINER_DARRAY \
MPI_COMBINER_F90_REAL MPI_COMBINER_F90_COMPLEX MPI_COMBINER_F90_INTEGER MPI_COMBINER_RESIZED MPI_DISTRIBUTE_BLOCK \
MPI_DISTRIBUTE_CYCLIC MPI_DISTRIBUTE_NONE MPI_DISTRIBUTE_DFLT_DARG MPI_ORDER_C MPI_ORDER_FORTRAN MPI_THREAD_SINGLE \
MPI_THREAD_FUNNELED MPI_THREAD_SERIALIZED MPI_THREAD_MULTIPLE MPI_TYPECLASS_REAL MPI_TYPECLASS_INTEGER \
MPI_TYPECLASS_COMPLEX MPI_LOCK_SHARED MPI_LOCK_EXCLUSIVE MPI_SEEK_SET MPI_SEEK_CUR MPI_SEEK_END MPI_MODE_RDONLY \
MPI_MODE_RDWR MPI_MODE_WRONLY MPI_MODE_CREATE MPI_MODE_EXCL MPI_MODE_DELETE_ON_CLOSE MPI_MODE_UNIQUE_OPEN \
MPI_MODE_SEQUENTIAL MPI_MODE_APPEND MPI_MODE_NOCHECK MPI_MODE_NOSTORE MPI_MODE_NOPUT MPI_MODE_NOPRECEDE \
MPI_MODE_NOSUCCEED MPI_COMBINER_HINDEXED_BLOCK MPI_DISPLACEMENT_CURRENT";

/// Integers that some libraries lack.
const OPTIONAL: &[&str] = &[
    "MPI_COMBINER_HVECTOR_INTEGER",
    "MPI_COMBINER_HINDEXED_INTEGER",
    "MPI_COMBINER_STRUCT_INTEGER",
    "MPI_COMBINER_VALUE_INDEX",
];

/// Rust source with the constants. `declared` are those that the header's declarations show.
pub fn read(
    mpicc: &str,
    out: &Path,
    declared: &BTreeMap<String, i64>,
) -> Result<String, Box<dyn Error>> {
    let mut program = String::from(
        "#define _GNU_SOURCE\n#define OMPI_OMIT_MPI1_COMPAT_DECLS 0\n#include <dlfcn.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n#include <mpi.h>\n\
         static void object(const char *list, const char *name, uintptr_t value) {\n\
         Dl_info info;\n\
         if (value > 4096 && value != UINTPTR_MAX && value > UINT32_MAX && dladdr((void *) value, &info) && info.dli_sname)\n\
         printf(\"%s %s @%s\\n\", list, name, info.dli_sname);\n\
         else printf(\"%s %s %llu\\n\", list, name, (unsigned long long) value);\n\
         }\n\
         /* A header of plain numbers names nothing of the library, which the linker then leaves out. */\n\
         int (*volatile needed)(int *) = MPI_Initialized;\n\
         int main(void) {\nprintf(\"size MPI_Status %zu\\n\", sizeof(MPI_Status));\n\
         Dl_info library;\n\
         if (dladdr(dlsym(RTLD_DEFAULT, \"PMPI_Init\"), &library))\n\
         printf(\"library SONAME %s\\n\", strrchr(library.dli_fname, '/') ? strrchr(library.dli_fname, '/') + 1 : library.dli_fname);\n",
    );
    for name in ADDRESSES {
        // Macros or variables: every library has them.
        writeln!(
            program,
            "if (dlsym(RTLD_DEFAULT, \"{name}\")) printf(\"address {name} *{name}\\n\"); else object(\"address\", \"{name}\", (uintptr_t) {name});"
        )?;
    }
    for name in HANDLES.split_whitespace() {
        // Handles that are ints must not be widened with their sign.
        writeln!(
            program,
            "#ifdef {name}\nobject(\"handle\", \"{name}\", sizeof({name}) == 4 ? (uintptr_t) (uint32_t) (uintptr_t) {name} : (uintptr_t) {name});\n#endif"
        )?;
    }
    for name in INTEGERS.split_whitespace() {
        writeln!(
            program,
            "printf(\"integer {name} %lld\\n\", (long long) {name});"
        )?;
    }
    program.push_str("return 0;\n}\n");
    let (source, binary) = (out.join("constants.c"), out.join("constants"));
    std::fs::write(&source, program)?;
    let compiled = Command::new(mpicc)
        .args(["-w", "-rdynamic", "-o"])
        .args([&binary, &source])
        .arg("-ldl")
        .output()?;
    if !compiled.status.success() {
        let why = String::from_utf8_lossy(&compiled.stderr).into_owned();
        return Err(format!("{mpicc} cannot compile {}: {why}", source.display()).into());
    }
    let printed = Command::new(&binary).output()?;
    if !printed.status.success() {
        return Err(format!("{} failed: {}", binary.display(), printed.status).into());
    }
    let mut source = rust(&String::from_utf8(printed.stdout)?);
    source += "/// Integer constants that other libraries lack.\npub const OPTIONAL: &[(&str, i64)] = &[\n";
    for name in OPTIONAL {
        if let Some(value) = declared.get(*name) {
            writeln!(source, "    (\"{name}\", {value}),")?;
        }
    }
    Ok(source + "];\n")
}

fn place(value: &str) -> String {
    match (value.strip_prefix('@'), value.strip_prefix('*')) {
        (Some(symbol), _) => format!("ConstantSource::Symbol(c\"{symbol}\")"),
        (_, Some(variable)) => format!("ConstantSource::Variable(c\"{variable}\")"),
        _ => format!("ConstantSource::Number({value})"),
    }
}

/// The program's output as Rust source.
fn rust(printed: &str) -> String {
    let lines: Vec<[&str; 3]> = printed
        .lines()
        .filter_map(|l| l.split_whitespace().collect::<Vec<_>>().try_into().ok())
        .collect();
    let of =
        |list: &str| -> Vec<[&str; 3]> { lines.iter().filter(|l| l[0] == list).copied().collect() };
    let mut s = String::new();
    for [_, name, value] in of("size") {
        s += &format!(
            "/// Bytes of a {name}.\npub const SIZE_OF_{}: usize = {value};\n",
            name.to_uppercase()
        );
    }
    for [_, name, value] in of("library") {
        s += &format!(
            "/// File name of the MPI library.\npub const {name}: &CStr = c\"{value}\";\n"
        );
    }
    for [_, name, value] in of("address") {
        s += &format!(
            "/// {name}.\npub const {name}_AT: ConstantSource = {};\n",
            place(value)
        );
    }
    s += "/// Predefined handles.\npub const HANDLES: &[(&str, ConstantSource)] = &[\n";
    for [_, name, value] in of("handle") {
        s += &format!("    (\"{name}\", {}),\n", place(value));
    }
    s += "];\n/// Integer constants.\npub const INTEGERS: &[(&str, i64)] = &[\n";
    for [_, name, value] in of("integer") {
        s += &format!("    (\"{name}\", {value}),\n");
    }
    s + "];\n"
}
