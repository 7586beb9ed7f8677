//! The fields of the DUMPI record of an MPI function, and the arguments that fill them ([`RecordPlan`]).
//!
//! DUMPI's fields have names of their own, stand in an order of their own, and some are no arguments at all but were asked
//! for by the recorder ("commsize"). A plan is worked out once per function from both tables: equal names belong together
//! (without underscores and `array_of_`), names that differ are listed in [`ALIASES`], what is no argument in [`COMPUTED`].

use trace_formats::dumpi::functions;
use trace_formats::dumpi::functions::{DumpiField, FieldCode, FieldMoment, FieldShape};
use wrappers::{CType, Function, Kind, Table};

use super::numbers::NumberSpace;

/// Names of DUMPI's fields and what the MPI standard calls the parameter, where they differ.
const ALIASES: &[(&str, &[&str])] = &[
    ("argvs", &["array_of_argv"]),
    ("arraddresses", &["array_of_addresses"]),
    ("arrdatatypes", &["array_of_datatypes"]),
    ("arrintegers", &["array_of_integers"]),
    ("assertion", &["assert"]),
    ("bytes", &["disp"]),
    ("cancelled", &["flag"]),
    ("comm", &["intercomm"]),
    ("count", &["incount", "n"]),
    ("dest", &["rank_dest"]),
    ("displ", &["disp"]),
    ("displacments", &["array_of_displacements"]),
    ("edges", &["nedges"]),
    ("elements", &["count"]),
    ("errorstring", &["string"]),
    ("extent", &["true_extent"]),
    ("file", &["fh"]),
    ("hosttype", &["etype"]),
    ("incount", &["insize"]),
    ("indices", &["array_of_displacements"]),
    ("info", &["info_used"]),
    ("inter", &["flag"]),
    ("intype", &["datatype"]),
    ("key", &["keyval"]),
    ("keyval", &["comm_keyval", "type_keyval", "win_keyval"]),
    ("lb", &["displacement", "true_lb"]),
    ("lengths", &["array_of_blocklengths"]),
    ("name", &["comm_name", "type_name", "win_name", "datarep"]),
    ("ndim", &["ndims"]),
    (
        "newcomm",
        &[
            "newintercomm",
            "newintracomm",
            "comm_cart",
            "comm_graph",
            "intercomm",
        ],
    ),
    ("nneigh", &["nneighbors"]),
    ("nodes", &["nnodes"]),
    ("offset", &["disp"]),
    ("oldcomm", &["comm", "comm_old"]),
    ("oldinfo", &["info"]),
    ("oldtypes", &["array_of_types"]),
    ("origintype", &["origin_datatype"]),
    ("outcount", &["outsize"]),
    ("period", &["periods"]),
    ("recvdispls", &["rdispls"]),
    ("remotecomm", &["peer_comm"]),
    ("result", &["flag"]),
    ("senddispls", &["sdispls"]),
    ("source", &["rank_source"]),
    ("supported", &["provided"]),
    ("targettype", &["target_datatype"]),
    ("topo", &["status"]),
    ("ub", &["displacement"]),
    ("valuelength", &["valuelen"]),
    ("winrank", &["rank"]),
];

/// Fields that are no arguments: what they are, and the parameters that tell.
const COMPUTED: &[(&str, FieldAction, &[&str])] = &[
    ("commrank", FieldAction::CommRank, &["comm"]),
    ("commsize", FieldAction::CommSize, &["comm"]),
    (
        "ndim",
        FieldAction::Length,
        &["dims", "coords", "remain_dims"],
    ),
    ("nneigh", FieldAction::Length, &["neighbors"]),
    ("numaddresses", FieldAction::Length, &["array_of_addresses"]),
    ("numdatatypes", FieldAction::Length, &["array_of_datatypes"]),
    // The reference takes the last element of the edges for their number (`spec/dumpi.md` section 9.2).
    ("numedges", FieldAction::Length, &["edges"]),
    ("numintegers", FieldAction::Length, &["array_of_integers"]),
    ("oldcommrank", FieldAction::CommRank, &["comm"]),
    ("totedges", FieldAction::Length, &["edges"]),
    ("totnodes", FieldAction::Length, &["index"]),
    ("totprocs", FieldAction::Sum, &["array_of_maxprocs"]),
];

/// Source of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldAction {
    /// Number of 32 bits; larger ones saturate.
    Int,
    /// Address or displacement: its low 32 bits, so that differences stay right.
    LowBits,
    /// Number of 64 bits.
    Wide,
    /// Rank, root or target: MPICH's constants.
    Rank,
    /// Source of a message.
    Source,
    /// Destination of a message.
    Dest,
    /// Tag.
    Tag,
    /// Number of a handle, 4 bytes.
    Request(NumberSpace),
    /// Number of a handle, 2 bytes.
    Handle(NumberSpace),
    /// Number of a keyval, which is an integer, 2 bytes.
    Keyval,
    /// Number of an operation, 1 byte.
    Op,
    /// Number of a datatype whose size is registered.
    Type,
    /// Number of a datatype whose size is not asked for.
    TypeOnly,
    /// As [`FieldAction::Type`] at the root, 0 elsewhere.
    TypeAtRoot,
    /// Constant of an enumeration.
    Enumeration,
    /// Text.
    Text,
    /// Status or statuses.
    Statuses,
    /// Array of [`FieldAction::Int`].
    Ints,
    /// Array of [`FieldAction::LowBits`].
    LowBitsArray,
    /// Array of [`FieldAction::Rank`].
    Ranks,
    /// Array of [`FieldAction::Request`].
    Requests,
    /// Array of [`FieldAction::Handle`].
    Handles(NumberSpace),
    /// Array of [`FieldAction::Type`].
    Types,
    /// Array of [`FieldAction::Enumeration`].
    Enumerations,
    /// Distribution arguments: MPICH's constant.
    DistributionArgs,
    /// Rows of three.
    Rows,
    /// List of texts.
    Texts,
    /// List of lists of texts.
    TextLists,
    /// Rank of this process in a communicator.
    CommRank,
    /// Number of elements of the arrays that go by the size of a communicator.
    CommSize,
    /// Number of elements of an array.
    Length,
    /// Sum of the elements of an array.
    Sum,
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldStep {
    pub action: FieldAction,
    /// Position of the parameter.
    pub param: u8,
    /// True to take the value after the call, false for the one before it.
    pub after: bool,
    /// Only in the record of the root.
    pub root_only: bool,
    /// Whether the array goes by the size of the communicator; an absent one is then filled with zeros, because readers
    /// take that many elements.
    pub per_rank: bool,
    pub code: FieldCode,
}

/// Plan for the record of one function.
#[derive(Clone, Debug)]
pub(super) struct RecordPlan {
    /// Function id.
    pub id: u16,
    pub steps: Vec<FieldStep>,
    /// Positions of the parameters root and communicator, if fields depend on who the root is.
    pub root: Option<(u8, u8)>,
    /// Datatype that the root converts before all others (MPI_Scatter, `spec/dumpi.md` section 6).
    pub first_type: Option<u8>,
    /// Parameters of a `_c` form that must fit 32 bits, or be empty, for the call to have a record of its base.
    pub narrow: Vec<u8>,
    /// Parameters that stand in no field and of which nothing may be lost: arrays that must be empty.
    pub empty: Vec<u8>,
    /// Arrays that go by the size of the communicator, and which communicator that is.
    pub per_rank: Vec<u8>,
    pub per_rank_comm: Option<u8>,
}

/// Plan of a function; `None` where DUMPI has no id for it.
pub(super) fn plan(table: &Table, function: &Function) -> Option<RecordPlan> {
    let base = function.base.and_then(|id| table.functions.get(id));
    let id = function.dumpi.or(base.and_then(|b| b.dumpi))?;
    let fields = functions::by_id(id)?.fields();
    let mut plan = RecordPlan {
        id,
        steps: Vec::with_capacity(fields.len()),
        root: None,
        first_type: None,
        narrow: Vec::new(),
        empty: Vec::new(),
        per_rank: Vec::new(),
        per_rank_comm: None,
    };
    for field in fields {
        let step = step(function, fields, field)?;
        if step.per_rank {
            plan.per_rank.push(step.param);
        }
        if step.action == FieldAction::CommSize {
            plan.per_rank_comm = Some(step.param);
        }
        plan.steps.push(step);
    }
    let rank_matters = plan
        .steps
        .iter()
        .any(|s| s.root_only || s.action == FieldAction::TypeAtRoot);
    if rank_matters {
        let comm = plan
            .steps
            .iter()
            .find(|s| s.action == FieldAction::CommRank)?
            .param;
        plan.root = Some((position(function, "root")?, comm));
    }
    if functions::by_id(id)?.name == "MPI_Scatter" {
        plan.first_type = position(function, "sendtype");
    }
    if let Some(base) = base {
        for (i, param) in (0u8..).zip(&function.params) {
            match base.param(&param.name).map(|p| base.params[p].ctype) {
                None if param.len.is_some() => plan.empty.push(i),
                Some(CType::Int) if param.ctype != CType::Int => plan.narrow.push(i),
                _ => {}
            }
        }
    }
    Some(plan)
}

/// The parameter of exactly this name.
fn position(function: &Function, name: &str) -> Option<u8> {
    function.param(name).and_then(|i| u8::try_from(i).ok())
}

/// The parameter that a field of this name holds.
fn parameter(function: &Function, field: &str) -> Option<u8> {
    let plain = |name: &str| name.replace("array_of_", "").replace('_', "");
    let same = |name: &str| {
        let i = function
            .params
            .iter()
            .position(|p| plain(&p.name) == plain(name));
        i.and_then(|i| u8::try_from(i).ok())
    };
    same(field).or_else(|| {
        let (_, names) = ALIASES.iter().find(|(name, _)| *name == field)?;
        names.iter().find_map(|name| position(function, name))
    })
}

fn step(function: &Function, fields: &[DumpiField], field: &DumpiField) -> Option<FieldStep> {
    // `position.in` and `position.out` are one parameter at two moments.
    let name = field.name.split('.').next()?;
    let per_rank = match field.shape {
        FieldShape::Array { bound } => fields.get(usize::from(bound))?.name == "commsize",
        _ => false,
    };
    let made = |action, param| {
        Some(FieldStep {
            action,
            param,
            after: field.moment != FieldMoment::Before,
            root_only: field.root_only,
            per_rank,
            code: field.code,
        })
    };
    if let Some(i) = parameter(function, name) {
        return made(action(function, field, usize::from(i))?, i);
    }
    let (_, action, names) = COMPUTED.iter().find(|(computed, ..)| *computed == name)?;
    made(
        *action,
        names.iter().find_map(|name| position(function, name))?,
    )
}

fn action(function: &Function, field: &DumpiField, param: usize) -> Option<FieldAction> {
    let param = function.params.get(param)?;
    let array = !matches!(field.shape, FieldShape::One);
    // Addresses, also as displacements from MPI_BOTTOM; sizes, extents and strides are none.
    let address = param.kind == Kind::Aint
        && (param.name.contains("address") || param.name.starts_with("array_of_displ"));
    Some(match (field.code, field.shape) {
        (FieldCode::Str, FieldShape::One) => FieldAction::Text,
        (FieldCode::Str, FieldShape::List) => FieldAction::Texts,
        (FieldCode::Str, _) => FieldAction::TextLists,
        (FieldCode::Stat, _) => FieldAction::Statuses,
        (FieldCode::Int, FieldShape::Rows { .. }) => FieldAction::Rows,
        (FieldCode::Int, _) if address && array => FieldAction::LowBitsArray,
        (FieldCode::Int, _) if address => FieldAction::LowBits,
        (FieldCode::Int, _) if param.name == "array_of_dargs" => FieldAction::DistributionArgs,
        (FieldCode::Int, _) if matches!(param.kind, Kind::Rank | Kind::Root | Kind::Target) => {
            if array {
                FieldAction::Ranks
            } else {
                FieldAction::Rank
            }
        }
        (FieldCode::Int, _) if array => FieldAction::Ints,
        (FieldCode::Int, _) => FieldAction::Int,
        (FieldCode::I64, _) => FieldAction::Wide,
        (FieldCode::U64, _) => return None,
        (FieldCode::Src, _) => FieldAction::Source,
        (FieldCode::Dst, _) => FieldAction::Dest,
        (FieldCode::Tag, _) => FieldAction::Tag,
        (FieldCode::Req, _) if array => FieldAction::Requests,
        (FieldCode::Req, _) => FieldAction::Request(NumberSpace::Request),
        (FieldCode::IoReq, _) => FieldAction::Request(NumberSpace::IoRequest),
        (FieldCode::Kv, _) => FieldAction::Keyval,
        (FieldCode::Op, _) => FieldAction::Op,
        (FieldCode::Dt, _) if array => FieldAction::Types,
        (FieldCode::Dt, _) => datatype(function, field),
        (code, _) => match (NumberSpace::of(code), array) {
            (Some(space), true) => FieldAction::Handles(space),
            (Some(space), false) => FieldAction::Handle(space),
            (None, true) => FieldAction::Enumerations,
            (None, false) => FieldAction::Enumeration,
        },
    })
}

/// Which datatypes have their size registered (`spec/dumpi.md` section 5, "Datatype sizes").
fn datatype(function: &Function, field: &DumpiField) -> FieldAction {
    const NOT_ASKED: [&str; 5] = [
        "MPI_Type_free",
        "MPI_Type_get_attr",
        "MPI_Type_set_attr",
        "MPI_Type_get_name",
        "MPI_Type_set_name",
    ];
    let name = function.name.trim_end_matches("_c");
    if field.name == "newtype" || NOT_ASKED.contains(&name) {
        FieldAction::TypeOnly
    } else if name == "MPI_Gatherv" && field.name == "recvtype" {
        FieldAction::TypeAtRoot
    } else {
        FieldAction::Type
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wrappers::Direction;

    fn table() -> &'static Table {
        wrappers::table().expect("the table parses")
    }

    /// A function whose fields do not all find a source would silently become an extension record.
    #[test]
    fn every_function_with_an_id_has_a_plan() {
        let table = table();
        for f in &table.functions {
            let base = f.base.map_or(f, |id| &table.functions[id]);
            assert_eq!(plan(table, f).is_some(), base.dumpi.is_some(), "{}", f.name);
        }
        let ids: std::collections::BTreeSet<u16> =
            table.functions.iter().filter_map(|f| f.dumpi).collect();
        for f in functions::all() {
            let real = f.name.starts_with("MPI_")
                && !matches!(f.name, "MPI_Pcontrol" | "MPI_ALL_FUNCTIONS");
            assert_eq!(ids.contains(&f.id), real, "{}", f.name);
        }
    }

    /// The kind of a field must fit the kind of the parameter.
    #[test]
    fn codes_and_kinds_agree() {
        let table = table();
        for f in &table.functions {
            let Some(plan) = plan(table, f) else {
                continue;
            };
            for (step, field) in plan
                .steps
                .iter()
                .zip(functions::by_id(plan.id).unwrap().fields())
            {
                let param = &f.params[usize::from(step.param)];
                let what = format!("{} {} {}", f.name, field.name, param.name);
                if matches!(step.action, FieldAction::CommRank | FieldAction::CommSize) {
                    assert_eq!(param.kind, Kind::Comm, "{what}");
                    continue;
                }
                if matches!(step.action, FieldAction::Length | FieldAction::Sum) {
                    assert!(param.len.is_some(), "{what}");
                    continue;
                }
                let kinds: &[Kind] = match field.code {
                    FieldCode::Src => &[Kind::Source],
                    FieldCode::Dst => &[Kind::Dest],
                    FieldCode::Tag => &[Kind::Tag],
                    FieldCode::Req | FieldCode::IoReq => &[Kind::Request],
                    FieldCode::Comm => &[Kind::Comm],
                    FieldCode::Dt => &[Kind::Datatype],
                    FieldCode::Grp => &[Kind::Group],
                    FieldCode::Eh => &[Kind::Errhandler],
                    FieldCode::File => &[Kind::File],
                    FieldCode::Info => &[Kind::Info],
                    FieldCode::Win => &[Kind::Win],
                    FieldCode::Kv => &[Kind::Keyval],
                    FieldCode::Op => &[Kind::Op],
                    FieldCode::Cmp => &[Kind::Comparison],
                    FieldCode::Topo => &[Kind::Topology],
                    FieldCode::Comb => &[Kind::Combiner],
                    FieldCode::Dist => &[Kind::Distribution],
                    FieldCode::Order => &[Kind::Order],
                    FieldCode::Thr => &[Kind::ThreadLevel],
                    FieldCode::Tcls => &[Kind::TypeClass],
                    FieldCode::Lock => &[Kind::LockType],
                    FieldCode::Whence => &[Kind::Whence],
                    FieldCode::Amode => &[Kind::Amode],
                    FieldCode::Assert => &[Kind::Assertion],
                    FieldCode::Str => &[
                        Kind::String,
                        Kind::Strings,
                        Kind::Argv,
                        Kind::Argvs,
                        Kind::Argvp,
                    ],
                    FieldCode::Stat => &[Kind::Status],
                    FieldCode::I64 => &[Kind::Offset],
                    FieldCode::U64 => &[],
                    FieldCode::Int => {
                        assert!(
                            !param.kind.is_handle() || param.kind == Kind::Keyval,
                            "{what}"
                        );
                        continue;
                    }
                };
                assert!(kinds.contains(&param.kind), "{what}");
                if param.kind != Kind::Argvp {
                    let array = param.len.is_some() && param.kind != Kind::String;
                    assert_eq!(!matches!(field.shape, FieldShape::One), array, "{what}");
                }
            }
        }
    }

    /// Arguments that DUMPI has no field for, all of them; a new one must be looked at.
    #[test]
    fn nothing_is_left_out_by_mistake() {
        let table = table();
        let mut left = Vec::new();
        for f in table.functions.iter().filter(|f| f.dumpi.is_some()) {
            let plan = plan(table, f).unwrap();
            for (i, p) in (0u8..).zip(&f.params) {
                let data = matches!(
                    p.kind,
                    Kind::Buffer | Kind::BasePtr | Kind::Pointer | Kind::Function
                );
                let used = plan.steps.iter().any(|s| {
                    s.param == i
                        && !matches!(s.action, FieldAction::CommRank | FieldAction::CommSize)
                });
                if !data && !used {
                    left.push(format!("{} {}", f.name, p.name));
                }
            }
        }
        left.sort();
        // The count is that of the argument vector.
        assert_eq!(left, ["MPI_Init argc", "MPI_Init_thread argc"]);
    }

    /// Aliases that fit no function any more are misspelt.
    #[test]
    fn every_alias_is_used() {
        let table = table();
        for (field, names) in ALIASES {
            for name in *names {
                let used = table.functions.iter().any(|f| {
                    f.dumpi.and_then(functions::by_id).is_some_and(|d| {
                        d.fields().iter().any(|x| x.name == *field)
                            && parameter(f, field) == position(f, name)
                            && position(f, name).is_some()
                    })
                });
                assert!(used, "{field} {name}");
            }
        }
    }

    #[test]
    fn large_forms_know_what_must_fit() {
        let table = table();
        let names = |name: &str| {
            let f = table.get(name).unwrap();
            let plan = plan(table, f).unwrap();
            let of = |list: &[u8]| -> Vec<String> {
                list.iter()
                    .map(|&i| f.params[usize::from(i)].name.clone())
                    .collect()
            };
            (of(&plan.narrow), of(&plan.empty))
        };
        assert_eq!(names("MPI_Send_c").0, ["count"]);
        assert_eq!(names("MPI_Alltoallv_c").0.len(), 4);
        assert_eq!(names("MPI_Win_create_c").0, ["disp_unit"]);
        assert_eq!(
            names("MPI_Type_get_contents_c").1,
            ["array_of_large_counts"]
        );
        let small = table.get("MPI_Send").unwrap();
        assert!(plan(table, small).unwrap().narrow.is_empty());
        assert!(small.params.iter().all(|p| p.direction != Direction::Out));
    }
}
