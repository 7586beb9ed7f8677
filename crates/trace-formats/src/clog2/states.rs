//! The CLOG2 state of every MPI function.
//!
//! Functions for which MPE has a state keep its number, name and colour. All others get user states, numbered by the
//! function table alone: every rank knows the numbers of all functions without asking.

use super::{CARGO_SIZE, Clog2StateDef, FUNCTION_STATE_ETYPES, FixedText};
use std::collections::BTreeMap;
use std::ops::Range;
use wrappers::{Class, Function, Kind, Table};

/// First user state (`spec/clog2.md` section 6.1). The events of state i are 2 i and 2 i + 1, for known and for user
/// states.
pub const USER_STATES: i32 = 300;
/// The solo event of annotations, the first that users have (`spec/clog2.md` section 6.1); behind those of the program's
/// own.
const ANNOTATION: i32 = 5000;
/// Start event of the program's first function: far from what MPE gives out, so that there is room for any number of them. The end
/// event is the next number. Converters nest states from [`FUNCTION_STATE_ETYPES`] on.
const FUNCTIONS: i32 = FUNCTION_STATE_ETYPES;

/// Info of a function that was not left when the run was killed.
pub const UNFINISHED: [u8; CARGO_SIZE] = {
    let text = b"unfinished";
    let mut bytes = [0; CARGO_SIZE];
    bytes[1] = text.len() as u8;
    let mut i = 0;
    while i < text.len() {
        bytes[2 + i] = text[i];
        i += 1;
    }
    bytes
};

/// Start event of the program's function with this place among the sorted names of all ranks' functions.
pub fn function_start(place: i32) -> Option<i32> {
    place.checked_mul(2)?.checked_add(FUNCTIONS)
}

/// States of functions with these names.
pub fn function_states(names: &[String]) -> impl Iterator<Item = Clog2StateDef> + '_ {
    (0..).zip(names).map_while(|(place, name): (i32, _)| {
        let start = function_start(place)?;
        Some(Clog2StateDef {
            state_id: start / 2,
            start_etype: start,
            final_etype: start + 1,
            color: FixedText::new(color_of(name)),
            name: FixedText::new(name),
            format: FixedText::new("%s"),
        })
    })
}

/// Pale colours, so that MPI stands out. A function has the same one in all traces.
pub(crate) fn color_of(name: &str) -> &'static str {
    const COLORS: [&str; 16] = [
        "LightSteelBlue",
        "PaleTurquoise",
        "thistle",
        "wheat",
        "PaleGreen",
        "LightSalmon",
        "LightBlue",
        "khaki",
        "plum",
        "bisque",
        "DarkSeaGreen",
        "RosyBrown",
        "CadetBlue",
        "tan",
        "SkyBlue",
        "LavenderBlush",
    ];
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, b| {
        (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3)
    });
    COLORS[(hash >> 32) as usize % COLORS.len()]
}

/// Colour of functions that no table knows.
const UNKNOWN_COLOR: &str = "white";

/// Selection of the calls whose info box shows the CallID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallIdDisplay {
    /// For MPI_File_ functions, together with bytes and offset of accesses.
    #[default]
    Files,
    /// For all functions. Each call takes 32 bytes more.
    All,
    /// For none.
    None,
}

/// Content of the 32 bytes of data of a state's end event, big-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateCargo {
    /// Nothing: it is a bare event.
    None,
    /// u64 CallID.
    CallId,
    /// u64 CallID, and the value of this parameter as an i64.
    Value(u8),
    /// u64 CallID, i64 bytes, i64 offset as the program counts it (in etypes of its view); −1 where one is not known.
    Access,
}

/// What the info of a call says in SLOG2 files behind its cargo, so that waits can be told from the file alone. CLOG2 has no room for it.
/// Values are big-endian, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallDetails {
    /// `root=`: i32 rank of the root of a collective call. On an intercommunicator −3 at the rank that passes MPI_ROOT, and −2 at those that pass
    /// MPI_PROC_NULL, whatever the library calls them; −1 where it is not known.
    pub root: bool,
    /// `bytes=`: i64 bytes that the rank passes to a collective call, or that a one-sided operation moves: count times size of the datatype, with a
    /// count for each rank the sum; −1 where that is not known.
    pub bytes: bool,
    /// `received=`: i64 bytes that a rank gets of a collective call with a count for each rank, by its own counts; of MPI_Reduce_scatter its part of
    /// the result. −1 where that is not known, as at ranks that are not the root.
    pub received: bool,
    /// `sent=`: i64 bytes that the root of MPI_Scatterv and its like gives to all ranks, by its counts; −1 at other ranks.
    pub sent: bool,
    /// `request=`: i32 number of the request that the call makes, in the order in which its process makes them; −1 if it makes none.
    pub request: bool,
    /// `completes=`: numbers of the requests that the call completes.
    pub completes: Option<CompletedNumbers>,
    /// `source=`, `tag=`: i32 rank of the sender and tag of the message that the call asks for, −1 for any, and where that is not known. The rank is
    /// that in the communicator of the message, or in MPI_COMM_WORLD if that communicator has no timeline of its own. Both are −1 for MPI_PROC_NULL,
    /// for a message that was matched before, and where MPI_Start starts a send.
    pub asks_for: bool,
    /// `handle=`: i32 number of the file or window that ranks share, in the order in which the process opens or makes them; [`FAILED_HANDLE`] of a call
    /// that failed to make one.
    pub handle: bool,
    /// `name=`: the name that the call gives to a communicator, datatype or window, a text; empty where the communicator has no timeline of its own.
    pub name: bool,
    /// `ranks=`: ranks in MPI_COMM_WORLD of the group that the call names, a text such as `0,2-5`.
    pub ranks: bool,
    /// `target=`: i32 rank that the call is directed to, in the group of the window; −1 for MPI_PROC_NULL.
    pub target: bool,
    /// `exclusive=`: i32 1 for an exclusive lock, 0 for a shared one.
    pub exclusive: bool,
    /// `prepared=`: number of the persistent collective operation that the call makes or starts.
    pub prepared: Option<PreparedNumber>,
    /// `sends=`, `receives=`, `prepared=`: numbers of the requests by which the call starts persistent sends and receives; of collective
    /// operations both numbers, a text such as `7:2`.
    pub started: bool,
    /// `atomic=`: i32 1 if the call sets the atomic mode of a file, 0 if it clears it.
    pub atomic: bool,
    /// `makes=`, `remote=`, `sources=`: i32 number of the communicator that the call makes, as lines have it; of an intercommunicator, that
    /// of its local side, and that of its remote side, which is else −1; ranks whose data neighbourhood calls on it get, a text such as `1,3-4`.
    pub makes: bool,
}

/// Stands in place of the number of a file or window in the info of a call that was to make it, and failed.
pub const FAILED_HANDLE: i32 = -2;

/// How the numbers of completed requests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletedNumbers {
    /// i32, −1 for none.
    One,
    /// A text such as `3,7-9`.
    List,
}

/// What a call does with the persistent collective operation whose number it tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreparedNumber {
    /// Calls that make the operation: i32.
    Made,
    /// Calls that start an operation: i32, −1 where that is not collective.
    Started,
}

impl CallDetails {
    /// Details of calls of a function.
    fn of(function: &Function) -> CallDetails {
        let has = |kind| function.first(kind).is_some();
        let makes_request = (function.creates.iter()).any(|&i| {
            function
                .params
                .get(i)
                .is_some_and(|p| p.kind == Kind::Request)
        });
        let list = |params: &[wrappers::Param]| {
            let request = params.iter().find(|p| p.kind == Kind::Request);
            let returns_one = params
                .iter()
                .any(|p| p.kind == Kind::Index && p.len.is_none());
            match request.is_some_and(|p| p.len.is_some()) && !returns_one {
                true => CompletedNumbers::List,
                false => CompletedNumbers::One,
            }
        };
        match function.class {
            Class::Collective | Class::Icollective | Class::Neighbor | Class::Ineighbor => {
                CallDetails {
                    request: makes_request,
                    ..CallDetails::of_collective(function)
                }
            }
            Class::CollectiveInit | Class::NeighborInit => CallDetails {
                prepared: Some(PreparedNumber::Made),
                ..CallDetails::of_collective(function)
            },
            Class::CommCreate => CallDetails {
                request: makes_request,
                makes: true,
                ..CallDetails::default()
            },
            Class::Isend | Class::Irecv | Class::Isendrecv => CallDetails {
                request: makes_request,
                asks_for: has(Kind::Source),
                ..CallDetails::default()
            },
            Class::Probe => CallDetails {
                asks_for: has(Kind::Source),
                ..CallDetails::default()
            },
            Class::Start if function.params.iter().all(|p| p.len.is_none()) => CallDetails {
                request: true,
                prepared: Some(PreparedNumber::Started),
                asks_for: true,
                ..CallDetails::default()
            },
            Class::Start => CallDetails {
                started: true,
                ..CallDetails::default()
            },
            // Of a partitioned send these tell when its data is there.
            Class::Partition => CallDetails {
                request: true,
                ..CallDetails::default()
            },
            // These only look.
            Class::Test if function.name.starts_with("MPI_Request_get_status") => {
                CallDetails::default()
            }
            Class::Complete | Class::Test => CallDetails {
                completes: Some(list(&function.params)),
                ..CallDetails::default()
            },
            Class::Rma | Class::RmaRequest => CallDetails {
                bytes: function.remote_amount().is_some(),
                request: makes_request,
                handle: has(Kind::Win),
                target: has(Kind::Target),
                ..CallDetails::default()
            },
            Class::RmaSync => CallDetails {
                handle: true,
                ranks: has(Kind::Group),
                target: has(Kind::Target),
                exclusive: has(Kind::LockType),
                ..CallDetails::default()
            },
            Class::CommInfo | Class::TypeInfo | Class::WinInfo => {
                let names = function.name.ends_with("_set_name");
                CallDetails {
                    handle: names && has(Kind::Win),
                    name: names,
                    ..CallDetails::default()
                }
            }
            _ => CallDetails {
                atomic: function.sets_atomic_mode(),
                // Those that ranks make together are waited for.
                request: makes_request && function.io.is_some_and(|io| io.collective),
                handle: function.shared_handle().is_some(),
                ..CallDetails::default()
            },
        }
    }

    /// What ranks pass to each other in a collective call.
    fn of_collective(function: &Function) -> CallDetails {
        let own = function.own_amount();
        let [given, got] = function.amounts_by_rank();
        CallDetails {
            root: function.first(Kind::Root).is_some(),
            bytes: own.or(given).or(got).is_some(),
            received: got.is_some(),
            sent: own.and(given).is_some(),
            ..CallDetails::default()
        }
    }

    /// Whether there are any.
    fn is_empty(self) -> bool {
        self == CallDetails::default()
    }

    /// Format of the info, as in state definitions.
    pub fn format(self) -> String {
        let values = [
            (self.root, "root=%d"),
            (self.bytes, "bytes=%l"),
            (self.received, "received=%l"),
            (self.sent, "sent=%l"),
            (self.request, "request=%d"),
            (
                self.completes == Some(CompletedNumbers::One),
                "completes=%d",
            ),
            (
                self.completes == Some(CompletedNumbers::List),
                "completes=%s",
            ),
            (self.asks_for, "source=%d, tag=%d"),
            (self.handle, "handle=%d"),
            (self.name, "name=%s"),
            (self.ranks, "ranks=%s"),
            (self.target, "target=%d"),
            (self.exclusive, "exclusive=%d"),
            (self.prepared.is_some(), "prepared=%d"),
            (self.started, "sends=%s, receives=%s, prepared=%s"),
            (self.atomic, "atomic=%d"),
            (self.makes, "makes=%d, remote=%d, sources=%s"),
        ];
        let values = values.iter().filter(|(is_there, _)| *is_there);
        values
            .map(|(_, value)| *value)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// State of one function.
#[derive(Clone, Debug)]
pub struct FunctionState {
    /// Number of the state.
    pub id: i32,
    /// Cargo of the end event.
    pub cargo: StateCargo,
    /// What SLOG2 says behind the cargo.
    pub details: CallDetails,
    /// Whether it says anything there: what is asked at every call.
    pub has_details: bool,
    /// Definition of the state.
    pub definition: Clog2StateDef,
}

impl FunctionState {
    /// Number of the start event.
    #[inline]
    pub fn start(&self) -> i32 {
        2 * self.id
    }

    /// Number of the end event.
    #[inline]
    pub fn end(&self) -> i32 {
        2 * self.id + 1
    }
}

/// States of all functions.
#[derive(Clone, Debug)]
pub struct FunctionStates {
    /// By function number: those of the table, then the unknown ones.
    states: Vec<FunctionState>,
    known: usize,
    first_unknown: u16,
    user: i32,
    annotation: i32,
    has_details: bool,
}

impl FunctionStates {
    /// For the functions of `table` and those with the numbers `unknown`, which no table knows. `names` names the latter as
    /// far as names are known; those of all ranks, where it is root that asks.
    pub fn new(
        table: &Table,
        call_ids: CallIdDisplay,
        unknown: Range<u16>,
        names: &BTreeMap<u16, String>,
    ) -> FunctionStates {
        let first_unknown = unknown.start;
        let mut user = 0;
        let mut next = || {
            user += 1;
            USER_STATES + user - 1
        };
        let mut states: Vec<FunctionState> = table
            .functions
            .iter()
            .map(|f| {
                let id = f.state.map_or_else(&mut next, i32::from);
                state(id, &f.name, &f.color, cargo(f, call_ids), Some(f))
            })
            .collect();
        let known = states.len();
        for number in unknown {
            let name = names
                .get(&number)
                .map_or_else(|| format!("MPI function {number}"), String::clone);
            let cargo = match call_ids {
                CallIdDisplay::All => StateCargo::CallId,
                CallIdDisplay::Files | CallIdDisplay::None => StateCargo::None,
            };
            states.push(state(next(), &name, UNKNOWN_COLOR, cargo, None));
        }
        FunctionStates {
            states,
            known,
            first_unknown,
            user,
            annotation: ANNOTATION,
            has_details: false,
        }
    }

    /// Makes room for `states` states and `solo` solo events of the program's own in front of the user states of functions.
    pub fn make_room(&mut self, states: i32, solo: i32) {
        self.user += states;
        self.annotation += solo;
        for state in self.states.iter_mut().filter(|s| s.id >= USER_STATES) {
            state.id += states;
            state.definition.state_id = state.id;
            state.definition.start_etype = 2 * state.id;
            state.definition.final_etype = 2 * state.id + 1;
        }
    }

    /// Has the states of `table` tell in SLOG2 what an analysis of waits needs.
    pub fn add_details(&mut self, table: &Table) {
        for (state, function) in self.states.iter_mut().zip(&table.functions) {
            state.details = CallDetails::of(function);
            state.has_details = !state.details.is_empty();
        }
        self.has_details = true;
    }

    /// Whether states tell that.
    #[inline]
    pub fn has_details(&self) -> bool {
        self.has_details
    }

    /// The solo event of annotations.
    pub fn annotation(&self) -> i32 {
        self.annotation
    }

    /// State of a function by its number in records.
    #[inline]
    pub fn get(&self, function: u16) -> Option<&FunctionState> {
        if function >= self.first_unknown {
            self.states
                .get(self.known + usize::from(function - self.first_unknown))
        } else {
            self.states[..self.known].get(usize::from(function))
        }
    }

    /// Number of user states, used or not: `user_stateID_count` of the preamble.
    pub fn user_states(&self) -> i32 {
        self.user
    }

    /// The states of these functions by ascending number.
    pub fn sorted(&self, used: impl Iterator<Item = u16>) -> Vec<&FunctionState> {
        let mut found: Vec<&FunctionState> = used.filter_map(|f| self.get(f)).collect();
        found.sort_by_key(|state| state.id);
        found
    }
}

impl StateCargo {
    /// Bytes of the cargo that are used.
    #[inline]
    pub fn bytes(self) -> usize {
        match self {
            StateCargo::None => 0,
            StateCargo::CallId => 8,
            StateCargo::Value(_) => 16,
            StateCargo::Access => 24,
        }
    }
}

fn cargo(function: &Function, call_ids: CallIdDisplay) -> StateCargo {
    if call_ids == CallIdDisplay::None {
        return StateCargo::None;
    }
    let offset = function
        .params
        .iter()
        .position(|p| p.kind == Kind::Offset && p.len.is_none());
    match (function.class, offset) {
        (Class::FileAccess, _) => StateCargo::Access,
        (Class::FileOpen | Class::FileClose | Class::FileMeta, Some(i)) => {
            StateCargo::Value(i as u8)
        }
        (Class::FileOpen | Class::FileClose | Class::FileMeta, None) => StateCargo::CallId,
        _ if call_ids == CallIdDisplay::All => StateCargo::CallId,
        _ => StateCargo::None,
    }
}

fn state(
    id: i32,
    name: &str,
    color: &str,
    cargo: StateCargo,
    function: Option<&Function>,
) -> FunctionState {
    let format = match cargo {
        StateCargo::None => String::new(),
        StateCargo::CallId => "CallID=0x%X".to_owned(),
        StateCargo::Value(i) => {
            let param = function.and_then(|f| f.params.get(usize::from(i)));
            format!("CallID=0x%X, {}=%l", param.map_or("", |p| &p.name))
        }
        StateCargo::Access => "CallID=0x%X, bytes=%l, offset=%l".to_owned(),
    };
    FunctionState {
        id,
        cargo,
        details: CallDetails::default(),
        has_details: false,
        definition: Clog2StateDef {
            state_id: id,
            start_etype: 2 * id,
            final_etype: 2 * id + 1,
            color: FixedText::new(color),
            name: FixedText::new(name),
            format: FixedText::new(&format),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Numbers of functions that no table knows.
    const UNKNOWN: Range<u16> = 0x0E00..0x0F80;
    const FIRST_UNKNOWN: u16 = UNKNOWN.start;

    fn all() -> (&'static Table, FunctionStates) {
        let table = wrappers::table().unwrap();
        let states = FunctionStates::new(table, CallIdDisplay::Files, UNKNOWN, &BTreeMap::new());
        (table, states)
    }

    #[test]
    fn functions_have_mpes_states_where_it_has_them_and_no_two_share_one() {
        let (table, states) = all();
        let get = |name: &str| states.get(table.get(name).unwrap().id as u16).unwrap();
        assert_eq!(get("MPI_Send").start(), 160);
        assert_eq!(get("MPI_Send").end(), 161);
        assert!(get("MPI_Send_c").id >= USER_STATES);
        assert!(get("MPI_Init").id >= USER_STATES);
        let used: Vec<&FunctionState> = states.states.iter().collect();
        let ids: HashSet<i32> = used.iter().map(|s| s.id).collect();
        assert_eq!(ids.len(), used.len());
        // User events must stay below the user solo events, and the pre-defined pairs must cover them.
        let last = ids.iter().max().unwrap();
        assert_eq!(*last, USER_STATES + states.user_states() - 1);
        assert!(2 * last + 1 < 5000);
    }

    #[test]
    fn names_stay_different_when_cut() {
        let (_, states) = all();
        let names: HashSet<_> = states
            .states
            .iter()
            .map(|s| s.definition.name.to_str().into_owned())
            .collect();
        assert_eq!(names.len(), states.states.len());
    }

    #[test]
    fn file_functions_tell_their_call_id() {
        let (table, states) = all();
        let format = |name: &str| {
            let state = states.get(table.get(name).unwrap().id as u16).unwrap();
            state.definition.format.to_str().into_owned()
        };
        assert_eq!(
            format("MPI_File_write_at_all"),
            "CallID=0x%X, bytes=%l, offset=%l"
        );
        assert_eq!(format("MPI_File_open"), "CallID=0x%X");
        assert_eq!(format("MPI_File_seek"), "CallID=0x%X, offset=%l");
        assert_eq!(format("MPI_File_set_size"), "CallID=0x%X, size=%l");
        assert_eq!(format("MPI_Send"), "");
    }

    #[test]
    fn unknown_functions_come_behind_the_table() {
        let table = wrappers::table().unwrap();
        let names = BTreeMap::from([(FIRST_UNKNOWN + 1, "MPIX_Thing".to_owned())]);
        let states = FunctionStates::new(table, CallIdDisplay::All, UNKNOWN, &names);
        let thing = states.get(FIRST_UNKNOWN + 1).unwrap();
        assert_eq!(thing.definition.name.to_str(), "MPIX_Thing");
        assert_eq!(thing.definition.format.to_str(), "CallID=0x%X");
        assert!(states.get(table.functions.len() as u16).is_none());
        assert!(states.get(UNKNOWN.end).is_none());
        let used = [
            FIRST_UNKNOWN + 1,
            table.get("MPI_Send").unwrap().id as u16,
            UNKNOWN.end,
        ];
        let ids: Vec<i32> = states
            .sorted(used.into_iter())
            .iter()
            .map(|state| state.id)
            .collect();
        assert_eq!(ids, [80, thing.id]);
    }

    #[test]
    fn details_follow_from_the_table() {
        let (table, mut states) = all();
        let format = |states: &FunctionStates, name: &str| {
            let state = states.get(table.get(name).unwrap().id as u16).unwrap();
            state.details.format()
        };
        assert_eq!(format(&states, "MPI_Bcast"), "");
        states.add_details(table);
        for (name, expected) in [
            ("MPI_Bcast", "root=%d, bytes=%l"),
            ("MPI_Ireduce_c", "root=%d, bytes=%l, request=%d"),
            ("MPI_Alltoallw", "bytes=%l, received=%l"),
            ("MPI_Ialltoallv_c", "bytes=%l, received=%l, request=%d"),
            ("MPI_Gatherv", "root=%d, bytes=%l, received=%l"),
            ("MPI_Iscatterv", "root=%d, bytes=%l, sent=%l, request=%d"),
            ("MPI_Allgatherv_init", "bytes=%l, received=%l, prepared=%d"),
            ("MPI_Reduce_scatter", "bytes=%l, received=%l"),
            ("MPI_Reduce_scatter_block", "bytes=%l"),
            ("MPI_Neighbor_allgatherv", "bytes=%l, received=%l"),
            (
                "MPI_Ineighbor_alltoallw",
                "bytes=%l, received=%l, request=%d",
            ),
            ("MPI_Barrier", ""),
            ("MPI_Isend", "request=%d"),
            ("MPI_Irecv", "request=%d, source=%d, tag=%d"),
            ("MPI_Isendrecv", "request=%d, source=%d, tag=%d"),
            ("MPI_Imrecv", "request=%d"),
            ("MPI_Mprobe", "source=%d, tag=%d"),
            ("MPI_Recv", ""),
            ("MPI_Start", "request=%d, source=%d, tag=%d, prepared=%d"),
            ("MPI_Startall", "sends=%s, receives=%s, prepared=%s"),
            ("MPI_Bcast_init", "root=%d, bytes=%l, prepared=%d"),
            ("MPI_Ineighbor_alltoall", "bytes=%l, request=%d"),
            ("MPI_Neighbor_alltoall", "bytes=%l"),
            ("MPI_Pready", "request=%d"),
            ("MPI_Win_start", "handle=%d, ranks=%s"),
            ("MPI_Win_lock", "handle=%d, target=%d, exclusive=%d"),
            ("MPI_Win_unlock", "handle=%d, target=%d"),
            ("MPI_Win_fence", "handle=%d"),
            ("MPI_Put", "bytes=%l, handle=%d, target=%d"),
            ("MPI_Fetch_and_op", "bytes=%l, handle=%d, target=%d"),
            ("MPI_Rget_c", "bytes=%l, request=%d, handle=%d, target=%d"),
            ("MPI_File_iread_all", "request=%d, handle=%d"),
            ("MPI_File_iread", ""),
            ("MPI_File_set_atomicity", "handle=%d, atomic=%d"),
            ("MPI_File_get_atomicity", "handle=%d"),
            ("MPI_Cart_create", "makes=%d, remote=%d, sources=%s"),
            (
                "MPI_Comm_idup",
                "request=%d, makes=%d, remote=%d, sources=%s",
            ),
            ("MPI_Wait", "completes=%d"),
            ("MPI_Waitany", "completes=%d"),
            ("MPI_Testsome", "completes=%s"),
            ("MPI_Waitall", "completes=%s"),
            ("MPI_Request_get_status", ""),
            ("MPI_Send", ""),
            ("MPI_Comm_set_name", "name=%s"),
            ("MPI_Win_set_name", "handle=%d, name=%s"),
            ("MPI_Comm_get_name", ""),
        ] {
            assert_eq!(format(&states, name), expected, "{name}");
        }
    }
}
