//! An archive that the OTF2 library reads: its definitions, and the events of each location.

use std::collections::VecDeque;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::archive::raise_file_limit;
use super::super::checked::{check, refused};
use super::super::error::{Otf2Error, Otf2ErrorKind};
use super::super::library::{self, Library};
use super::super::symbols::{ErrorCode, Object};
use super::definition_callbacks;
use super::definitions::{GlobalDefinitions, Location};
use super::event::Event;
use super::event_callbacks::{self, EventBuffer};

/// Definitions and events that are read at a time.
const DEFINITIONS_AT_ONCE: u64 = 1 << 14;
const EVENTS_AT_ONCE: u64 = 256;

/// An archive that is open for reading. The library applies the mapping tables and the clock offsets of the locations.
pub(super) struct ReadArchive {
    library: &'static Library,
    reader: Object,
    callbacks: Object,
    anchor: PathBuf,
}

impl ReadArchive {
    /// Opens the archive with this anchor file.
    ///
    /// # Errors
    /// The library is missing, or refuses.
    pub(super) fn open(anchor: &Path) -> Result<ReadArchive, Otf2Error> {
        let library = library::library()?;
        // What another archive has left.
        library::take_error();
        raise_file_limit();
        let path = CString::new(anchor.as_os_str().as_bytes()).map_err(|_| Otf2ErrorKind::Name)?;
        // SAFETY: The text ends with a zero, and the library copies it.
        let reader = unsafe { (library.read.open)(path.as_ptr()) };
        if reader.is_null() {
            return Err(refused(&library.write, "OTF2_Reader_Open"));
        }
        // SAFETY: The function needs nothing.
        let callbacks = unsafe { (library.read.event_callbacks)() };
        let archive = ReadArchive {
            library,
            reader,
            callbacks,
            anchor: anchor.to_path_buf(),
        };
        if callbacks.is_null() {
            return Err(refused(&library.write, "OTF2_EvtReaderCallbacks_New"));
        }
        // SAFETY: The reader is open, and the set of callbacks is the library's own.
        let codes = unsafe {
            archive.check(
                "OTF2_Reader_SetSerialCollectiveCallbacks",
                (library.read.set_serial)(reader),
            )?;
            event_callbacks::set_callbacks(&library.read, callbacks)
        };
        for code in codes {
            archive.check("OTF2_EvtReaderCallbacks_Set", code)?;
        }
        Ok(archive)
    }

    fn check(&self, function: &'static str, code: ErrorCode) -> Result<(), Otf2Error> {
        check(&self.library.write, function, code)
    }

    /// Path of a file of the archive below the folder of the anchor file: `traces.def`, `traces/3.evt`.
    fn part(&self, id: Option<u64>, ending: &str) -> PathBuf {
        let stem = Path::new(self.anchor.file_stem().unwrap_or(OsStr::new("traces")));
        match id {
            None => stem.with_extension(ending),
            Some(id) => stem.join(format!("{id}.{ending}")),
        }
    }

    /// The error as one of a part of the archive.
    fn within(&self, id: Option<u64>, ending: &str, place: &str, error: Otf2Error) -> Otf2Error {
        let file = self.part(id, ending);
        let place = match place {
            "" => file.display().to_string(),
            place => format!("{}: {place}", file.display()),
        };
        let message = error.kind.to_string();
        Otf2ErrorKind::Part { place, message }.into()
    }

    fn has(&self, id: u64, ending: &str) -> bool {
        let path = self.part(Some(id), ending);
        self.anchor.with_file_name("").join(path).is_file()
    }

    /// Name of the program that wrote the archive.
    pub(super) fn creator(&self) -> String {
        let mut text = std::ptr::null_mut();
        // SAFETY: The reader is open, and the address stays where it is.
        let code = unsafe { (self.library.read.creator)(self.reader, &mut text) };
        if code != 0 || text.is_null() {
            library::take_error();
            return String::new();
        }
        // SAFETY: The library has made a text that ends with a zero, for the caller to free.
        unsafe {
            let creator = CStr::from_ptr(text).to_string_lossy().into_owned();
            libc::free(text.cast());
            creator
        }
    }

    /// Reads the definitions of the whole archive.
    ///
    /// # Errors
    /// They are damaged.
    pub(super) fn definitions(&self) -> Result<GlobalDefinitions, Otf2Error> {
        self.read_definitions()
            .map_err(|error| self.within(None, "def", "", error))
    }

    fn read_definitions(&self) -> Result<GlobalDefinitions, Otf2Error> {
        let (f, reader) = (&self.library.read, self.reader);
        let mut found = Box::<GlobalDefinitions>::default();
        let user_data: *mut GlobalDefinitions = &mut *found;
        // SAFETY: The reader is open.
        let definitions = unsafe { (f.global_reader)(reader) };
        if definitions.is_null() {
            return Err(refused(
                &self.library.write,
                "OTF2_Reader_GetGlobalDefReader",
            ));
        }
        // SAFETY: The function needs nothing.
        let set = unsafe { (f.definition_callbacks)() };
        if set.is_null() {
            return Err(refused(
                &self.library.write,
                "OTF2_GlobalDefReaderCallbacks_New",
            ));
        }
        // SAFETY: The set is the library's own. The library copies it, and the definitions stay where they are until all is read.
        let (codes, registered) = unsafe {
            let codes = definition_callbacks::set_callbacks(f, set);
            let registered = (f.register_definitions)(reader, definitions, set, user_data.cast());
            (f.delete_definition_callbacks)(set);
            (codes, registered)
        };
        for code in codes {
            self.check("OTF2_GlobalDefReaderCallbacks_Set", code)?;
        }
        self.check("OTF2_Reader_RegisterGlobalDefCallbacks", registered)?;
        let (mut expected, mut done) = (0, 0);
        // SAFETY: The reader is open, and the number stays where it is.
        let code = unsafe { (f.definition_count)(reader, &mut expected) };
        self.check("OTF2_Reader_GetNumberOfGlobalDefinitions", code)?;
        while done < expected {
            let mut count = 0;
            let wanted = DEFINITIONS_AT_ONCE.min(expected - done);
            // SAFETY: Both readers are open, and the number stays where it is.
            let code = unsafe { (f.read_definitions)(reader, definitions, wanted, &mut count) };
            self.check("OTF2_Reader_ReadGlobalDefinitions", code)?;
            if count == 0 {
                let place = format!("behind definition {done}");
                let message = format!("the file ends; {expected} definitions expected");
                return Err(Otf2ErrorKind::Part { place, message }.into());
            }
            done = done.saturating_add(count);
        }
        // SAFETY: Both readers are open, and the second one is not used any more.
        let code = unsafe { (f.close_global_reader)(reader, definitions) };
        self.check("OTF2_Reader_CloseGlobalDefReader", code)?;
        Ok(*found)
    }

    /// Reads the definitions of the locations and prepares to read their events.
    ///
    /// # Errors
    /// Definitions are damaged.
    pub(super) fn open_locations(&self, locations: &[Location]) -> Result<(), Otf2Error> {
        let (f, reader) = (&self.library.read, self.reader);
        for location in locations {
            // SAFETY: The reader is open.
            let code = unsafe { (f.select)(reader, location.id) };
            self.check("OTF2_Reader_SelectLocation", code)?;
        }
        // SAFETY: The reader is open.
        let code = unsafe { (f.open_definitions)(reader) };
        self.check("OTF2_Reader_OpenDefFiles", code)?;
        for location in locations {
            // An archive may have none.
            if self.has(location.id, "def") {
                let read = self.read_local(location.id);
                read.map_err(|error| self.within(Some(location.id), "def", "", error))?;
            }
        }
        // SAFETY: The reader is open.
        unsafe {
            self.check("OTF2_Reader_CloseDefFiles", (f.close_definitions)(reader))?;
            self.check("OTF2_Reader_OpenEvtFiles", (f.open_events)(reader))
        }
    }

    fn read_local(&self, id: u64) -> Result<(), Otf2Error> {
        let (f, reader) = (&self.library.read, self.reader);
        // SAFETY: The reader is open, and files of definitions are.
        let local = unsafe { (f.local_reader)(reader, id) };
        if local.is_null() {
            return Err(refused(&self.library.write, "OTF2_Reader_GetDefReader"));
        }
        let mut count = 0;
        // SAFETY: Both readers are open, and the number stays where it is.
        let code = unsafe { (f.read_local)(reader, local, &mut count) };
        self.check("OTF2_Reader_ReadAllLocalDefinitions", code)?;
        // SAFETY: Both readers are open, and the second one is not used any more.
        let code = unsafe { (f.close_local_reader)(reader, local) };
        self.check("OTF2_Reader_CloseDefReader", code)
    }

    /// The events of a location, after [`ReadArchive::open_locations`]. `None` for one without events.
    ///
    /// # Errors
    /// The file of events is missing, or the library refuses it.
    pub(super) fn events(
        &self,
        location: &Location,
    ) -> Result<Option<LocationEvents<'_>>, Otf2Error> {
        let (f, reader, id) = (&self.library.read, self.reader, location.id);
        if !self.has(id, "evt") {
            if location.events == 0 {
                return Ok(None);
            }
            let place = self.part(Some(id), "evt").display().to_string();
            let message = format!("the file is not there; {} events expected", location.events);
            return Err(Otf2ErrorKind::Part { place, message }.into());
        }
        // SAFETY: The reader is open, and files of events are.
        let events = unsafe { (f.event_reader)(reader, id) };
        if events.is_null() {
            let error = refused(&self.library.write, "OTF2_Reader_GetEvtReader");
            return Err(self.within(Some(id), "evt", "", error));
        }
        let buffer = Box::into_raw(Box::new(EventBuffer {
            events: VecDeque::new(),
            functions: f,
        }));
        let opened = LocationEvents {
            archive: self,
            id,
            reader: events,
            buffer,
            read: 0,
            expected: location.events,
            is_at_end: false,
        };
        // SAFETY: The readers are open. The library copies the set, and the buffer stays until the reader of events is closed.
        let code = unsafe { (f.register_events)(reader, events, self.callbacks, buffer.cast()) };
        self.check("OTF2_Reader_RegisterEvtCallbacks", code)?;
        Ok(Some(opened))
    }
}

impl Drop for ReadArchive {
    fn drop(&mut self) {
        let f = &self.library.read;
        // SAFETY: Nothing of the archive is used after this. Readers of events are gone: they borrow the archive.
        unsafe {
            if !self.callbacks.is_null() {
                (f.delete_event_callbacks)(self.callbacks);
            }
            (f.close)(self.reader);
        }
        library::take_error();
    }
}

/// The events of a location, one after the other.
pub(super) struct LocationEvents<'a> {
    archive: &'a ReadArchive,
    id: u64,
    reader: Object,
    buffer: *mut EventBuffer,
    /// Number of events that the library has read, and that the definitions promise.
    read: u64,
    expected: u64,
    is_at_end: bool,
}

impl LocationEvents<'_> {
    /// The next event; `None` at the end.
    ///
    /// # Errors
    /// The file is damaged.
    pub(super) fn next(&mut self) -> Result<Option<Event>, Otf2Error> {
        loop {
            // SAFETY: Only the library uses the buffer beside this, and only while events are read.
            if let Some(event) = unsafe { (*self.buffer).events.pop_front() } {
                return Ok(Some(event));
            }
            if self.is_at_end {
                return match self.read < self.expected {
                    true => Err(self.cut_off()),
                    false => Ok(None),
                };
            }
            let f = &self.archive.library.read;
            let mut count = 0;
            // SAFETY: Both readers are open, and the number stays where it is.
            let code = unsafe {
                (f.read_events)(self.archive.reader, self.reader, EVENTS_AT_ONCE, &mut count)
            };
            let checked = self.archive.check("OTF2_Reader_ReadLocalEvents", code);
            self.read = self.read.saturating_add(count);
            checked.map_err(|error| {
                let place = format!("behind event {}", self.read);
                self.archive.within(Some(self.id), "evt", &place, error)
            })?;
            self.is_at_end = count < EVENTS_AT_ONCE;
        }
    }
}

impl LocationEvents<'_> {
    /// The error of a file that ends between two events.
    fn cut_off(&self) -> Otf2Error {
        let file = self.archive.part(Some(self.id), "evt");
        let place = format!("{}: behind event {}", file.display(), self.read);
        let message = format!("the file ends; {} events expected", self.expected);
        Otf2ErrorKind::Part { place, message }.into()
    }
}

impl Drop for LocationEvents<'_> {
    fn drop(&mut self) {
        // SAFETY: The readers are open. The buffer was made of a box, and nobody uses it any more.
        unsafe {
            (self.archive.library.read.close_event_reader)(self.archive.reader, self.reader);
            drop(Box::from_raw(self.buffer));
        }
    }
}
