//! The constants of the MPI library this was built for: sentinels, predefined handles, integers. Some are addresses of
//! objects in the library, which is not linked, and are looked up when they are first needed.

use crate::mpi::handles::FromBits;
use crate::mpi::library;
use crate::mpi::values::{
    ConstantSource, HANDLES, INTEGERS, MPI_IN_PLACE_AT, MPI_STATUS_IGNORE_AT,
    MPI_STATUSES_IGNORE_AT, MPI_UNWEIGHTED_AT, MPI_WEIGHTS_EMPTY_AT, OPTIONAL,
};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

impl ConstantSource {
    const fn number(self) -> Option<usize> {
        match self {
            ConstantSource::Number(n) => Some(n as usize),
            ConstantSource::Symbol(_) | ConstantSource::Variable(_) => None,
        }
    }

    /// The value; 0 where the library has no such object.
    pub fn value(self) -> u64 {
        match self {
            ConstantSource::Number(n) => n,
            ConstantSource::Symbol(name) => library::data(name) as usize as u64,
            ConstantSource::Variable(name) => {
                let at = library::data(name).cast::<usize>();
                if at.is_null() {
                    return 0;
                }
                // SAFETY: a pointer variable of the MPI library, which is loaded.
                unsafe { at.read() as u64 }
            }
        }
    }
}

const fn number(place: ConstantSource) -> usize {
    match place.number() {
        Some(n) => n,
        None => panic!("a sentinel that is expected to be a number is an address"),
    }
}

/// MPI_STATUS_IGNORE.
pub const MPI_STATUS_IGNORE: usize = number(MPI_STATUS_IGNORE_AT);
/// MPI_STATUSES_IGNORE.
pub const MPI_STATUSES_IGNORE: usize = number(MPI_STATUSES_IGNORE_AT);

/// MPI_IN_PLACE.
#[inline(always)]
pub const fn in_place() -> usize {
    number(MPI_IN_PLACE_AT)
}

const fn find(list: &[(&str, i64)], name: &str) -> Option<i64> {
    let mut i = 0;
    while i < list.len() {
        if same(list[i].0, name) {
            return Some(list[i].1);
        }
        i += 1;
    }
    None
}

const fn integer(name: &str) -> c_int {
    match find(INTEGERS, name) {
        Some(value) => value as c_int,
        None => panic!("no such constant"),
    }
}

const fn optional(name: &str) -> Option<c_int> {
    match find(OPTIONAL, name) {
        Some(value) => Some(value as c_int),
        None => None,
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// MPI_UNDEFINED.
pub const UNDEFINED: c_int = integer("MPI_UNDEFINED");
/// MPI_ROOT.
pub const ROOT: c_int = integer("MPI_ROOT");
/// MPI_ANY_SOURCE.
pub const ANY_SOURCE: c_int = integer("MPI_ANY_SOURCE");
/// MPI_ANY_TAG.
pub const ANY_TAG: c_int = integer("MPI_ANY_TAG");
/// MPI_TAG_UB.
pub const TAG_UB: c_int = integer("MPI_TAG_UB");
/// MPI_CART.
pub const CART: c_int = integer("MPI_CART");
/// MPI_GRAPH.
pub const GRAPH: c_int = integer("MPI_GRAPH");
/// MPI_DIST_GRAPH.
pub const DIST_GRAPH: c_int = integer("MPI_DIST_GRAPH");
/// MPI_ERR_IN_STATUS.
pub const IN_STATUS: c_int = integer("MPI_ERR_IN_STATUS");
/// MPI_ERR_OTHER.
pub const ERR_OTHER: c_int = integer("MPI_ERR_OTHER");

/// MPI_SEEK_SET.
pub const SEEK_SET: c_int = integer("MPI_SEEK_SET");
/// MPI_SEEK_CUR.
pub const SEEK_CUR: c_int = integer("MPI_SEEK_CUR");
/// MPI_ORDER_C.
pub const ORDER_C: c_int = integer("MPI_ORDER_C");
/// MPI_DISTRIBUTE_NONE.
pub const DISTRIBUTE_NONE: c_int = integer("MPI_DISTRIBUTE_NONE");
/// MPI_DISTRIBUTE_BLOCK.
pub const DISTRIBUTE_BLOCK: c_int = integer("MPI_DISTRIBUTE_BLOCK");
/// MPI_DISTRIBUTE_CYCLIC.
#[cfg(test)]
pub const DISTRIBUTE_CYCLIC: c_int = integer("MPI_DISTRIBUTE_CYCLIC");
/// MPI_DISTRIBUTE_DFLT_DARG.
pub const DISTRIBUTE_DFLT_DARG: c_int = integer("MPI_DISTRIBUTE_DFLT_DARG");
/// MPI_DISPLACEMENT_CURRENT.
pub const DISPLACEMENT_CURRENT: i64 = match find(INTEGERS, "MPI_DISPLACEMENT_CURRENT") {
    Some(value) => value,
    None => panic!("no such constant"),
};

/// Constructors of datatypes: MPI_COMBINER_*.
pub mod combiner {
    use super::{c_int, integer, optional};

    macro_rules! combiners {
        ($find:ident -> $type:ty: $($name:ident)*) => {$(
            #[doc = concat!("MPI_COMBINER_", stringify!($name), ".")]
            pub const $name: $type = $find(concat!("MPI_COMBINER_", stringify!($name)));
        )*};
    }
    combiners! { integer -> c_int: NAMED DUP CONTIGUOUS VECTOR HVECTOR INDEXED HINDEXED INDEXED_BLOCK HINDEXED_BLOCK
    STRUCT SUBARRAY DARRAY F90_REAL F90_COMPLEX F90_INTEGER RESIZED }
    combiners! { optional -> Option<c_int>: HVECTOR_INTEGER HINDEXED_INTEGER STRUCT_INTEGER VALUE_INDEX }
}

/// Addresses of sentinels that are objects; 1 is not looked up yet.
static UNWEIGHTED: AtomicUsize = AtomicUsize::new(1);
static WEIGHTS_EMPTY: AtomicUsize = AtomicUsize::new(1);

/// Whether a pointer is a sentinel that is the address of an object.
#[inline(always)]
pub fn is_sentinel(p: *const c_void) -> bool {
    let is = |cache: &AtomicUsize, place: ConstantSource| match place {
        ConstantSource::Number(n) => p as usize == n as usize,
        ConstantSource::Symbol(_) | ConstantSource::Variable(_) => {
            let mut at = cache.load(Relaxed);
            if at == 1 {
                at = place.value() as usize;
                cache.store(at, Relaxed);
            }
            p as usize == at
        }
    };
    is(&UNWEIGHTED, MPI_UNWEIGHTED_AT) || is(&WEIGHTS_EMPTY, MPI_WEIGHTS_EMPTY_AT)
}

/// The predefined handle of that name as a number; 0 where there is none.
pub fn handle(name: &str) -> u64 {
    HANDLES
        .iter()
        .find(|(n, _)| *n == name)
        .map_or(0, |(_, place)| place.value())
}

/// A predefined handle.
pub fn predefined<T: FromBits>(name: &str) -> T {
    T::from_bits(handle(name))
}
