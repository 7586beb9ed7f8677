//! Schema of the function table: functions, their fields, and the types of fields (`spec/dumpi.md` sections 3 and 8).

/// Most fields that one function has.
pub const MAX_FIELDS: usize = 11;

/// Type of a field: its content, size in the stream and text form (`spec/dumpi.md` section 3,
/// `spec/dumpi-tools.md` section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldCode {
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

impl FieldCode {
    /// Size of one element in the stream, in bytes; of `Str` and `Stat` the size of the length word.
    pub const fn width(self) -> usize {
        use FieldCode::*;
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
pub enum FieldShape {
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
    /// u32 count and [`FieldShape::List`]s.
    Lists,
}

/// Moment at which the recorder takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldMoment {
    /// Before the real call.
    Before,
    /// After the real call.
    After,
    /// After the real call, if that reports completion (flag, index); else the value is an empty list.
    AfterCompletion,
}

/// One field of a record.
#[derive(Clone, Copy, Debug)]
pub struct DumpiField {
    /// Name as dumpi2ascii shows it.
    pub name: &'static str,
    /// Kind of value that the field holds.
    pub code: FieldCode,
    /// One value or several.
    pub shape: FieldShape,
    /// Moment at which the value is taken.
    pub moment: FieldMoment,
    /// Whether only the records of the root rank have the field.
    pub root_only: bool,
}

/// The way in which the reference library intercepts a function (`spec/dumpi.md` section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LibraryBinding {
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
pub struct DumpiFunction {
    /// Position in the table and value in the stream.
    pub id: u16,
    /// The C name; `Function_enter` and `Function_exit` for the pseudo calls.
    pub name: &'static str,
    /// The way in which the reference library intercepts the function.
    pub binding: LibraryBinding,
    pub(super) fields: [DumpiField; MAX_FIELDS],
    pub(super) count: u8,
    /// Positions of the fields with the caller's rank and the root, if the record depends on them.
    pub(super) root: Option<(u8, u8)>,
    /// Bytes of the arguments if that is the same in every record.
    pub(super) fixed: Option<u16>,
}

impl DumpiFunction {
    /// The fields in stream order.
    pub fn fields(&self) -> &[DumpiField] {
        self.fields.get(..usize::from(self.count)).unwrap_or(&[])
    }
}
