//! Calls that are drawn on a line of their communicator: collective ones, which is how ranks are known that call together, those that send, receive
//! and look for messages, and those that name it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::super::communicators::{CommName, Communicators};
use super::super::completed::{CallArgs, completed};
use super::super::functions::{self, FieldCode, FieldShape, MAX_FIELDS};
use super::super::ids;
use super::super::types::DumpiRecord;
use super::super::value::FieldValue;
use trace_model::Line;
use wrappers::Class;

/// Added to a rank's place for the number of a communicator that cannot be followed: nobody else is known to be in it.
const UNKNOWN: u32 = 1 << 30;

/// Added to the number of an intercommunicator for that of its second side.
const SECOND_SIDE: u32 = 1 << 29;

/// The functions that all ranks of a communicator call together, those about messages, and MPI_Comm_set_name: a name belongs to the communicator of
/// its line.
#[derive(Debug)]
pub(super) struct CommunicatorFunctions {
    /// By number of the function, the field of the communicator.
    fields: Vec<Option<usize>>,
}

impl CommunicatorFunctions {
    pub(super) fn new() -> Self {
        // Only a build with a damaged table of functions has none; all calls are on the threads' lines then.
        let table = wrappers::table().ok();
        let is_collective = |name: &str| {
            let function = table.and_then(|table| table.get(name));
            let class = function.map(|function| function.class);
            matches!(
                class,
                Some(
                    Class::Collective
                        | Class::Icollective
                        | Class::CommCreate
                        | Class::FileOpen
                        | Class::WinCreate
                )
            )
        };
        let mut fields = Vec::new();
        for function in functions::all() {
            let id = usize::from(function.id);
            if fields.len() <= id {
                fields.resize(id + 1, None);
            }
            let of_message = |code| matches!(code, FieldCode::Src | FieldCode::Dst);
            let is_about_messages = function.fields().iter().any(|field| of_message(field.code));
            if is_about_messages
                || is_collective(function.name)
                || function.name == "MPI_Comm_set_name"
            {
                fields[id] = function.fields().iter().position(|field| {
                    field.code == FieldCode::Comm && field.shape == FieldShape::One
                });
            }
        }
        CommunicatorFunctions { fields }
    }

    /// Whether the function with this number is one of them.
    pub(super) fn has(&self, id: u16) -> bool {
        self.field(id).is_some()
    }

    fn field(&self, id: u16) -> Option<usize> {
        self.fields.get(usize::from(id)).copied().flatten()
    }

    /// The rank's number for the communicator of a call.
    pub(super) fn communicator(&self, id: u16, args: &[FieldValue<'_>; MAX_FIELDS]) -> Option<i32> {
        match args[self.field(id)?] {
            FieldValue::Int(number) => Some(number),
            _ => None,
        }
    }
}

/// Place of a rank in a communicator, as timelines have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommPlace {
    /// Index of the communicator, which all of its ranks share: of an intercommunicator, those of both sides.
    pub(super) index: u32,
    /// Number of the communicator, or of the rank's side of an intercommunicator.
    pub(super) number: i32,
    /// Rank in the communicator or side; `None` if it is not known.
    pub(super) rank: Option<i32>,
    /// Number of the other side of an intercommunicator.
    pub(super) remote: Option<i32>,
}

/// Place of the rank with this place among the files and this world rank in the communicator that it names so.
pub(super) fn place_of(
    comms: &Communicators,
    place: usize,
    rank: u32,
    name: CommName,
) -> CommPlace {
    let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let known = comms.index(place, name).and_then(|index| {
        let side = comms.side(index, rank)?;
        let numbers = [index, index.saturating_add(SECOND_SIDE)].map(number);
        let [own, other] = match side.is_second {
            false => numbers,
            true => [numbers[1], numbers[0]],
        };
        Some(CommPlace {
            index,
            number: own,
            rank: Some(i32::try_from(side.rank).ok()?),
            remote: side.is_intercomm.then_some(other),
        })
    });
    known.unwrap_or_else(|| {
        let place = u32::try_from(place).unwrap_or(UNKNOWN);
        let index = UNKNOWN.saturating_add(place);
        CommPlace {
            index,
            number: number(index),
            rank: None,
            remote: None,
        }
    })
}

/// Threads and communicators of a rank's calls, as a pass over its file finds them.
#[derive(Debug, Default)]
pub(super) struct CommUses {
    /// Threads with communicators other than MPI_COMM_WORLD that calls or the ends of messages are on.
    used: BTreeSet<(u16, CommName)>,
    /// By the number of the creation, the thread that made the communicator.
    makers: Vec<u16>,
    /// Communicators other than MPI_COMM_WORLD of the messages of requests.
    requests: HashMap<u64, CommName>,
}

impl CommUses {
    /// Takes note that a thread has made a communicator.
    pub(super) fn made(&mut self, thread: u16) {
        self.makers.push(thread);
    }

    /// Takes note of a call on a communicator.
    pub(super) fn on(&mut self, thread: u16, name: CommName) {
        if name != CommName::World {
            self.used.insert((thread, name));
        }
    }

    /// Takes note of a call that makes, starts or completes requests: the end of a message is on a line of the thread that does that.
    /// `name` is the communicator of the call.
    pub(super) fn requests(&mut self, id: u16, record: &DumpiRecord<'_>, name: Option<CommName>) {
        let is_first = matches!(
            id,
            ids::IRECV
                | ids::RECV_INIT
                | ids::SEND_INIT
                | ids::BSEND_INIT
                | ids::SSEND_INIT
                | ids::RSEND_INIT
        );
        if self.requests.is_empty() && (!is_first || name == Some(CommName::World)) {
            return;
        }
        let (args, thread) = (&record.arg_array(), record.thread);
        let call = CallArgs(args);
        match id {
            _ if is_first => match name {
                None | Some(CommName::World) => _ = self.requests.remove(&call.request(5)),
                Some(name) => _ = self.requests.insert(call.request(5), name),
            },
            ids::ISEND | ids::IBSEND | ids::ISSEND | ids::IRSEND => {
                self.requests.remove(&call.request(5));
            }
            ids::START => self.request(call.request(0), thread),
            ids::STARTALL => {
                if let FieldValue::Ints(requests) = args[1] {
                    for request in requests.iter() {
                        self.request(request as u32 as u64, thread);
                    }
                }
            }
            _ => {
                for (request, _) in completed(id, args) {
                    self.request(request, thread);
                }
            }
        }
    }

    fn request(&mut self, request: u64, thread: u16) {
        if let Some(&name) = self.requests.get(&request) {
            self.used.insert((thread, name));
        }
    }

    /// Indices of the communicators that are used.
    pub(super) fn indices(
        &self,
        comms: &Communicators,
        place: usize,
        rank: u32,
    ) -> impl Iterator<Item = u32> {
        let of = move |&(_, name): &_| place_of(comms, place, rank, name).index;
        self.used.iter().map(of)
    }
}

/// Lines of a rank.
#[derive(Debug, Default)]
pub(super) struct RankLines {
    /// By thread.
    pub(super) threads: BTreeMap<u16, i32>,
    /// By index of a communicator other than MPI_COMM_WORLD and thread.
    comms: BTreeMap<(u32, u16), i32>,
}

impl RankLines {
    /// Line of what a thread does on the communicator with this index; where it has none, that of another thread of the rank.
    pub(super) fn line(&self, thread: u16, index: u32) -> i32 {
        let known = self.comms.get(&(index, thread)).or_else(|| {
            let all = (index, 0)..=(index, u16::MAX);
            self.comms.range(all).next().map(|(_, line)| line)
        });
        let own = || self.threads.get(&thread).copied().unwrap_or(0);
        known.copied().unwrap_or_else(own)
    }

    /// All lines.
    pub(super) fn all(&self) -> impl Iterator<Item = i32> + Clone {
        self.threads.values().chain(self.comms.values()).copied()
    }

    /// Appends lines for the communicators that calls are on. Each member of one of `used`, which are those of all ranks, has a line of it: by its
    /// lines it is known who is in a communicator.
    pub(super) fn add_comms(
        &mut self,
        uses: &CommUses,
        used: &HashSet<u32>,
        (comms, place, rank): (&Communicators, usize, u32),
        lines: &mut Vec<Line>,
    ) {
        let made = (0..).zip(&uses.makers);
        let made = made.map(|(nth, &thread)| (thread, CommName::Made(nth)));
        for (is_use, (thread, name)) in
            (uses.used.iter().map(|&of| (true, of))).chain(made.map(|of| (false, of)))
        {
            let of = place_of(comms, place, rank, name);
            let has_line = self.comms.range((of.index, 0)..=(of.index, u16::MAX));
            let is_needed = match is_use {
                true => !self.comms.contains_key(&(of.index, thread)),
                false => of.rank.is_some() && used.contains(&of.index) && has_line.count() == 0,
            };
            if !is_needed {
                continue;
            }
            let id = i32::try_from(lines.len()).unwrap_or(i32::MAX);
            let own = self.threads.get(&thread);
            let own = own.and_then(|own| lines.get(*own as usize)).cloned();
            lines.push(Line {
                id,
                comm: of.number,
                comm_rank: of.rank.unwrap_or(0),
                ..own.unwrap_or_default()
            });
            self.comms.insert((of.index, thread), id);
        }
    }
}
