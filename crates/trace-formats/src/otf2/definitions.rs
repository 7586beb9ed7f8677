//! The definitions of an archive, written when all events are.

use super::comms::{CommDefinition, FIRST_GROUP};
use super::definition_writer::DefinitionWriter;
use super::error::Otf2Error;
use super::events::EventMaker;
use super::files::{MPI_IO, POSIX};
use super::mapping::MappingTable;
use super::numbers::{IO_PARADIGM_OF_SYSTEM, domain, group_type, io_class, metric_mode};
use trace_model::{Losses, hash::Map};

/// Reference of the root of the system tree.
const MACHINE: u32 = 0;
/// Reference of the group of the locations of ranks; those of communicators come after it.
const COMM_LOCATIONS: u32 = 0;

impl EventMaker {
    /// Completes the archive, and says what it could not hold.
    ///
    /// # Errors
    /// When the library refuses.
    pub(super) fn finish(mut self) -> Result<Losses, Otf2Error> {
        let counts = self.end_part()?;
        self.define(&counts, |_| &[])
    }

    /// Completes the events of the part that is written, and gives the number of events of each location, by position.
    ///
    /// # Errors
    /// When the library refuses.
    pub(super) fn end_part(&mut self) -> Result<Vec<u64>, Otf2Error> {
        self.complete_all()?;
        let processes = self.places.locations.iter();
        let own: Vec<bool> = processes.map(|at| self.is_own(at.process)).collect();
        let is_own = |location: usize| own.get(location).copied().unwrap_or(false);
        self.archive.close_events(is_own)
    }

    /// Writes the definitions of the archive whose events are written, and says what it could not hold. `counts` has the number of events of each
    /// location, by position, `tables_of` gives its mapping tables.
    ///
    /// # Errors
    /// When the library refuses.
    pub(super) fn define<'t>(
        mut self,
        counts: &[u64],
        tables_of: impl Fn(usize) -> &'t [MappingTable],
    ) -> Result<Losses, Otf2Error> {
        let names = Names::new(&mut self);
        let EventMaker {
            archive,
            places,
            comms,
            strings,
            attributes,
            regions,
            metrics,
            files,
            windows,
            span,
            losses,
            ..
        } = self;
        let (first, last) = span.unwrap_or((0, 0));
        archive.close(tables_of, |writer| {
            writer.clock(first, last - first + 1)?;
            for (reference, text) in (0u32..).zip(strings.texts()) {
                writer.string(reference, text)?;
            }
            writer.mpi_paradigm(names.mpi)?;
            for (reference, region) in (0u32..).zip(&regions) {
                writer.region(reference, region)?;
            }
            for (reference, &(name, value_type)) in (0u32..).zip(attributes.definitions()) {
                writer.attribute(reference, name, value_type)?;
            }
            names.system_tree(writer)?;
            for (process, &(name, node)) in (0u32..).zip(&names.processes) {
                writer.process(process, name, node)?;
            }
            for ((location, &name), &count) in
                places.locations.iter().zip(&names.locations).zip(counts)
            {
                let process = u32::try_from(location.process).unwrap_or(0);
                writer.location(location.id, name, count, process)?;
            }
            let ranks = places.processes.iter().take(places.ranks());
            let mains = ranks.filter_map(|rank| places.locations.get(rank.main));
            let mains: Vec<u64> = mains.map(|main| main.id).collect();
            let of_locations = group_type::COMM_LOCATIONS;
            writer.group(COMM_LOCATIONS, names.mpi, of_locations, &mains)?;
            for (reference, members) in (FIRST_GROUP..).zip(comms.groups()) {
                writer.group(reference, 0, group_type::COMM_GROUP, &members)?;
            }
            let group = |position: usize| FIRST_GROUP + u32::try_from(position).unwrap_or(0);
            let defined = comms.definitions().iter().zip(&names.comms);
            for (reference, (comm, &name)) in (0u32..).zip(defined) {
                match comm {
                    CommDefinition::Intra { group: at, .. } => {
                        writer.comm(reference, name, group(*at))?;
                    }
                    CommDefinition::Inter { groups, .. } => {
                        writer.intercomm(reference, name, groups.map(group))?;
                    }
                }
            }
            for ((reference, &comm), &name) in
                (0u32..).zip(windows.definitions()).zip(&names.windows)
            {
                writer.window(reference, name, comm)?;
            }
            for (reference, metric) in (0u32..).zip(metrics.definitions()) {
                let unit = match metric.mode {
                    metric_mode::ACCUMULATED_POINT => names.count_unit,
                    _ => 0,
                };
                writer.metric(reference, metric.name, metric.mode, metric.value_type, unit)?;
            }
            for (reference, &name) in (0u32..).zip(files.files()) {
                writer.file(reference, name, MACHINE)?;
            }
            writer.io_paradigm(POSIX, names.posix, io_class::SERIAL, IO_PARADIGM_OF_SYSTEM)?;
            writer.io_paradigm(MPI_IO, names.mpi_io, io_class::PARALLEL, 0)?;
            for (reference, handle) in (0u32..).zip(&files.handles()) {
                writer.handle(reference, handle)?;
            }
            Ok(())
        })?;
        Ok(losses)
    }
}

/// References of the names that definitions need. All texts must be known before the first one is written.
struct Names {
    mpi: u32,
    mpi_io: u32,
    posix: u32,
    count_unit: u32,
    machine: u32,
    node: u32,
    /// Names of the hosts, which are nodes 1, 2, ….
    hosts: Vec<u32>,
    /// By process its name and its node.
    processes: Vec<(u32, u32)>,
    locations: Vec<u32>,
    comms: Vec<u32>,
    windows: Vec<u32>,
}

impl Names {
    fn new(maker: &mut EventMaker) -> Names {
        let strings = &mut maker.strings;
        let mut hosts = Vec::new();
        let mut by_host: Map<&str, u32> = Map::default();
        let mut processes = Vec::new();
        for process in &maker.places.processes {
            let node = match process.host.as_deref() {
                None => MACHINE,
                Some(host) => *by_host.entry(host).or_insert_with(|| {
                    hosts.push(strings.id(host));
                    u32::try_from(hosts.len()).unwrap_or(MACHINE)
                }),
            };
            processes.push((strings.id(&process.name), node));
        }
        let locations = maker.places.locations.iter();
        let comms = maker.comms.definitions().iter();
        Names {
            mpi: strings.id("MPI"),
            mpi_io: strings.id("MPI-IO"),
            posix: strings.id("POSIX"),
            count_unit: strings.id("#"),
            machine: strings.id("machine"),
            node: strings.id("node"),
            locations: locations
                .map(|location| strings.id(&location.name))
                .collect(),
            comms: comms
                .map(|comm| strings.id(&comm.name(&maker.comm_names)))
                .collect(),
            windows: maker
                .windows
                .names()
                .map(|name| strings.id(&name))
                .collect(),
            hosts,
            processes,
        }
    }

    /// The machine and its hosts.
    fn system_tree(&self, writer: &DefinitionWriter) -> Result<(), Otf2Error> {
        writer.node(MACHINE, self.machine, self.machine, None, domain::MACHINE)?;
        for (reference, &host) in (1u32..).zip(&self.hosts) {
            let parent = Some(MACHINE);
            writer.node(reference, host, self.node, parent, domain::SHARED_MEMORY)?;
        }
        Ok(())
    }
}
