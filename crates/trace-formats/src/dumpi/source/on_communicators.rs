//! Calls that are drawn on a line of their communicator: collective ones, which is how ranks are known that call together, and those that name it.

use super::super::communicators::{CommName, Communicators};
use super::super::functions::{self, FieldCode, FieldShape, MAX_FIELDS};
use super::super::value::FieldValue;
use wrappers::Class;

/// Added to a rank's place for the number of a communicator that cannot be followed: nobody else is known to be in it.
const UNKNOWN: u32 = 1 << 30;

/// The functions that all ranks of a communicator call together, and MPI_Comm_set_name: a name belongs to the communicator of its line.
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
            if is_collective(function.name) || function.name == "MPI_Comm_set_name" {
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

/// Number of a communicator, which all of its ranks share, and the rank in it of the one with this place and world rank.
pub(super) fn place_of(
    comms: &Communicators,
    place: usize,
    rank: u32,
    name: CommName,
) -> (u32, i32) {
    let known = comms.index(place, name).and_then(|comm| {
        let (_, own) = comms.size_and_rank(comm, rank)?;
        Some((comm, i32::try_from(own).ok()?))
    });
    let place = u32::try_from(place).unwrap_or(UNKNOWN);
    known.unwrap_or((UNKNOWN.saturating_add(place), 0))
}
