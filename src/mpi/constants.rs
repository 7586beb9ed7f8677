//! The constants of the MPI library in this process: sentinels, predefined handles, integers. Some are addresses of
//! objects in the library, which is not linked, and are looked up when they are first needed.

use crate::mpi::facts::{
    ConstantSource, ConstantTable, MPICH, OPENMPI, STANDARD, TABLES, mpich, openmpi, standard,
};
use crate::mpi::family;
use crate::mpi::handles::Handle;
use crate::mpi::library;
use blockfile::layout::Family;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{
    AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

/// The constants of the MPI library in this process.
pub fn table() -> &'static ConstantTable {
    &TABLES[family::index()]
}

impl ConstantSource {
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

/// MPI_STATUS_IGNORE of the MPI library in this process.
pub fn status_ignore<T>() -> *mut T {
    let address = match family::family() {
        Family::Mpich => mpich::MPI_STATUS_IGNORE,
        Family::OpenMpi => openmpi::MPI_STATUS_IGNORE,
        Family::Standard => standard::MPI_STATUS_IGNORE,
    };
    address as *mut T
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

/// An integer that every library has.
const fn required(list: &[(&str, i64)], name: &str) -> i64 {
    match find(list, name) {
        Some(value) => value,
        None => panic!("no such constant"),
    }
}

/// An integer that some libraries lack.
const fn optional(list: &[(&str, i64)], name: &str) -> Option<c_int> {
    match find(list, name) {
        Some(value) => Some(value as c_int),
        None => None,
    }
}

macro_rules! integers {
    (required { $($field:ident $name:literal)* } wide { $($wide:ident $wide_name:literal)* }
     optional { $($maybe:ident $maybe_name:literal)* }) => {
        /// Integer constants of MPI.
        pub struct Integers {
            $(#[doc = concat!($name, ".")] pub $field: c_int,)*
            $(#[doc = concat!($wide_name, ".")] pub $wide: i64,)*
            $(#[doc = concat!($maybe_name, ", which some libraries lack.")] pub $maybe: Option<c_int>,)*
        }

        impl Integers {
            const fn of(table: &ConstantTable) -> Integers {
                Integers {
                    $($field: required(table.integers, $name) as c_int,)*
                    $($wide: required(table.integers, $wide_name),)*
                    $($maybe: optional(table.integers, $maybe_name),)*
                }
            }
        }
    };
}

integers! {
    required {
        undefined "MPI_UNDEFINED"
        root "MPI_ROOT"
        any_source "MPI_ANY_SOURCE"
        any_tag "MPI_ANY_TAG"
        tag_ub "MPI_TAG_UB"
        cart "MPI_CART"
        graph "MPI_GRAPH"
        dist_graph "MPI_DIST_GRAPH"
        err_in_status "MPI_ERR_IN_STATUS"
        err_truncate "MPI_ERR_TRUNCATE"
        err_pending "MPI_ERR_PENDING"
        err_other "MPI_ERR_OTHER"
        mode_sequential "MPI_MODE_SEQUENTIAL"
        seek_set "MPI_SEEK_SET"
        seek_cur "MPI_SEEK_CUR"
        order_c "MPI_ORDER_C"
        distribute_none "MPI_DISTRIBUTE_NONE"
        distribute_block "MPI_DISTRIBUTE_BLOCK"
        distribute_dflt_darg "MPI_DISTRIBUTE_DFLT_DARG"
        combiner_named "MPI_COMBINER_NAMED"
        combiner_dup "MPI_COMBINER_DUP"
        combiner_contiguous "MPI_COMBINER_CONTIGUOUS"
        combiner_vector "MPI_COMBINER_VECTOR"
        combiner_hvector "MPI_COMBINER_HVECTOR"
        combiner_indexed "MPI_COMBINER_INDEXED"
        combiner_hindexed "MPI_COMBINER_HINDEXED"
        combiner_indexed_block "MPI_COMBINER_INDEXED_BLOCK"
        combiner_hindexed_block "MPI_COMBINER_HINDEXED_BLOCK"
        combiner_struct "MPI_COMBINER_STRUCT"
        combiner_subarray "MPI_COMBINER_SUBARRAY"
        combiner_darray "MPI_COMBINER_DARRAY"
        combiner_f90_real "MPI_COMBINER_F90_REAL"
        combiner_f90_complex "MPI_COMBINER_F90_COMPLEX"
        combiner_f90_integer "MPI_COMBINER_F90_INTEGER"
        combiner_resized "MPI_COMBINER_RESIZED"
    }
    wide {
        displacement_current "MPI_DISPLACEMENT_CURRENT"
    }
    optional {
        combiner_hvector_integer "MPI_COMBINER_HVECTOR_INTEGER"
        combiner_hindexed_integer "MPI_COMBINER_HINDEXED_INTEGER"
        combiner_struct_integer "MPI_COMBINER_STRUCT_INTEGER"
        combiner_value_index "MPI_COMBINER_VALUE_INDEX"
    }
}

/// The integer constants of the MPI library in this process.
pub fn integers() -> &'static Integers {
    static ALL: [Integers; 3] = [
        Integers::of(&MPICH),
        Integers::of(&OPENMPI),
        Integers::of(&STANDARD),
    ];
    &ALL[family::index()]
}

/// Addresses of the sentinels MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY where they are objects; 0 where they are small numbers, 1 as long as
/// they have not been looked up.
static SENTINELS: [AtomicUsize; 2] = [const { AtomicUsize::new(1) }; 2];

/// Whether a pointer is a sentinel that is the address of an object.
#[inline(always)]
pub fn is_sentinel(p: *const c_void) -> bool {
    let [unweighted, weights_empty] = &SENTINELS;
    if unweighted.load(Acquire) == 1 {
        find_sentinels();
    }
    p as usize == unweighted.load(Relaxed) || p as usize == weights_empty.load(Relaxed)
}

#[cold]
fn find_sentinels() {
    let address = |source: ConstantSource| match source {
        ConstantSource::Number(_) => 0,
        ConstantSource::Symbol(_) | ConstantSource::Variable(_) => source.value() as usize,
    };
    let [unweighted, weights_empty] = &SENTINELS;
    weights_empty.store(address(table().weights_empty), Relaxed);
    // Last: whoever sees it must see the other one, too.
    unweighted.store(address(table().unweighted), Release);
}

/// The predefined handle of that name as a number; 0 where there is none.
pub fn handle(name: &str) -> u64 {
    let table = table();
    let mut all = table.handles.iter().chain(table.datatypes);
    let found = all.find(|(known, _)| *known == name);
    found.map_or(0, |(_, source)| source.value())
}

/// A predefined handle.
pub fn predefined(name: &str) -> Handle {
    Handle::from_bits(handle(name))
}
