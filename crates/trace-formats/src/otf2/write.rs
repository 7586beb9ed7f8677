//! Writes drawables as an OTF2 archive, or as a part of one.

use std::fs;
use std::path::{Path, PathBuf};

use trace_model::{
    Definitions, Drawable, DrawableOrder, DrawablePoint, Losses, PartNumber, PendingFolder, Points,
    Stop,
};

use super::archive::Archive;
use super::error::{Otf2Error, Otf2ErrorKind};
use super::events::EventMaker;
use super::folder::ARCHIVE;
use super::part_tables::{FILE_NAME, PartTables};

/// An OTF2 archive in the making: a folder. In memory are locations, communicators, names, a buffer of 256 KiB for each location, and the drawables
/// that are not over yet.
pub struct Otf2Sink {
    events: EventPass,
    folder: PendingFolder,
    path: PathBuf,
}

impl Otf2Sink {
    /// Starts the archive at `path`, which gets its name when it is complete. An archive that has the name is replaced then.
    ///
    /// # Errors
    /// When the OTF2 library is missing, the folder cannot be created, or something that is no archive has the name.
    pub fn create(path: impl AsRef<Path>, definitions: &Definitions) -> Result<Self, Otf2Error> {
        let path = path.as_ref();
        let begun = || {
            // Without the library nothing is created.
            super::library::functions()?;
            let folder =
                PendingFolder::create(path, ARCHIVE).map_err(|error| Otf2Error::io(0, error))?;
            let events = EventPass::new(folder.current_path(), PartNumber::WHOLE, definitions)?;
            Ok((folder, events))
        };
        let (folder, events) = begun().map_err(|error: Otf2Error| error.in_file(path))?;
        Ok(Otf2Sink {
            events,
            folder,
            path: path.to_path_buf(),
        })
    }
}

impl trace_model::Sink for Otf2Sink {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.events.put(drawable)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        let Otf2Sink {
            events,
            folder,
            path,
        } = *self;
        let losses = events.end()?.finish()?;
        let named = |error| Otf2Error::io(0, error).in_file(path);
        folder.persist().map_err(named)?;
        Ok(losses)
    }
}

/// A part of an OTF2 archive in the making: a folder with the files of events, and a file with what they refer to, which comes last. It takes all
/// drawables of the trace. [`super::join_parts`] makes the archive of all parts.
pub struct Otf2PartSink {
    events: EventPass,
    folder: PathBuf,
    trace: u64,
}

impl Otf2PartSink {
    /// Starts a part, as a folder in the folder `parts`. `trace` is a number by which the trace is known from others.
    ///
    /// # Errors
    /// When the OTF2 library is missing, or the folder is there or cannot be created.
    pub fn create(
        parts: &Path,
        part: PartNumber,
        definitions: &Definitions,
        trace: u64,
    ) -> Result<Self, Otf2Error> {
        let folder = parts.join(part.name());
        let begun = || {
            super::library::functions()?;
            fs::create_dir(&folder).map_err(|error| Otf2Error::io(0, error))?;
            EventPass::new(&folder, part, definitions)
        };
        let events = begun().map_err(|error| error.in_file(&folder))?;
        Ok(Otf2PartSink {
            events,
            folder,
            trace,
        })
    }
}

impl trace_model::Sink for Otf2PartSink {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.events.put(drawable)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        let Otf2PartSink {
            events,
            folder,
            trace,
        } = *self;
        let mut maker = events.end()?;
        let counts = maker.end_part()?;
        let tables = PartTables::of(trace, &maker, &counts).encode();
        let file = folder.join(FILE_NAME);
        let written = tables.and_then(|bytes| fs::write(&file, bytes));
        written.map_err(|error| Otf2Error::from(Otf2ErrorKind::Io(error)).in_file(file))?;
        Ok(maker.losses)
    }
}

/// From drawables to events.
struct EventPass {
    points: Points,
    /// Number of the next drawable in [`Points`].
    next: u64,
    /// Points of one time, whose order is not decided yet.
    tied: Vec<DrawablePoint>,
    events: EventMaker,
}

impl EventPass {
    fn new(
        folder: &Path,
        part: PartNumber,
        definitions: &Definitions,
    ) -> Result<EventPass, Otf2Error> {
        let create = |largest| Archive::create(folder, largest);
        Ok(EventPass {
            points: Points::default(),
            next: 0,
            tied: Vec::new(),
            events: EventMaker::new(definitions, part, create)?,
        })
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.events.comm_names.take(drawable);
        let Some((vertices, count)) = self.events.accept(drawable) else {
            return Ok(());
        };
        if !self.events.concerns_part(drawable) {
            return Ok(());
        }
        let vertices = vertices.get(..count).unwrap_or_default();
        let drawable = Drawable {
            vertices,
            ..*drawable
        };
        if !self.events.open(self.next, &drawable) {
            return Ok(());
        }
        self.next += 1;
        let (events, tied) = (&mut self.events, &mut self.tied);
        self.points
            .push(&drawable, &mut |point| take(events, tied, point))
    }

    /// Writes what is left, and gives what has made the events.
    fn end(mut self) -> Result<EventMaker, Stop> {
        let (events, tied) = (&mut self.events, &mut self.tied);
        self.points.finish(&mut |point| take(events, tied, point))?;
        events.points(tied)?;
        Ok(self.events)
    }
}

/// Takes a point. The points of one time are given on together.
fn take(
    events: &mut EventMaker,
    tied: &mut Vec<DrawablePoint>,
    point: &DrawablePoint,
) -> Result<(), Stop> {
    if tied.first().is_some_and(|first| first.time != point.time) {
        events.points(tied)?;
    }
    tied.push(point.clone());
    Ok(())
}
