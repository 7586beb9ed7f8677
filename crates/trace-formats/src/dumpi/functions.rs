//! Functions and their fields: what each record of the stream consists of (`spec/dumpi.md` sections 3 and 8).
//!
//! The table itself is `table.rs`, one line of text per function in the notation of the specification. It is
//! parsed at compile time (`notation.rs`), so a misspelt code or bound does not compile.

use super::ids;
use super::table::FUNCTIONS;

pub use super::ids::{FINALIZE, INIT, INIT_THREAD};

/// The id that ends a stream of calls.
pub const END_OF_STREAM: u16 = 293;
/// Position of the total over all functions in the footer's tables.
pub const ALL_FUNCTIONS: u16 = 290;
/// Entry into a function or annotated region that is not part of MPI.
pub const FUNCTION_ENTER: u16 = 291;
/// The end of what [`FUNCTION_ENTER`] began.
pub const FUNCTION_EXIT: u16 = 292;
/// Most fields that one function has.
pub const MAX_FIELDS: usize = 11;

/// What a field holds, hence its size in the stream and how it is shown (`spec/dumpi.md` section 3,
/// `spec/dumpi-tools.md` section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// Plain i32.
    Int,
    /// i64: MPI-IO offsets and sizes.
    I64,
    /// u64: the key of a function address.
    U64,
    /// i32, source rank: −1 ANY_SOURCE, −2 ROOT.
    Src,
    /// i32, destination rank: −2 ROOT.
    Dst,
    /// i32, message tag: −1 ANY_TAG.
    Tag,
    /// i32, request number.
    Req,
    /// i32, number of a request made by MPI-IO.
    IoReq,
    /// i16, communicator number.
    Comm,
    /// i16, datatype number.
    Dt,
    /// i16, group number.
    Grp,
    /// i16, error handler number.
    Eh,
    /// i16, file number.
    File,
    /// i16, info number.
    Info,
    /// i16, window number.
    Win,
    /// i16, keyval number.
    Kv,
    /// u8, reduction operation number.
    Op,
    /// i8, result of a comparison.
    Cmp,
    /// u8, topology kind.
    Topo,
    /// u8, how a datatype was made.
    Comb,
    /// u8, distribution of an array; only inside arrays.
    Dist,
    /// i8, array ordering.
    Order,
    /// u8, thread level.
    Thr,
    /// u8, type class.
    Tcls,
    /// u8, lock type.
    Lock,
    /// u8, origin of a seek.
    Whence,
    /// u8, file access mode.
    Amode,
    /// u8, window assertion.
    Assert,
    /// u32 length and bytes.
    Str,
    /// List of statuses, absent altogether when the record's mask has no status bit.
    Stat,
}

impl Code {
    /// Size of one element in the stream, in bytes; of `Str` and `Stat` the size of the length word.
    pub const fn width(self) -> usize {
        use Code::*;
        match self {
            I64 | U64 => 8,
            Int | Src | Dst | Tag | Req | IoReq | Str | Stat => 4,
            Comm | Dt | Grp | Eh | File | Info | Win | Kv => 2,
            Op | Cmp | Topo | Comb | Dist | Order | Thr | Tcls | Lock | Whence | Amode | Assert => {
                1
            }
        }
    }
}

/// One value or several, and which field says how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value.
    One,
    /// u32 count and elements. `bound` is the position of the field that normally equals the count.
    Array {
        /// Position among the function's fields.
        bound: u8,
    },
    /// u32 count and rows, each a counted array of three.
    Rows {
        /// Position among the function's fields.
        bound: u8,
    },
    /// u32 count and strings.
    List,
    /// u32 count and [`Shape::List`]s.
    Lists,
}

/// When the recorder takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the real call.
    Before,
    /// After the real call.
    After,
    /// After the real call, if that reports completion (flag, index); else the value is an empty list.
    AfterCompletion,
}

/// One field of a record.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name as dumpi2ascii shows it.
    pub name: &'static str,
    /// What it holds.
    pub code: Code,
    /// One value or several.
    pub shape: Shape,
    /// When the value is taken.
    pub moment: Moment,
    /// Whether only the records of the root rank have the field.
    pub root_only: bool,
}

/// How the reference library gets hold of a function (`spec/dumpi.md` section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Wrapped by its default build.
    Default,
    /// Removed in MPI-3 (and MPI_File_get_type_extent): wrapped only by its other bindings variant.
    Old,
    /// MPIO_ routines of old MPI-IO implementations.
    Extra,
    /// No function of its own: totals, annotations, MPI_Pcontrol.
    Pseudo,
}

/// One entry of the function table.
#[derive(Debug)]
pub struct Function {
    /// Position in the table and value in the stream.
    pub id: u16,
    /// The C name; `Function_enter` and `Function_exit` for the pseudo calls.
    pub name: &'static str,
    /// How the reference library gets hold of it.
    pub binding: Binding,
    pub(super) fields: [Field; MAX_FIELDS],
    pub(super) count: u8,
    /// Positions of the fields with the caller's rank and the root, if the record depends on them.
    pub(super) root: Option<(u8, u8)>,
    /// Bytes of the arguments if that is the same in every record.
    pub(super) fixed: Option<u16>,
}

impl Function {
    /// The fields in stream order.
    pub fn fields(&self) -> &[Field] {
        self.fields.get(..usize::from(self.count)).unwrap_or(&[])
    }

    /// The positions of the fields in the order dumpi2ascii shows them, where that is not the stream order
    /// (`spec/dumpi-tools.md` section 2.1).
    pub fn display_order(&self) -> Option<&'static [u8]> {
        match self.id {
            ids::GATHER => Some(&[0, 1, 2, 5, 6, 3, 4]),
            ids::SCATTER => Some(&[0, 5, 6, 1, 2, 3, 4]),
            ids::GATHERV => Some(&[0, 1, 2, 3, 6, 7, 8, 4, 5]),
            ids::SCATTERV => Some(&[0, 1, 7, 8, 2, 3, 4, 5, 6]),
            ids::COMM_SPAWN => Some(&[0, 4, 5, 6, 7, 1, 2, 3, 8]),
            ids::COMM_SPAWN_MULTIPLE => Some(&[0, 1, 5, 6, 7, 8, 9, 2, 3, 4, 10]),
            ids::MPIO_TESTANY => Some(&[0, 1, 3, 2, 4]),
            _ => None,
        }
    }
}

/// The entry of a function id; `None` for [`END_OF_STREAM`] and beyond.
#[inline]
pub fn by_id(id: u16) -> Option<&'static Function> {
    FUNCTIONS.get(usize::from(id))
}

/// The entry with this exact name.
pub fn by_name(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|f| f.name == name)
}

/// All entries in the order of their ids.
pub fn all() -> &'static [Function] {
    &FUNCTIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(name: &str) -> String {
        let f = by_name(name).expect("a function of the table");
        let order = f.display_order().expect("a display order of its own");
        let mut seen: Vec<u8> = order.to_vec();
        seen.sort_unstable();
        assert_eq!(
            seen,
            (0..f.fields().len() as u8).collect::<Vec<_>>(),
            "{name}: every field once"
        );
        order
            .iter()
            .map(|&i| f.fields()[usize::from(i)].name)
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn position_is_id() {
        for (i, f) in all().iter().enumerate() {
            assert_eq!(i, usize::from(f.id), "{}", f.name);
        }
    }

    #[test]
    fn display_orders_of_dumpi2ascii() {
        let rank_first = "commrank sendcount sendtype recvcount recvtype root comm";
        assert_eq!(shown("MPI_Gather"), rank_first);
        assert_eq!(shown("MPI_Scatter"), rank_first);
        assert_eq!(
            shown("MPI_Gatherv"),
            "commrank commsize sendcount sendtype recvcounts displs recvtype root comm"
        );
        assert_eq!(
            shown("MPI_Scatterv"),
            "commrank commsize sendcounts displs sendtype recvcount recvtype root comm"
        );
        assert_eq!(
            shown("MPI_Comm_spawn"),
            "oldcommrank command argv maxprocs info root oldcomm newcomm errcodes"
        );
        assert_eq!(
            shown("MPI_Comm_spawn_multiple"),
            "totprocs oldcommrank count commands argvs maxprocs info root oldcomm newcomm errcodes"
        );
        assert_eq!(shown("MPIO_Testany"), "count requests index flag statuses");
    }

    #[test]
    fn fixed_sizes_and_root() {
        assert_eq!(by_name("MPI_Send").and_then(|f| f.fixed), Some(16));
        assert_eq!(by_name("MPI_Finalize").and_then(|f| f.fixed), Some(0));
        assert_eq!(by_name("MPI_Recv").and_then(|f| f.fixed), None);
        assert_eq!(by_name("MPI_Gather").and_then(|f| f.root), Some((0, 3)));
        assert_eq!(
            by_name("MPI_Comm_spawn_multiple").and_then(|f| f.root),
            Some((1, 2))
        );
        assert_eq!(by_name("MPI_Bcast").and_then(|f| f.root), None);
    }
}
