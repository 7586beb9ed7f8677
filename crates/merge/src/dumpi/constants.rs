//! Constants of the traced MPI library and what DUMPI writes for them (`spec/dumpi.md` sections 7.1 and 7.4).
//!
//! Enumerations have DUMPI's own values. Ranks and tags have DUMPI's values for MPI_ANY_SOURCE, MPI_ROOT and MPI_ANY_TAG;
//! every other special value stands in existing traces as MPICH has it, so MPICH's values are written whatever the library.
//!
//! MPI_PROC_NULL is −1 in all of them, as source, destination and rank. As a source it cannot be told from MPI_ANY_SOURCE
//! by that field, but by the status of the receive: only that of MPI_PROC_NULL has the source −1. (Open MPI's own value,
//! −2, would read as MPI_ROOT.)

use trace_formats::dumpi::functions::FieldCode;

/// DUMPI's MPI_ANY_SOURCE and MPI_ANY_TAG.
const ANY: i32 = -1;
/// DUMPI's MPI_ROOT, where it translates ranks.
const ROOT: i32 = -2;
/// MPI_UNDEFINED in every MPI library.
pub(super) const UNDEFINED: i32 = -32766;
/// MPICH's MPI_ROOT, MPI_PROC_NULL and MPI_DISTRIBUTE_DFLT_DARG.
const MPICH_ROOT: i32 = -3;
const MPICH_PROC_NULL: i32 = -1;
const MPICH_DFLT_DARG: i32 = -49767;

/// The special values that arguments are compared with.
const SPECIAL: [&str; 5] = [
    "MPI_ANY_SOURCE",
    "MPI_ANY_TAG",
    "MPI_PROC_NULL",
    "MPI_ROOT",
    "MPI_DISTRIBUTE_DFLT_DARG",
];

/// Enumerations: code, names and values. Sets of flags are among them.
const ENUMERATIONS: &[(FieldCode, &[(&str, u8)])] = &[
    (
        FieldCode::Cmp,
        &[
            ("MPI_IDENT", 1),
            ("MPI_CONGRUENT", 2),
            ("MPI_SIMILAR", 3),
            ("MPI_UNEQUAL", 4),
        ],
    ),
    (
        FieldCode::Topo,
        &[("MPI_GRAPH", 1), ("MPI_CART", 2), ("MPI_UNDEFINED", 3)],
    ),
    (
        FieldCode::Comb,
        &[
            ("MPI_COMBINER_NAMED", 1),
            ("MPI_COMBINER_DUP", 2),
            ("MPI_COMBINER_CONTIGUOUS", 3),
            ("MPI_COMBINER_VECTOR", 4),
            ("MPI_COMBINER_HVECTOR_INTEGER", 5),
            ("MPI_COMBINER_HVECTOR", 6),
            ("MPI_COMBINER_INDEXED", 7),
            ("MPI_COMBINER_HINDEXED_INTEGER", 8),
            ("MPI_COMBINER_HINDEXED", 9),
            ("MPI_COMBINER_INDEXED_BLOCK", 10),
            ("MPI_COMBINER_STRUCT_INTEGER", 11),
            ("MPI_COMBINER_STRUCT", 12),
            ("MPI_COMBINER_SUBARRAY", 13),
            ("MPI_COMBINER_DARRAY", 14),
            ("MPI_COMBINER_F90_REAL", 15),
            ("MPI_COMBINER_F90_COMPLEX", 16),
            ("MPI_COMBINER_F90_INTEGER", 17),
            ("MPI_COMBINER_RESIZED", 18),
        ],
    ),
    (
        FieldCode::Dist,
        &[
            ("MPI_DISTRIBUTE_BLOCK", 1),
            ("MPI_DISTRIBUTE_CYCLIC", 2),
            ("MPI_DISTRIBUTE_NONE", 3),
            ("MPI_DISTRIBUTE_DFLT_DARG", 4),
        ],
    ),
    (
        FieldCode::Order,
        &[("MPI_ORDER_C", 1), ("MPI_ORDER_FORTRAN", 2)],
    ),
    (
        FieldCode::Thr,
        &[
            ("MPI_THREAD_SINGLE", 1),
            ("MPI_THREAD_FUNNELED", 2),
            ("MPI_THREAD_SERIALIZED", 3),
            ("MPI_THREAD_MULTIPLE", 4),
        ],
    ),
    (
        FieldCode::Tcls,
        &[
            ("MPI_TYPECLASS_REAL", 1),
            ("MPI_TYPECLASS_INTEGER", 2),
            ("MPI_TYPECLASS_COMPLEX", 3),
        ],
    ),
    (
        FieldCode::Lock,
        &[("MPI_LOCK_SHARED", 1), ("MPI_LOCK_EXCLUSIVE", 2)],
    ),
    (
        FieldCode::Whence,
        &[
            ("MPI_SEEK_SET", 1),
            ("MPI_SEEK_CUR", 2),
            ("MPI_SEEK_END", 3),
        ],
    ),
    // Single flags only: the format has no value for a combination, which is written as 0.
    (
        FieldCode::Amode,
        &[
            ("MPI_MODE_RDONLY", 1),
            ("MPI_MODE_RDWR", 2),
            ("MPI_MODE_WRONLY", 3),
            ("MPI_MODE_CREATE", 4),
            ("MPI_MODE_EXCL", 5),
            ("MPI_MODE_DELETE_ON_CLOSE", 6),
            ("MPI_MODE_UNIQUE_OPEN", 7),
            ("MPI_MODE_SEQUENTIAL", 8),
            ("MPI_MODE_APPEND", 9),
        ],
    ),
    // A set of flags, as readers take it; the reference writes 255 for none and for all combinations.
    (
        FieldCode::Assert,
        &[
            ("MPI_MODE_NOCHECK", 1),
            ("MPI_MODE_NOSTORE", 2),
            ("MPI_MODE_NOPUT", 4),
            ("MPI_MODE_NOPRECEDE", 8),
            ("MPI_MODE_NOSUCCEED", 16),
        ],
    ),
];

/// The names of all constants of `mpi.h` whose values are needed for a faithful DUMPI file.
pub fn constant_names() -> impl Iterator<Item = &'static str> {
    let flags = ENUMERATIONS
        .iter()
        .flat_map(|(_, names)| names.iter().map(|(name, _)| *name));
    SPECIAL.into_iter().chain(flags)
}

/// The constants of the traced library, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Constants {
    any_source: Option<i64>,
    any_tag: Option<i64>,
    proc_null: Option<i64>,
    root: Option<i64>,
    dflt_darg: Option<i64>,
    /// Raw and DUMPI's values, by position in [`ENUMERATIONS`].
    enumerations: [Vec<(i64, u8)>; ENUMERATIONS.len()],
}

impl Constants {
    /// Takes note of a constant.
    pub fn define(&mut self, name: &str, value: i64) {
        let special = match name {
            "MPI_ANY_SOURCE" => Some(&mut self.any_source),
            "MPI_ANY_TAG" => Some(&mut self.any_tag),
            "MPI_PROC_NULL" => Some(&mut self.proc_null),
            "MPI_ROOT" => Some(&mut self.root),
            "MPI_DISTRIBUTE_DFLT_DARG" => Some(&mut self.dflt_darg),
            _ => None,
        };
        if let Some(special) = special {
            *special = Some(value);
        }
        for (known, (_, names)) in self.enumerations.iter_mut().zip(ENUMERATIONS) {
            if let Some((_, ours)) = names.iter().find(|(n, _)| *n == name) {
                known.push((value, *ours));
            }
        }
    }

    /// Source of a message, also of a status.
    #[inline]
    pub fn source(&self, raw: i64) -> i32 {
        if raw >= 0 {
            return narrow(raw);
        }
        let special = Some(raw);
        if special == self.any_source {
            ANY
        } else if special == self.proc_null {
            MPICH_PROC_NULL
        } else if special == self.root {
            ROOT
        } else {
            narrow(raw)
        }
    }

    /// Destination of a message.
    #[inline]
    pub fn dest(&self, raw: i64) -> i32 {
        if raw >= 0 {
            return narrow(raw);
        }
        let special = Some(raw);
        if special == self.proc_null {
            MPICH_PROC_NULL
        } else if special == self.root {
            ROOT
        } else {
            narrow(raw)
        }
    }

    /// A rank in a field that DUMPI does not translate: root, target, rank in a group.
    #[inline]
    pub fn rank(&self, raw: i64) -> i32 {
        if raw >= 0 {
            return narrow(raw);
        }
        let special = Some(raw);
        if special == self.proc_null {
            MPICH_PROC_NULL
        } else if special == self.root {
            MPICH_ROOT
        } else {
            narrow(raw)
        }
    }

    /// Tag of a message, also of a status.
    #[inline]
    pub fn tag(&self, raw: i64) -> i32 {
        if raw >= 0 {
            narrow(raw)
        } else if Some(raw) == self.any_tag {
            ANY
        } else {
            narrow(raw)
        }
    }

    /// Argument of a distribution.
    pub fn distribution_arg(&self, raw: i64) -> i32 {
        if Some(raw) == self.dflt_darg {
            MPICH_DFLT_DARG
        } else {
            narrow(raw)
        }
    }

    /// Value of an enumeration, 0 if DUMPI has none; of assertions, the set of flags.
    pub fn enumeration(&self, code: FieldCode, raw: i64) -> i32 {
        let Some(i) = ENUMERATIONS.iter().position(|(c, _)| *c == code) else {
            return 0;
        };
        let known = &self.enumerations[i];
        if code == FieldCode::Assert {
            let set = known.iter().filter(|(flag, _)| raw & flag != 0);
            return set.fold(0, |all, (_, bit)| all | i32::from(*bit));
        }
        let found = known.iter().find(|(value, _)| *value == raw);
        found.map_or(0, |(_, ours)| i32::from(*ours))
    }
}

/// The number, or the nearest one that fits.
#[inline]
pub(super) fn narrow(v: i64) -> i32 {
    v.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(constants: &[(&str, i64)]) -> Constants {
        let mut c = Constants::default();
        for (name, value) in constants {
            c.define(name, *value);
        }
        c
    }

    fn mpich() -> Constants {
        library(&[
            ("MPI_ANY_SOURCE", -2),
            ("MPI_ANY_TAG", -1),
            ("MPI_PROC_NULL", -1),
            ("MPI_ROOT", -3),
            ("MPI_UNDEFINED", -32766),
            ("MPI_MODE_NOCHECK", 1024),
            ("MPI_MODE_NOPUT", 4096),
            ("MPI_MODE_CREATE", 1),
            ("MPI_MODE_RDWR", 8),
            ("MPI_CART", 2),
        ])
    }

    #[test]
    fn ranks_of_every_library_read_alike() {
        let open_mpi = library(&[
            ("MPI_ANY_SOURCE", -1),
            ("MPI_ANY_TAG", -1),
            ("MPI_PROC_NULL", -2),
            ("MPI_ROOT", -4),
        ]);
        for (c, any, null, root) in [(mpich(), -2, -1, -3), (open_mpi, -1, -2, -4)] {
            assert_eq!([5, any, null, root].map(|r| c.source(r)), [5, -1, -1, -2]);
            assert_eq!([5, null, root].map(|r| c.dest(r)), [5, -1, -2]);
            assert_eq!([5, null, root].map(|r| c.rank(r)), [5, -1, -3]);
            assert_eq!([7, -1, -32766].map(|t| c.tag(t)), [7, -1, -32766]);
        }
    }

    #[test]
    fn flags_and_enumerations() {
        let c = mpich();
        assert_eq!(c.enumeration(FieldCode::Assert, 0), 0);
        assert_eq!(c.enumeration(FieldCode::Assert, 1024 | 4096), 5);
        assert_eq!(c.enumeration(FieldCode::Amode, 8), 2);
        assert_eq!(c.enumeration(FieldCode::Amode, 9), 0);
        assert_eq!(c.enumeration(FieldCode::Topo, 2), 2);
        assert_eq!(c.enumeration(FieldCode::Topo, -32766), 3);
        assert_eq!(c.enumeration(FieldCode::Topo, 3), 0);
    }

    #[test]
    fn large_numbers_saturate() {
        assert_eq!(narrow(1 << 40), i32::MAX);
        assert_eq!(narrow(-1 << 40), i32::MIN);
        assert_eq!(narrow(-5), -5);
    }
}
