//! The definitions of an archive, as the OTF2 library tells them.

use std::collections::BTreeMap;

use trace_model::hash::Map;

/// A group of locations: a process, or an accelerator.
#[derive(Clone, Debug)]
pub(super) struct LocationGroup {
    pub name: u32,
    /// `OTF2_LocationGroupType`: see [`super::super::numbers::PROCESS`].
    pub kind: u8,
    /// Reference of the node of the system tree.
    pub node: u32,
    /// Reference of the group that created it.
    pub creator: u32,
}

/// A location: a thread, a stream of an accelerator, or a source of metrics.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub id: u64,
    pub name: u32,
    /// `OTF2_LocationType`: see [`super::super::numbers::CPU_THREAD`].
    pub kind: u8,
    pub events: u64,
    pub group: u32,
}

/// A region: a function, a part of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub name: u32,
    pub description: u32,
    pub paradigm: u8,
}

/// A group of ranks or locations.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// Number in [`super::super::numbers::group_type`].
    pub kind: u8,
    pub paradigm: u8,
    pub members: Vec<u64>,
}

/// A metric.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetricMember {
    pub name: u32,
    pub mode: u8,
    /// Number in [`super::super::numbers::value_type`].
    pub value_type: u8,
    /// Whether the unit is multiplied by powers of 2, not 10.
    pub is_binary: bool,
    pub exponent: i64,
}

/// A communicator, or the two sides of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comm {
    pub name: u32,
    pub group: u32,
    /// Group of the remote side, of an intercommunicator.
    pub remote: Option<u32>,
}

/// A handle of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct IoHandle {
    pub file: u32,
    pub comm: u32,
}

/// A node of the system tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub name: u32,
    pub class: u32,
    pub parent: u32,
}

/// The definitions of an archive that matter for drawables. Of several with one reference the first one counts.
#[derive(Debug, Default)]
pub(super) struct GlobalDefinitions {
    /// Ticks per second.
    pub resolution: u64,
    /// Earliest time, ticks.
    pub offset: u64,
    pub strings: Map<u32, String>,
    /// Name and type of attributes.
    pub attributes: BTreeMap<u32, (u32, u8)>,
    pub nodes: Map<u32, Node>,
    pub location_groups: BTreeMap<u32, LocationGroup>,
    /// In the order in which they are defined.
    pub locations: Vec<Location>,
    pub regions: Map<u32, Region>,
    pub groups: BTreeMap<u32, Group>,
    pub metric_members: BTreeMap<u32, MetricMember>,
    /// Members of classes and instances of metrics.
    pub metrics: Map<u32, Vec<u32>>,
    pub comms: BTreeMap<u32, Comm>,
    /// Communicators of windows.
    pub windows: Map<u32, u32>,
    /// Names of files.
    pub files: Map<u32, u32>,
    pub io_handles: Map<u32, IoHandle>,
}

impl GlobalDefinitions {
    /// The text of this reference; empty if it is not defined.
    pub(super) fn text(&self, reference: u32) -> &str {
        self.strings.get(&reference).map_or("", String::as_str)
    }

    /// A duration of so many ticks, ns.
    pub(super) fn ns(&self, ticks: u64) -> u64 {
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(self.resolution.max(1));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// Name of a region.
    pub(super) fn region_name(&self, region: u32) -> &str {
        let found = self.regions.get(&region);
        found.map_or("", |found| self.text(found.name))
    }

    /// Members of a metric.
    pub(super) fn members_of(&self, metric: u32) -> &[u32] {
        self.metrics.get(&metric).map_or(&[], Vec::as_slice)
    }

    /// Name of the host that a node is on: of the node itself or above it that is one, else of the node; `None` for the root of the tree.
    pub(super) fn host(&self, node: u32) -> Option<String> {
        /// Nodes above one another at most.
        const MAX_DEPTH: usize = 64;
        let mut at = node;
        for _ in 0..MAX_DEPTH {
            let Some(found) = self.nodes.get(&at) else {
                break;
            };
            if matches!(self.text(found.class), "node" | "host") {
                return Some(self.text(found.name).to_owned());
            }
            at = found.parent;
        }
        let own = self.nodes.get(&node)?;
        if self.text(own.class) == "machine" {
            return None;
        }
        Some(self.text(own.name).to_owned())
    }
}
