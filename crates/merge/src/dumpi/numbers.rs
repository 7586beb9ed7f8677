//! DUMPI's small numbers for handles (`spec/dumpi.md` section 6): one space of numbers for each kind of handle, in the
//! order in which records name them, predefined handles fixed. Numbers are never taken back, so a handle value that the
//! MPI library uses again keeps its number.
//!
//! One exception: a datatype whose handle value comes back with another size gets another number, the one that it had with that size before if
//! there is one. The reference keeps the old number and the old size, which gives every later message of that type a wrong size. Records have 16
//! bits for the number. A type beyond that gets the number of any other type of its size, or 0, which is none, where there is no such type.

use trace_formats::dumpi::functions::FieldCode;
use trace_model::hash::Map;

/// A space of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberSpace {
    Comm,
    Group,
    Op,
    Errhandler,
    File,
    Info,
    Win,
    Keyval,
    Request,
    /// Requests of MPI-IO, numbered apart from the others where they are made.
    IoRequest,
}

impl NumberSpace {
    const COUNT: usize = 10;

    /// The space of the handles that a field of this code holds.
    pub fn of(code: FieldCode) -> Option<NumberSpace> {
        Some(match code {
            FieldCode::Comm => NumberSpace::Comm,
            FieldCode::Grp => NumberSpace::Group,
            FieldCode::Op => NumberSpace::Op,
            FieldCode::Eh => NumberSpace::Errhandler,
            FieldCode::File => NumberSpace::File,
            FieldCode::Info => NumberSpace::Info,
            FieldCode::Win => NumberSpace::Win,
            FieldCode::Kv => NumberSpace::Keyval,
            FieldCode::Req => NumberSpace::Request,
            FieldCode::IoReq => NumberSpace::IoRequest,
            _ => return None,
        })
    }

    /// The first number that is not fixed.
    fn first(self) -> i32 {
        match self {
            NumberSpace::Comm => 4,
            NumberSpace::Group => 3,
            NumberSpace::Op => 15,
            NumberSpace::Errhandler | NumberSpace::Request | NumberSpace::IoRequest => 2,
            NumberSpace::File | NumberSpace::Info | NumberSpace::Win => 1,
            NumberSpace::Keyval => 10,
        }
    }
}

/// Fixed numbers, by the names of `mpi.h`.
const FIXED: &[(NumberSpace, &[(&str, i32)])] = &[
    (
        NumberSpace::Comm,
        &[
            ("MPI_COMM_NULL", 1),
            ("MPI_COMM_WORLD", 2),
            ("MPI_COMM_SELF", 3),
        ],
    ),
    (
        NumberSpace::Group,
        &[("MPI_GROUP_NULL", 1), ("MPI_GROUP_EMPTY", 2)],
    ),
    (
        NumberSpace::Op,
        &[
            ("MPI_MAX", 1),
            ("MPI_MIN", 2),
            ("MPI_SUM", 3),
            ("MPI_PROD", 4),
            ("MPI_LAND", 5),
            ("MPI_BAND", 6),
            ("MPI_LOR", 7),
            ("MPI_BOR", 8),
            ("MPI_LXOR", 9),
            ("MPI_BXOR", 10),
            ("MPI_MINLOC", 11),
            ("MPI_MAXLOC", 12),
            ("MPI_REPLACE", 13),
            ("MPI_OP_NULL", 14),
        ],
    ),
    (NumberSpace::Errhandler, &[("MPI_ERRHANDLER_NULL", 1)]),
    (NumberSpace::File, &[("MPI_FILE_NULL", 0)]),
    (NumberSpace::Info, &[("MPI_INFO_NULL", 0)]),
    (NumberSpace::Win, &[("MPI_WIN_NULL", 0)]),
    (
        NumberSpace::Keyval,
        &[
            ("MPI_TAG_UB", 0),
            ("MPI_HOST", 1),
            ("MPI_IO", 2),
            ("MPI_WTIME_IS_GLOBAL", 3),
            ("MPI_UNIVERSE_SIZE", 4),
            ("MPI_LASTUSEDCODE", 5),
            ("MPI_APPNUM", 6),
            ("MPI_WIN_BASE", 7),
            ("MPI_WIN_SIZE", 8),
            ("MPI_WIN_DISP_UNIT", 9),
        ],
    ),
    (NumberSpace::Request, &[("MPI_REQUEST_NULL", 1)]),
];

/// Fixed numbers of datatypes (`spec/dumpi.md` section 7.2). Both names of long long are one handle in every MPI library; the reference
/// gives it the number of the second.
const FIXED_TYPES: &[(&str, i32)] = &[
    ("MPI_DATATYPE_NULL", 1),
    ("MPI_CHAR", 2),
    ("MPI_SIGNED_CHAR", 3),
    ("MPI_UNSIGNED_CHAR", 4),
    ("MPI_BYTE", 5),
    ("MPI_WCHAR", 6),
    ("MPI_SHORT", 7),
    ("MPI_UNSIGNED_SHORT", 8),
    ("MPI_INT", 9),
    ("MPI_UNSIGNED", 10),
    ("MPI_LONG", 11),
    ("MPI_UNSIGNED_LONG", 12),
    ("MPI_FLOAT", 13),
    ("MPI_DOUBLE", 14),
    ("MPI_LONG_DOUBLE", 15),
    ("MPI_LONG_LONG_INT", 18),
    ("MPI_UNSIGNED_LONG_LONG", 17),
    ("MPI_LONG_LONG", 18),
    ("MPI_PACKED", 19),
    ("MPI_LB", 20),
    ("MPI_UB", 21),
    ("MPI_FLOAT_INT", 22),
    ("MPI_DOUBLE_INT", 23),
    ("MPI_LONG_INT", 24),
    ("MPI_SHORT_INT", 25),
    ("MPI_2INT", 26),
    ("MPI_LONG_DOUBLE_INT", 27),
];
const FIRST_TYPE: i32 = 28;

/// Largest number of a datatype: readers take the 16 bits for a signed number.
const LAST_TYPE: i32 = i16::MAX as i32;

/// One space: numbers by raw handle.
#[derive(Clone, Debug, Default)]
struct SpaceNumbers {
    of: Map<u64, i32>,
    next: i32,
    /// The last handle asked for and its number: programs use one communicator for thousands of calls.
    last: Option<(u64, i32)>,
}

impl SpaceNumbers {
    #[inline]
    fn number(&mut self, raw: u64) -> i32 {
        if let Some((last, number)) = self.last
            && last == raw
        {
            return number;
        }
        let next = &mut self.next;
        let number = *self.of.entry(raw).or_insert_with(|| {
            let number = *next;
            *next = next.wrapping_add(1);
            number
        });
        self.last = Some((raw, number));
        number
    }
}

/// A datatype handle.
#[derive(Clone, Copy, Debug, Default)]
struct DatatypeNumber {
    /// 0: none yet.
    number: i32,
    /// Bytes, as last defined.
    size: i32,
    /// Whether the size stands in the table of sizes.
    registered: bool,
}

/// All numbers of one process.
#[derive(Clone, Debug)]
pub(super) struct ProcessNumbers {
    spaces: [SpaceNumbers; NumberSpace::COUNT],
    types: Map<u64, DatatypeNumber>,
    next_type: i32,
    sizes: Vec<i32>,
    /// The number that stands for a type by its handle and size.
    of_handle_and_size: Map<(u64, i32), i32>,
    /// A number of a type of each size.
    of_size: Map<i32, i32>,
    last_type: Option<(u64, i32)>,
}

impl ProcessNumbers {
    /// Nothing known yet but what the format fixes.
    pub fn new() -> ProcessNumbers {
        let mut spaces: [SpaceNumbers; NumberSpace::COUNT] = Default::default();
        for space in [
            NumberSpace::Comm,
            NumberSpace::Group,
            NumberSpace::Op,
            NumberSpace::Errhandler,
            NumberSpace::File,
            NumberSpace::Info,
            NumberSpace::Win,
            NumberSpace::Keyval,
            NumberSpace::Request,
            NumberSpace::IoRequest,
        ] {
            spaces[space as usize].next = space.first();
        }
        ProcessNumbers {
            spaces,
            types: Map::default(),
            next_type: FIRST_TYPE,
            sizes: vec![0; FIRST_TYPE as usize],
            of_handle_and_size: Map::default(),
            of_size: Map::default(),
            last_type: None,
        }
    }

    /// Takes note of a predefined handle.
    pub fn predefine(&mut self, name: &str, raw: u64) {
        for (space, names) in FIXED {
            if let Some((_, number)) = names.iter().find(|(n, _)| *n == name) {
                let numbers = &mut self.spaces[*space as usize];
                numbers.of.insert(raw, *number);
                numbers.last = None;
            }
        }
        if let Some((_, number)) = FIXED_TYPES.iter().find(|(n, _)| *n == name) {
            let t = self.types.entry(raw).or_default();
            t.number = *number;
            self.last_type = None;
            let t = *t;
            if t.size != 0 {
                self.register(raw, t);
            }
        }
    }

    /// Takes note of a constant of `mpi.h`, where predefined keyvals are found.
    pub fn predefine_keyval(&mut self, name: &str, value: i64) {
        let keyvals = FIXED
            .iter()
            .filter(|(space, _)| *space == NumberSpace::Keyval);
        if keyvals
            .flat_map(|(_, names)| *names)
            .any(|(n, _)| *n == name)
        {
            self.predefine(name, value as u64);
        }
    }

    /// Takes note of a datatype's size, or of the size of a new type with the handle of an old one.
    pub fn define_type(&mut self, raw: u64, size: i64) {
        let size = i32::try_from(size).unwrap_or(if size < 0 { 0 } else { i32::MAX });
        let t = self.types.entry(raw).or_default();
        if t.registered && t.size != 0 && t.size != size {
            let before = self.of_handle_and_size.get(&(raw, size));
            t.number = before.copied().unwrap_or(0);
            t.registered = t.number != 0;
        }
        t.size = size;
        self.last_type = None;
        let t = *t;
        if (1..FIRST_TYPE).contains(&t.number) {
            self.register(raw, t);
        }
    }

    /// The number of a handle, a new one if it has none.
    #[inline]
    pub fn number(&mut self, space: NumberSpace, raw: u64) -> i32 {
        self.spaces[space as usize].number(raw)
    }

    /// The number of a datatype, its size registered.
    #[inline]
    pub fn datatype(&mut self, raw: u64) -> i32 {
        if let Some((last, number)) = self.last_type
            && last == raw
        {
            return number;
        }
        let number = self.datatype_only(raw);
        if let Some(&t) = self.types.get(&raw)
            && !t.registered
        {
            self.register(raw, t);
        }
        self.last_type = Some((raw, number));
        number
    }

    /// The number of a datatype whose size is not to be registered.
    pub fn datatype_only(&mut self, raw: u64) -> i32 {
        let t = self.types.entry(raw).or_default();
        if t.number == 0 {
            self.last_type = None;
            if self.next_type > LAST_TYPE {
                return self.of_size.get(&t.size).copied().unwrap_or(0);
            }
            t.number = self.next_type;
            self.next_type += 1;
        }
        t.number
    }

    fn register(&mut self, raw: u64, t: DatatypeNumber) {
        let Some(i) = usize::try_from(t.number).ok().filter(|&i| i > 0) else {
            return;
        };
        if self.sizes.len() <= i {
            self.sizes.resize(i + 1, 0);
        }
        if self.sizes[i] == 0 {
            self.sizes[i] = t.size;
            self.of_handle_and_size.insert((raw, t.size), t.number);
            self.of_size.entry(t.size).or_insert(t.number);
        }
        if let Some(entry) = self.types.get_mut(&raw) {
            entry.registered = true;
        }
    }

    /// Sizes by number, for the table behind the stream.
    pub fn into_sizes(self) -> Vec<i32> {
        self.sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_apart_and_numbers_stay() {
        let mut h = ProcessNumbers::new();
        h.predefine("MPI_COMM_WORLD", 0x4400_0000);
        h.predefine("MPI_REQUEST_NULL", 0x2c00_0000);
        assert_eq!(h.number(NumberSpace::Comm, 0x4400_0000), 2);
        assert_eq!(h.number(NumberSpace::Comm, 7), 4);
        assert_eq!(h.number(NumberSpace::Comm, 8), 5);
        assert_eq!(h.number(NumberSpace::Comm, 7), 4);
        assert_eq!(h.number(NumberSpace::Group, 7), 3);
        assert_eq!(h.number(NumberSpace::Request, 0x2c00_0000), 1);
        assert_eq!(h.number(NumberSpace::Request, 9), 2);
        assert_eq!(h.number(NumberSpace::IoRequest, 10), 2);
        assert_eq!(h.number(NumberSpace::IoRequest, 9), 3);
    }

    #[test]
    fn more_requests_than_16_bits() {
        let mut h = ProcessNumbers::new();
        for raw in 0..70_000 {
            assert_eq!(h.number(NumberSpace::Request, raw), raw as i32 + 2);
        }
    }

    #[test]
    fn sizes_are_registered_when_asked_for() {
        let mut h = ProcessNumbers::new();
        h.predefine("MPI_LONG_LONG_INT", 1);
        h.define_type(1, 8);
        h.predefine("MPI_LONG_LONG", 1);
        h.define_type(2, 4);
        h.predefine("MPI_INT", 2);
        assert_eq!(h.datatype(1), 18);
        h.define_type(100, 24);
        assert_eq!(h.datatype_only(100), 28);
        h.define_type(101, 40);
        assert_eq!(h.datatype(101), 29);
        let sizes = h.clone().into_sizes();
        assert_eq!((sizes[9], sizes[16], sizes[18]), (4, 0, 8));
        assert_eq!(sizes[28..], [0, 40]);
        assert_eq!(h.datatype(100), 28);
        assert_eq!(h.into_sizes()[28..], [24, 40]);
    }

    /// A program that makes and frees types of two sizes all the time, and the library gives them one handle.
    #[test]
    fn sizes_that_take_turns_need_no_more_than_a_number_each() {
        let mut h = ProcessNumbers::new();
        for round in 0..100_000 {
            let (size, number) = [(24, 28), (28, 29)][round % 2];
            h.define_type(100, size);
            assert_eq!(h.datatype(100), number);
        }
        assert_eq!(h.into_sizes()[28..], [24, 28]);
    }

    #[test]
    fn types_beyond_16_bits_have_the_number_of_their_size_or_none() {
        let mut h = ProcessNumbers::new();
        for raw in 0..100_000_u64 {
            let size = 1 + raw as i64 % 3001;
            h.define_type(raw, size);
            let number = h.datatype(raw);
            assert!((1..=i32::from(i16::MAX)).contains(&number));
            assert_eq!(i64::from(h.sizes[number as usize]), size);
        }
        h.define_type(100_000, 5000);
        assert_eq!(h.datatype(100_000), 0);
        assert_eq!(h.datatype(5), 28 + 5);
        assert_eq!(h.into_sizes().first(), Some(&0));
    }

    /// The handle of a freed type comes back.
    #[test]
    fn a_type_of_another_size_is_another_type() {
        let mut h = ProcessNumbers::new();
        h.define_type(100, 24);
        assert_eq!(h.datatype_only(100), 28);
        assert_eq!(h.datatype(100), 28);
        h.define_type(100, 24);
        assert_eq!(h.datatype(100), 28);
        h.define_type(100, 28);
        assert_eq!(h.datatype_only(100), 29);
        assert_eq!(h.datatype(100), 29);
        assert_eq!(h.into_sizes()[28..], [24, 28]);
    }
}
