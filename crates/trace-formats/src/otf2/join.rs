//! Puts an archive together of parts that several processes have written.
//!
//! The files of events stay as they are. References in them that are others in the archive are told by mapping tables, which stand in the definitions
//! of each location.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use trace_model::{Definitions, PartNumber, PendingFolder};

use super::archive::Archive;
use super::comms::FIRST_GROUP;
use super::error::{Otf2Error, Otf2ErrorKind};
use super::events::EventMaker;
use super::folder::{ARCHIVE, ARCHIVE_NAME};
use super::mapping::MappingTable;
use super::numbers::{UNDEFINED_REF, mapping};
use super::part;
use super::part_tables::{FILE_NAME, PartHandle, PartTables};

/// Makes the archive at `path` of all the parts in the folder `parts`, whose files of events go into it. The archive gets its name when it is
/// complete; an archive that has the name is replaced then, and what is left of the parts is removed. `definitions` are those of the trace that the parts
/// were made of, and `trace` is its number as the parts have it.
///
/// # Errors
/// When a part is missing, damaged, or of another version or trace, the library refuses, or files cannot be moved.
pub fn join_parts(
    path: &Path,
    definitions: &Definitions,
    trace: u64,
    parts: &Path,
) -> Result<(), Otf2Error> {
    let in_archive = |error: Otf2Error| error.in_file(path);
    // Without the library nothing is created.
    super::library::functions().map_err(|kind| in_archive(kind.into()))?;
    let folder = PendingFolder::create(path, ARCHIVE)
        .map_err(|error| in_archive(Otf2Error::io(0, error)))?;
    let all = part::all_in(parts);
    let all = all.map_err(|error| Otf2Error::io(0, error).in_file(parts))?;
    let all = all.ok_or_else(|| Otf2Error::from(Otf2ErrorKind::NoPart).in_file(parts))?;
    let read = all
        .into_iter()
        .map(|part| read_part(&parts.join(part.name()), trace));
    let read = read.collect::<Result<Vec<_>, _>>()?;
    let archive = join(definitions, &read, folder.current_path());
    archive.map_err(in_archive)?;
    let named = folder.persist();
    named.map_err(|error| in_archive(Otf2Error::io(0, error)))?;
    let mut folders = read.iter().map(|(folder, _)| folder);
    let removed = folders.try_for_each(fs::remove_dir_all);
    removed.map_err(|error| Otf2Error::io(0, error).in_file(parts))
}

/// A part that was read: its folder and its tables.
type ReadPart = (PathBuf, PartTables);

fn read_part(folder: &Path, trace: u64) -> Result<ReadPart, Otf2Error> {
    let file = folder.join(FILE_NAME);
    let of_file = |kind: Otf2ErrorKind| Otf2Error::from(kind).in_file(&file);
    let bytes = fs::read(&file).map_err(|error| of_file(Otf2ErrorKind::Io(error)))?;
    let tables = PartTables::decode(&bytes).ok_or_else(|| of_file(Otf2ErrorKind::NoPart))?;
    if tables.trace != trace {
        return Err(of_file(Otf2ErrorKind::OtherTrace));
    }
    Ok((folder.to_owned(), tables))
}

/// Writes the archive of these parts into a folder that is there and empty.
fn join(definitions: &Definitions, parts: &[ReadPart], folder: &Path) -> Result<(), Otf2Error> {
    let mut maker = EventMaker::new(definitions, PartNumber::WHOLE, |largest| {
        Archive::create(folder, largest)
    })?;
    let mut maps: Vec<PartMaps> = Vec::new();
    for (_, tables) in parts {
        maps.push(PartMaps::new(&mut maker, tables)?);
    }
    take_windows(&mut maker, parts, &mut maps);
    take_handles(&mut maker, parts, &mut maps);
    maker.archive.close_events(|_| false)?;
    let mut files = Vec::new();
    let mut found = vec![None; maker.places.locations.len()];
    for (at, (part, tables)) in parts.iter().enumerate() {
        for location in &tables.locations {
            let process = location.process;
            if process >= maker.places.processes.len() {
                return Err(Otf2ErrorKind::NoPart.into());
            }
            let known = maker.places.locations.len();
            let position = maker.places.of_id(location.id, &location.name, process);
            if position == known {
                maker.archive.add_location(location.id);
                found.push(None);
            }
            // Two parts with one location do not belong together.
            if found[position].replace((location.events, at)).is_some() {
                return Err(Otf2ErrorKind::NoPart.into());
            }
            let name = format!("{}.evt", location.id);
            let place = Path::new(ARCHIVE_NAME).join(name);
            files.push((part.join(&place), folder.join(&place)));
        }
        let spans = [maker.span, tables.span];
        let first = spans.iter().flatten().map(|(first, _)| *first).min();
        let last = spans.iter().flatten().map(|(_, last)| *last).max();
        maker.span = first.zip(last);
    }
    let found: Option<Vec<(u64, usize)>> = found.into_iter().collect();
    let found = found.ok_or(Otf2ErrorKind::NoPart)?;
    let counts: Vec<u64> = found.iter().map(|(count, _)| *count).collect();
    let tables: Vec<Vec<MappingTable>> = maps.into_iter().map(PartMaps::tables).collect();
    let tables_of = |location: usize| {
        let part = found.get(location).map(|(_, part)| *part);
        part.and_then(|part| tables.get(part))
            .map_or(&[][..], Vec::as_slice)
    };
    maker.define(&counts, tables_of)?;
    // The parts are whole as long as definitions may fail.
    let mut files = files.iter();
    let moved = files.try_for_each(|(from, to)| move_file(from, to));
    moved.map_err(|error| Otf2Error::io(0, error))
}

/// Moves a file, to another file system, too: there it is copied, and the first one stays until the parts are removed.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => fs::copy(from, to).map(drop),
        moved => moved,
    }
}

/// By the references of a part those of the archive.
struct PartMaps {
    strings: Vec<u32>,
    attributes: Vec<u32>,
    comms: Vec<u32>,
    groups: Vec<u32>,
    windows: Vec<u32>,
    handles: Vec<u32>,
}

impl PartMaps {
    /// Takes what the events of a part refer to into the definitions of the archive, but for windows and
    /// handles.
    fn new(maker: &mut EventMaker, tables: &PartTables) -> Result<PartMaps, Otf2Error> {
        let strings: Vec<u32> = (tables.strings.iter())
            .map(|text| maker.strings.id(text))
            .collect();
        let attributes = (tables.attributes.iter())
            .map(|&(name, kind)| maker.attributes.id(MappingTable::of(&strings, name), kind))
            .collect();
        let intra = u32::try_from(maker.comms.intra_count()).unwrap_or(0);
        let mut comms: Vec<u32> = (0..intra).collect();
        for &groups in &tables.pairs {
            let pair = maker.comms.pair_of_groups(groups);
            comms.push(pair.ok_or(Otf2ErrorKind::NoPart)?);
        }
        let mut groups: Vec<u32> = (0..FIRST_GROUP + intra).collect();
        for members in &tables.groups {
            groups.push(maker.comms.group_of_members(members.clone()));
        }
        for (comm, rank, name) in &tables.comm_names {
            maker.comm_names.name(*comm, *rank, name.clone());
        }
        Ok(PartMaps {
            strings,
            attributes,
            comms,
            groups,
            windows: vec![0; tables.windows.len()],
            handles: vec![0; tables.handles.len()],
        })
    }

    /// The tables that are needed.
    fn tables(self) -> Vec<MappingTable> {
        let all = [
            (mapping::STRING, self.strings),
            (mapping::ATTRIBUTE, self.attributes),
            (mapping::COMM, self.comms),
            (mapping::GROUP, self.groups),
            (mapping::RMA_WIN, self.windows),
            (mapping::IO_HANDLE, self.handles),
        ];
        let tables = all.map(|(kind, references)| MappingTable::new(kind, references));
        tables.into_iter().flatten().collect()
    }
}

/// Takes the windows of all parts in the order of time in which they were made, which numbers those without a name.
fn take_windows(maker: &mut EventMaker, parts: &[ReadPart], maps: &mut [PartMaps]) {
    let mut all = Vec::new();
    for (part, (_, tables)) in parts.iter().enumerate() {
        let windows = tables.windows.iter().enumerate();
        all.extend(windows.map(|(at, window)| (window.2, part, at, *window)));
    }
    all.sort_unstable();
    for (time, part, at, (comm, number, _)) in all {
        let reference = maker.comms.reference(comm);
        let window = maker.windows.of_order((comm, reference), number, time);
        let map = maps.get_mut(part).map(|maps| &mut maps.windows);
        if let Some(place) = map.and_then(|windows| windows.get_mut(at)) {
            *place = window;
        }
    }
    for ((_, tables), maps) in parts.iter().zip(maps) {
        for (window, process, name) in &tables.window_names {
            let window = MappingTable::of(&maps.windows, *window);
            maker.windows.name(window, *process, name.as_bytes());
        }
    }
}

/// Takes the handles of all parts in the order of time in which they were named: which handle is the parent of another one follows from it.
fn take_handles(maker: &mut EventMaker, parts: &[ReadPart], maps: &mut [PartMaps]) {
    let mut all: Vec<(u64, usize, usize)> = Vec::new();
    for (part, (_, tables)) in parts.iter().enumerate() {
        let handles = tables.handles.iter().enumerate();
        all.extend(handles.map(|(at, handle)| (handle.at, part, at)));
    }
    all.sort_unstable();
    for (_, part, at) in all {
        let (Some((_, tables)), Some(maps)) = (parts.get(part), maps.get_mut(part)) else {
            continue;
        };
        let Some(&PartHandle {
            name,
            paradigm,
            comm,
            ..
        }) = tables.handles.get(at)
        else {
            continue;
        };
        let comm = match comm {
            UNDEFINED_REF => UNDEFINED_REF,
            comm => MappingTable::of(&maps.comms, comm),
        };
        let name = MappingTable::of(&maps.strings, name);
        if let Some(place) = maps.handles.get_mut(at) {
            *place = maker.files.handle(name, paradigm, comm);
        }
    }
}
