//! Writes drawables as an OTF2 archive.

use std::path::{Path, PathBuf};

use trace_model::{
    Definitions, Drawable, DrawableOrder, DrawablePoint, Fault, Losses, PendingFolder, Points, Stop,
};

use super::archive::Archive;
use super::error::Otf2Error;
use super::events::EventMaker;
use super::folder::ARCHIVE;

/// An OTF2 archive in the making: a folder. In memory are locations, communicators, names, a buffer of 256 KiB for each location, and the drawables
/// that are not over yet.
pub struct Otf2Sink {
    points: Points,
    /// Number of the next drawable in [`Points`].
    next: u64,
    /// Points of one time, whose order is not decided yet.
    tied: Vec<DrawablePoint>,
    events: EventMaker,
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
            let events = EventMaker::new(definitions, |largest| {
                Archive::create(folder.current_path(), largest)
            })?;
            Ok((folder, events))
        };
        let (folder, events) = begun().map_err(|error: Otf2Error| error.in_file(path))?;
        Ok(Otf2Sink {
            points: Points::default(),
            next: 0,
            tied: Vec::new(),
            events,
            folder,
            path: path.to_path_buf(),
        })
    }

    fn put_checked(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let Some((vertices, count)) = self.events.accept(drawable) else {
            return Ok(());
        };
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

impl trace_model::Sink for Otf2Sink {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.events.comm_names.take(drawable);
        self.put_checked(drawable)
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        let Otf2Sink {
            points,
            mut tied,
            mut events,
            folder,
            path,
            ..
        } = *self;
        points.finish(&mut |point| take(&mut events, &mut tied, point))?;
        events.points(&mut tied)?;
        let losses = events.finish()?;
        let named = |error| Fault::io(0, error).in_file(path);
        folder
            .persist()
            .map_err(|error| -> Otf2Error { named(error) })?;
        Ok(losses)
    }
}
