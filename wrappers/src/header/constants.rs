//! The values of an MPI library's constants, found out by compiling and running a small program with its compiler wrapper. Most are
//! casts, which no binding generator sees; some are addresses of objects in the library, which that program names.

use crate::abi::{AbiFacts, MpiAbi};
use std::collections::BTreeMap;
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

/// Predefined handles, other than of datatypes. Those that a library lacks are left out.
const HANDLES: &str = "MPI_COMM_NULL MPI_COMM_WORLD MPI_COMM_SELF MPI_GROUP_NULL MPI_GROUP_EMPTY MPI_REQUEST_NULL \
MPI_FILE_NULL MPI_INFO_NULL MPI_INFO_ENV MPI_WIN_NULL MPI_MESSAGE_NULL MPI_MESSAGE_NO_PROC MPI_SESSION_NULL \
MPI_ERRHANDLER_NULL MPI_ERRORS_ARE_FATAL MPI_ERRORS_RETURN MPI_ERRORS_ABORT MPI_OP_NULL MPI_MAX MPI_MIN MPI_SUM MPI_PROD \
MPI_LAND MPI_BAND MPI_LOR MPI_BOR MPI_LXOR MPI_BXOR MPI_MINLOC MPI_MAXLOC MPI_REPLACE MPI_NO_OP";

/// Predefined datatypes. Those that a library lacks are left out.
const DATATYPES: &str = "MPI_DATATYPE_NULL MPI_CHAR MPI_SIGNED_CHAR MPI_UNSIGNED_CHAR MPI_BYTE MPI_WCHAR MPI_SHORT MPI_UNSIGNED_SHORT MPI_INT MPI_UNSIGNED MPI_LONG \
MPI_UNSIGNED_LONG MPI_FLOAT MPI_DOUBLE MPI_LONG_DOUBLE MPI_LONG_LONG_INT MPI_UNSIGNED_LONG_LONG MPI_LONG_LONG MPI_PACKED \
MPI_LB MPI_UB MPI_FLOAT_INT MPI_DOUBLE_INT MPI_LONG_INT MPI_SHORT_INT MPI_2INT MPI_LONG_DOUBLE_INT MPI_C_BOOL MPI_INT8_T \
MPI_INT16_T MPI_INT32_T MPI_INT64_T MPI_UINT8_T MPI_UINT16_T MPI_UINT32_T MPI_UINT64_T MPI_AINT MPI_COUNT MPI_OFFSET \
MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX MPI_C_DOUBLE_COMPLEX MPI_C_LONG_DOUBLE_COMPLEX MPI_CXX_BOOL MPI_CXX_FLOAT_COMPLEX \
MPI_CXX_DOUBLE_COMPLEX MPI_CXX_LONG_DOUBLE_COMPLEX MPI_INTEGER MPI_REAL MPI_DOUBLE_PRECISION MPI_COMPLEX \
MPI_DOUBLE_COMPLEX MPI_LOGICAL MPI_CHARACTER MPI_2REAL MPI_2DOUBLE_PRECISION MPI_2INTEGER MPI_INTEGER1 MPI_INTEGER2 \
MPI_INTEGER4 MPI_INTEGER8 MPI_REAL4 MPI_REAL8 MPI_REAL16 MPI_COMPLEX8 MPI_COMPLEX16 MPI_COMPLEX32";

/// Integers. Every library has these, as macros or enumerators.
const INTEGERS: &str = "MPI_SUCCESS MPI_ANY_SOURCE MPI_ANY_TAG MPI_PROC_NULL MPI_ROOT MPI_UNDEFINED MPI_ERR_OTHER \
MPI_ERR_IN_STATUS MPI_ERR_INTERN MPI_ERR_TRUNCATE MPI_ERR_PENDING MPI_IDENT MPI_CONGRUENT MPI_SIMILAR MPI_UNEQUAL MPI_CART MPI_GRAPH MPI_DIST_GRAPH \
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

/// The beginning of the program: what it needs, and the lines about the library, its version and `MPI_Status`.
const BEGIN: &str = r#"
#define _GNU_SOURCE
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <mpi.h>
static void constant(const char *list, const char *name, uintptr_t value)
{
    Dl_info info;
    if (value > UINT32_MAX && value != UINTPTR_MAX && dladdr((void *) value, &info) && info.dli_sname)
        printf("%s %s @%s\n", list, name, info.dli_sname);
    else
        printf("%s %s %#llx\n", list, name, (unsigned long long) value);
}
/* A header of plain numbers names nothing of the library, which the linker then leaves out. */
int (*volatile needed)(int *) = MPI_Initialized;
int main(void)
{
    Dl_info library;
    if (dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &library)) {
        const char *slash = strrchr(library.dli_fname, '/');
        printf("library %s\n", slash ? slash + 1 : library.dli_fname);
    }
#if defined(OMPI_MAJOR_VERSION)
    printf("header Open MPI %d.%d.%d\n", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#elif defined(I_MPI_VERSION)
    printf("header Intel MPI %s\n", I_MPI_VERSION);
#elif defined(MPICH_VERSION)
    printf("header MPICH %s\n", MPICH_VERSION);
#else
    printf("header MPI %d.%d\n", MPI_VERSION, MPI_SUBVERSION);
#endif
    printf("status %zu %zu %zu %zu\n", sizeof(MPI_Status), offsetof(MPI_Status, MPI_SOURCE),
           offsetof(MPI_Status, MPI_TAG), offsetof(MPI_Status, MPI_ERROR));
"#;

/// The program that prints lines of a file of facts.
fn program() -> String {
    let mut text = BEGIN.to_owned();
    // Writing to a String cannot fail.
    for name in ADDRESSES {
        // Macros or variables: every library has them.
        let _ = writeln!(
            text,
            "if (dlsym(RTLD_DEFAULT, \"{name}\")) printf(\"address {name} *{name}\\n\"); else constant(\"address\", \"{name}\", (uintptr_t) {name});"
        );
    }
    let handles = HANDLES.split_whitespace().map(|name| ("handle", name));
    let datatypes = DATATYPES.split_whitespace().map(|name| ("datatype", name));
    for (list, name) in handles.chain(datatypes) {
        // Handles that are ints must not be widened with their sign.
        let _ = writeln!(
            text,
            "#ifdef {name}\nconstant(\"{list}\", \"{name}\", sizeof({name}) == 4 ? (uintptr_t) (uint32_t) (uintptr_t) {name} : (uintptr_t) {name});\n#endif"
        );
    }
    for name in INTEGERS.split_whitespace() {
        let _ = writeln!(
            text,
            "printf(\"integer {name} %lld\\n\", (long long) {name});"
        );
    }
    text + "return 0;\n}\n"
}

/// The facts about the library of a compiler wrapper, nothing of functions; what is wrong, if they cannot be found out.
///
/// `declared` has the integers that the header's declarations show, `out` is a folder for the program that finds the others.
pub(super) fn read(
    mpicc: &str,
    abi: MpiAbi,
    declared: &BTreeMap<String, i64>,
    out: &Path,
) -> Result<AbiFacts, String> {
    let (source, binary) = (out.join("constants.c"), out.join("constants"));
    std::fs::write(&source, program()).map_err(|e| e.to_string())?;
    let compiled = Command::new(mpicc)
        .args(["-w", "-rdynamic", "-o"])
        .args([&binary, &source])
        .arg("-ldl")
        .output()
        .map_err(|e| e.to_string())?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let printed = Command::new(&binary).output().map_err(|e| e.to_string())?;
    if !printed.status.success() {
        return Err(format!("{} failed: {}", binary.display(), printed.status));
    }
    let text = format!(
        "family {}\n{}",
        abi.word(),
        String::from_utf8_lossy(&printed.stdout)
    );
    let mut facts = AbiFacts::parse(&text, "constants").map_err(|e| e.to_string())?;
    for name in OPTIONAL {
        if let Some(value) = declared.get(*name) {
            facts.integers.push(((*name).to_owned(), *value));
        }
    }
    Ok(facts)
}
