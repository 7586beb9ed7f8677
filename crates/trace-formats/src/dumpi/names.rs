//! The names dumpi2ascii puts behind numbers (`spec/dumpi.md` section 7, `spec/dumpi-tools.md` section 2.1).

use super::functions::FieldCode;

/// Names of the numbers from 0 up, and of those beyond.
struct NumberNames(&'static [&'static str], &'static str);

const DATATYPES: NumberNames = NumberNames(
    &[
        "MPI_DATATYPE_ERROR",
        "MPI_DATATYPE_NULL",
        "MPI_CHAR",
        "MPI_SIGNED_CHAR",
        "MPI_UNSIGNED_CHAR",
        "MPI_BYTE",
        "MPI_WCHAR",
        "MPI_SHORT",
        "MPI_UNSIGNED_SHORT",
        "MPI_INT",
        "MPI_UNSIGNED",
        "MPI_LONG",
        "MPI_UNSIGNED_LONG",
        "MPI_FLOAT",
        "MPI_DOUBLE",
        "MPI_LONG_DOUBLE",
        "MPI_LONG_LONG_INT",
        "MPI_UNSIGNED_LONG_LONG",
        "MPI_LONG_LONG",
        "MPI_PACKED",
        "MPI_LB",
        "MPI_UB",
        "MPI_FLOAT_INT",
        "MPI_DOUBLE_INT",
        "MPI_LONG_INT",
        "MPI_SHORT_INT",
        "MPI_2INT",
        "MPI_LONG_DOUBLE_INT",
    ],
    "user-defined-datatype",
);

const COMMS: NumberNames = NumberNames(
    &[
        "MPI_COMM_ERROR",
        "MPI_COMM_NULL",
        "MPI_COMM_WORLD",
        "MPI_COMM_SELF",
    ],
    "user-defined-comm",
);
const GROUPS: NumberNames = NumberNames(
    &["MPI_GROUP_ERROR", "MPI_GROUP_NULL", "MPI_GROUP_EMPTY"],
    "user-defined-group",
);
const FILES: NumberNames = NumberNames(&["DUMPI_FILE_NULL"], "user-file");
const WINDOWS: NumberNames = NumberNames(&["DUMPI_WIN_NULL"], "user-defined-win");

const OPS: NumberNames = NumberNames(
    &[
        "MPI_OP_ERROR",
        "MPI_MAX",
        "MPI_MIN",
        "MPI_SUM",
        "MPI_PROD",
        "MPI_LAND",
        "MPI_BAND",
        "MPI_LOR",
        "MPI_BOR",
        "MPI_LXOR",
        "MPI_BXOR",
        "MPI_MINLOC",
        "MPI_MAXLOC",
        "MPI_REPLACE",
        "MPI_OP_NULL",
    ],
    "user-defined-op",
);

/// The reduction operations of MPI-2, without the number that stands for none.
fn operations() -> &'static [&'static str] {
    &OPS.0[1..OPS.0.len() - 1]
}

/// Name of the predefined reduction operation with this number; `None` if it is the program's own or no operation.
pub fn operation(number: i32) -> Option<&'static str> {
    let place = usize::try_from(number).ok()?.checked_sub(1)?;
    operations().get(place).copied()
}

/// Whether this is the name of a predefined reduction operation. MPI-3 has one more than DUMPI.
pub fn is_operation(name: &str) -> bool {
    operations().contains(&name) || name == "MPI_NO_OP"
}

const KEYVALS: NumberNames = NumberNames(
    &[
        "MPI_TAG_UB",
        "MPI_HOST",
        "MPI_IO",
        "MPI_WTIME_IS_GLOBAL",
        "MPI_UNIVERSE_SIZE",
        "MPI_LASTUSEDCODE",
        "MPI_APPNUM",
        "MPI_WIN_BASE",
        "MPI_WIN_SIZE",
        "MPI_WIN_DISP_UNIT",
    ],
    "user-defined-keyval",
);

const COMPARISONS: NumberNames = NumberNames(
    &[
        "MPI_COMPARISON_ERROR",
        "MPI_IDENT",
        "MPI_CONGRUENT",
        "MPI_SIMILAR",
        "MPI_UNEQUAL",
    ],
    "undefined-comparison",
);

const TOPOLOGIES: NumberNames = NumberNames(
    &[
        "DUMPI_TOPOLOGY_ERROR",
        "MPI_GRAPH",
        "MPI_CART",
        "MPI_UNDEFINED",
    ],
    "DUMPI_TOPOLOGY_ERROR",
);

const COMBINERS: NumberNames = NumberNames(
    &[
        "MPI_COMBINER_ERROR",
        "MPI_COMBINER_NAMED",
        "MPI_COMBINER_DUP",
        "MPI_COMBINER_CONTIGUOUS",
        "MPI_COMBINER_VECTOR",
        "MPI_COMBINER_HVECTOR_INTEGER",
        "MPI_COMBINER_HVECTOR",
        "MPI_COMBINER_INDEXED",
        "MPI_COMBINER_HINDEXED_INTEGER",
        "MPI_COMBINER_HINDEXED",
        "MPI_COMBINER_INDEXED_BLOCK",
        "MPI_COMBINER_STRUCT_INTEGER",
        "MPI_COMBINER_STRUCT",
        "MPI_COMBINER_SUBARRAY",
        "MPI_COMBINER_DARRAY",
        "MPI_COMBINER_F90_REAL",
        "MPI_COMBINER_F90_COMPLEX",
        "MPI_COMBINER_F90_INTEGER",
        "MPI_COMBINER_RESIZED",
    ],
    "DUMPI_COMBINER_ERROR",
);

const DISTRIBUTIONS: NumberNames = NumberNames(
    &[
        "DUMPI_DISTRIBUTION_ERROR",
        "MPI_DISTRIBUTE_BLOCK",
        "MPI_DISTRIBUTE_CYCLIC",
        "MPI_DISTRIBUTE_NONE",
        "MPI_DISTRIBUTE_DFLT_DARG",
    ],
    "DUMPI_DISTRIBUTION_ERROR",
);

const ORDERS: NumberNames = NumberNames(
    &["DUMPI_ORDERING_ERROR", "MPI_ORDER_C", "MPI_ORDER_FORTRAN"],
    "DUMPI_ORDERING_ERROR",
);

const THREAD_LEVELS: NumberNames = NumberNames(
    &[
        "DUMPI_THREADLEVEL_ERROR",
        "MPI_THREAD_SINGLE",
        "MPI_THREAD_FUNNELED",
        "MPI_THREAD_SERIALIZED",
        "MPI_THREAD_MULTIPLE",
    ],
    "DUMPI_THREADLEVEL_ERROR",
);

const TYPE_CLASSES: NumberNames = NumberNames(
    &[
        "DUMPI_TYPECLASS_ERROR",
        "MPI_TYPECLASS_REAL",
        "MPI_TYPECLASS_INTEGER",
        "MPI_TYPECLASS_COMPLEX",
    ],
    "DUMPI_TYPECLASS_ERROR",
);

const LOCKS: NumberNames = NumberNames(
    &[
        "DUMPI_LOCKTYPE_ERROR",
        "MPI_LOCK_SHARED",
        "MPI_LOCK_EXCLUSIVE",
    ],
    "DUMPI_LOCKTYPE_ERROR",
);

const ORIGINS: NumberNames = NumberNames(
    &[
        "DUMPI_WHENCE_ERROR",
        "MPI_SEEK_SET",
        "MPI_SEEK_CUR",
        "MPI_SEEK_END",
    ],
    "DUMPI_WHENCE_ERROR",
);

const MODES: NumberNames = NumberNames(
    &[
        "DUMPI_FILEMODE_ERROR",
        "MPI_MODE_RDONLY",
        "MPI_MODE_RDWR",
        "MPI_MODE_WRONLY",
        "MPI_MODE_CREATE",
        "MPI_MODE_EXCL",
        "MPI_MODE_DELETE_ON_CLOSE",
        "MPI_MODE_UNIQUE_OPEN",
        "MPI_MODE_SEQUENTIAL",
        "MPI_MODE_APPEND",
    ],
    "DUMPI_FILEMODE_ERROR",
);

/// The name of a value, for codes whose every value has one; window assertions are sets and have none.
pub fn name(code: FieldCode, value: i32) -> Option<&'static str> {
    let names = match code {
        FieldCode::Comm => COMMS,
        FieldCode::Dt => DATATYPES,
        FieldCode::Grp => GROUPS,
        FieldCode::File => FILES,
        FieldCode::Win => WINDOWS,
        FieldCode::Kv => KEYVALS,
        FieldCode::Op => OPS,
        FieldCode::Cmp => COMPARISONS,
        FieldCode::Topo => TOPOLOGIES,
        FieldCode::Comb => COMBINERS,
        FieldCode::Dist => DISTRIBUTIONS,
        FieldCode::Order => ORDERS,
        FieldCode::Thr => THREAD_LEVELS,
        FieldCode::Tcls => TYPE_CLASSES,
        FieldCode::Lock => LOCKS,
        FieldCode::Whence => ORIGINS,
        FieldCode::Amode => MODES,
        FieldCode::Info => {
            return Some(if value >= 1 {
                "user-info"
            } else {
                "MPI_INFO_NULL"
            });
        }
        FieldCode::Eh => {
            return Some(match value {
                2.. => "user-defined-errhandler",
                1 => "MPI_ERRHANDLER_NULL",
                _ => "DUMPI_ERRHANDLER_ERROR",
            });
        }
        _ => return None,
    };
    Some(
        usize::try_from(value)
            .ok()
            .and_then(|i| names.0.get(i).copied())
            .unwrap_or(names.1),
    )
}

/// The meaning of −1 and −2 in ranks and tags.
pub fn wildcard(code: FieldCode, value: i32) -> Option<&'static str> {
    match (code, value) {
        (FieldCode::Src, -1) => Some("MPI_ANY_SOURCE"),
        (FieldCode::Src | FieldCode::Dst, -2) => Some("MPI_ROOT"),
        (FieldCode::Tag, -1) => Some("MPI_ANY_TAG"),
        _ => None,
    }
}

/// The flags of a window assertion of 1 to 31, from the lowest bit.
pub(super) const ASSERTION_FLAGS: [&str; 5] = [
    "MPI_MODE_NOCHECK",
    "MPI_MODE_NOSTORE",
    "MPI_MODE_NOPUT",
    "MPI_MODE_NOPRECEDE",
    "MPI_MODE_NOSUCCEED",
];

/// The C type a field of this code is declared with.
pub(super) fn c_type(code: FieldCode) -> &'static str {
    match code {
        FieldCode::I64 => "int64_t",
        FieldCode::Comm => "MPI_Comm",
        FieldCode::Dt => "MPI_Datatype",
        FieldCode::Grp => "MPI_Group",
        FieldCode::Op => "MPI_Op",
        FieldCode::File => "MPI_File",
        FieldCode::Info => "MPI_Info",
        FieldCode::Req => "MPI_Request",
        FieldCode::IoReq => "MPIO_Request",
        FieldCode::Stat => "MPI_Status",
        FieldCode::Str => "string",
        _ => "int",
    }
}
