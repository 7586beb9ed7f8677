//! The tables, and which drawables are rows of which.

use io_attribution::draw::{self, Shows};
use trace_model::{Category, Topology};

/// A table of the dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableKind {
    /// Calls of MPI functions.
    Calls,
    /// Other states of ranks: regions and functions of the program.
    Regions,
    /// Operations below MPI: file calls, requests at servers, transfers of devices.
    Operations,
    /// Pairs of a call and an operation that it caused, or that carries some of its bytes.
    Transfers,
    /// What calls on files had to move.
    Accesses,
    /// Files, by the number that operations and accesses have.
    Files,
    /// Messages between ranks.
    Messages,
    /// All other arrows.
    Arrows,
    /// Markers, texts and all other events.
    Events,
}

impl TableKind {
    /// All of them.
    pub const ALL: [TableKind; 9] = [
        TableKind::Calls,
        TableKind::Regions,
        TableKind::Operations,
        TableKind::Transfers,
        TableKind::Accesses,
        TableKind::Files,
        TableKind::Messages,
        TableKind::Arrows,
        TableKind::Events,
    ];

    /// Name of the table, which is that of its folder.
    pub fn name(self) -> &'static str {
        match self {
            TableKind::Calls => "calls",
            TableKind::Regions => "regions",
            TableKind::Operations => "operations",
            TableKind::Transfers => "transfers",
            TableKind::Accesses => "accesses",
            TableKind::Files => "files",
            TableKind::Messages => "messages",
            TableKind::Arrows => "arrows",
            TableKind::Events => "events",
        }
    }

    /// Name of the column with the name of the category.
    pub fn name_column(self) -> &'static str {
        match self {
            TableKind::Calls => "function",
            TableKind::Regions => "region",
            TableKind::Transfers | TableKind::Arrows => "relation",
            TableKind::Operations | TableKind::Messages => "kind",
            TableKind::Accesses | TableKind::Files | TableKind::Events => "event",
        }
    }

    /// Names of the columns with the rank that a row is of, or with those at its ends.
    pub fn rank_columns(self) -> &'static [&'static str] {
        match self.is_of_arrows() {
            true => &["source_rank", "dest_rank"],
            false => &["rank"],
        }
    }

    /// Names of the columns with the times of a row, its begin first.
    pub fn time_columns(self) -> &'static [&'static str] {
        match self {
            TableKind::Messages => &["send_ns", "receive_ns"],
            _ if self.is_of_arrows() => &["start_ns", "end_ns"],
            _ if self.is_of_events() => &["time_ns"],
            _ => &["enter_ns", "leave_ns"],
        }
    }

    /// Whether a row has one time and one place, not a beginning and an end of each.
    pub(crate) fn is_of_events(self) -> bool {
        matches!(
            self,
            TableKind::Accesses | TableKind::Files | TableKind::Events
        )
    }

    /// Whether a row goes from one timeline to another.
    pub fn is_of_arrows(self) -> bool {
        matches!(
            self,
            TableKind::Transfers | TableKind::Messages | TableKind::Arrows
        )
    }

    /// The table that has the drawables of a category.
    pub(crate) fn of(category: &Category, table: Option<&wrappers::Table>) -> TableKind {
        match (category.topology, draw::shows(category)) {
            (_, Some(Shows::Operation(_))) => TableKind::Operations,
            (_, Some(Shows::Edge(_))) => TableKind::Transfers,
            (_, Some(Shows::Access)) => TableKind::Accesses,
            (_, Some(Shows::File)) => TableKind::Files,
            (Topology::State, None) => {
                let name = category.name.to_str();
                let is_known = table.is_some_and(|table| table.get(&name).is_some());
                match is_known || name.starts_with("MPI_") || name.starts_with("MPIX_") {
                    true => TableKind::Calls,
                    false => TableKind::Regions,
                }
            }
            (Topology::Arrow, None) => match category.stands_for_messages() {
                true => TableKind::Messages,
                false => TableKind::Arrows,
            },
            (Topology::Event, None) => TableKind::Events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_their_numbers() {
        for (nth, kind) in TableKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, nth);
        }
    }
}
