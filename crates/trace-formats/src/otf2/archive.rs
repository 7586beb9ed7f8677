//! An archive that the OTF2 library writes: its event writers, one for each location.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::checked::{check, refused};
use super::definition_writer::DefinitionWriter;
use super::error::{Otf2Error, Otf2ErrorKind};
use super::event::{Attribute, AttributeValue, Event};
use super::folder::ARCHIVE_NAME;
use super::library::{self, FLUSH, Functions, MEMORY, Object};
use super::mapping::MappingTable;

/// Bytes of the buffer of a location, the fewest that the library takes.
const EVENT_BYTES: u64 = 256 << 10;
/// Bytes of the buffer of definitions, as the library advises. A definition must fit into it.
const DEFINITION_BYTES: u64 = 4 << 20;
/// Most bytes that the library takes for the buffer of definitions.
const MAX_DEFINITION_BYTES: u64 = 16 << 20;
/// Bytes of a member of a group in a definition, at most.
const MEMBER_BYTES: u64 = 9;

/// An archive that is being written. Events of one location must come in order of time. An archive that is not closed keeps its files
/// open and its memory until the program ends, since the library would complete it.
pub(super) struct Archive {
    functions: &'static Functions,
    archive: Object,
    /// Writers of the locations, null before the first event.
    writers: Vec<(u64, Object)>,
    attributes: Object,
}

impl Archive {
    /// Creates an archive in a folder that is there and empty. `members` is the number of members that the largest group can have.
    ///
    /// # Errors
    /// When the library is missing or refuses.
    pub(super) fn create(folder: &Path, members: usize) -> Result<Archive, Otf2Error> {
        let functions = library::functions()?;
        // What another archive has left.
        library::take_error();
        raise_file_limit();
        let path = CString::new(folder.as_os_str().as_bytes()).map_err(|_| Otf2ErrorKind::Name)?;
        let name = CString::new(ARCHIVE_NAME).map_err(|_| Otf2ErrorKind::Name)?;
        let group_bytes = (members as u64).saturating_mul(MEMBER_BYTES);
        let definition_bytes = match group_bytes < DEFINITION_BYTES / 2 {
            true => DEFINITION_BYTES,
            false => MAX_DEFINITION_BYTES,
        };
        // Write; POSIX files without compression.
        // SAFETY: Both texts end with a zero, and the library copies them.
        let archive = unsafe {
            (functions.archive_open)(
                path.as_ptr(),
                name.as_ptr(),
                0,
                EVENT_BYTES,
                definition_bytes,
                1,
                1,
            )
        };
        if archive.is_null() {
            return Err(refused(functions, "OTF2_Archive_Open"));
        }
        let creator = c"mpitrace";
        // SAFETY: The archive is open. The callbacks are static, and the text ends with a zero.
        unsafe {
            let null = std::ptr::null_mut();
            check(
                functions,
                "OTF2_Archive_SetFlushCallbacks",
                (functions.set_flush_callbacks)(archive, &FLUSH, null),
            )?;
            check(
                functions,
                "OTF2_Archive_SetMemoryCallbacks",
                (functions.set_memory_callbacks)(archive, &MEMORY, null),
            )?;
            check(
                functions,
                "OTF2_Archive_SetSerialCollectiveCallbacks",
                (functions.set_serial)(archive),
            )?;
            check(
                functions,
                "OTF2_Archive_SetCreator",
                (functions.set_creator)(archive, creator.as_ptr()),
            )?;
            check(
                functions,
                "OTF2_Archive_OpenEvtFiles",
                (functions.open_events)(archive),
            )?;
        }
        // SAFETY: The function needs nothing.
        let attributes = unsafe { (functions.attributes_new)() };
        if attributes.is_null() {
            return Err(refused(functions, "OTF2_AttributeList_New"));
        }
        Ok(Archive {
            functions,
            archive,
            writers: Vec::new(),
            attributes,
        })
    }

    /// Adds a location, and gives its position, by which events name it.
    pub(super) fn add_location(&mut self, id: u64) -> usize {
        self.writers.push((id, std::ptr::null_mut()));
        self.writers.len() - 1
    }

    /// Writes an event of a location.
    ///
    /// # Errors
    /// When the library refuses: the disk is full, or the time lies before that of the event before.
    pub(super) fn write(
        &mut self,
        location: usize,
        time: u64,
        event: &Event<'_>,
    ) -> Result<(), Otf2Error> {
        let Some(&(id, writer)) = self.writers.get(location) else {
            return Ok(());
        };
        let writer = match writer.is_null() {
            true => self.open_writer(location, id)?,
            false => writer,
        };
        let list = match *event {
            Event::Enter { attributes, .. } | Event::Leave { attributes, .. }
                if !attributes.is_empty() =>
            {
                self.list(attributes)?;
                self.attributes
            }
            _ => std::ptr::null_mut(),
        };
        // SAFETY: The writer is open, and the list is null or that of the archive.
        let code = unsafe { event.write(self.functions, writer, list, time) };
        check(self.functions, event.function(), code)
    }

    fn open_writer(&mut self, location: usize, id: u64) -> Result<Object, Otf2Error> {
        // SAFETY: The archive is open.
        let writer = unsafe { (self.functions.event_writer)(self.archive, id) };
        if writer.is_null() {
            return Err(refused(self.functions, "OTF2_Archive_GetEvtWriter"));
        }
        if let Some(entry) = self.writers.get_mut(location) {
            entry.1 = writer;
        }
        Ok(writer)
    }

    /// Puts attributes into the list of attributes, in place of those before.
    fn list(&mut self, attributes: &[Attribute]) -> Result<(), Otf2Error> {
        let (f, list) = (self.functions, self.attributes);
        // SAFETY: The list of attributes is the library's own.
        let code = unsafe { (f.attributes_clear)(list) };
        check(f, "OTF2_AttributeList_RemoveAllAttributes", code)?;
        for &(name, value) in attributes {
            // SAFETY: The list of attributes is the library's own.
            let code = unsafe {
                match value {
                    AttributeValue::Unsigned(value) => (f.attribute_uint)(list, name, value),
                    AttributeValue::Signed(value) => (f.attribute_int)(list, name, value),
                    AttributeValue::Real(value) => (f.attribute_double)(list, name, value),
                    AttributeValue::Text(value) => (f.attribute_string)(list, name, value),
                    AttributeValue::Comm(value) => (f.attribute_comm)(list, name, value),
                }
            };
            check(f, "OTF2_AttributeList_Add", code)?;
        }
        Ok(())
    }

    /// Completes the events of the locations for which `is_own` holds, and gives their numbers of events, in the order in which the locations
    /// were added; of others 0.
    ///
    /// # Errors
    /// When the library refuses: the disk is full.
    pub(super) fn close_events(
        &mut self,
        is_own: impl Fn(usize) -> bool,
    ) -> Result<Vec<u64>, Otf2Error> {
        let (f, archive) = (self.functions, self.archive);
        let mut counts = Vec::with_capacity(self.writers.len());
        for location in 0..self.writers.len() {
            if !is_own(location) {
                counts.push(0);
                continue;
            }
            let (id, writer) = self.writers[location];
            // Readers want the file of a location without events, too.
            let writer = match writer.is_null() {
                true => self.open_writer(location, id)?,
                false => writer,
            };
            let mut count = 0;
            // SAFETY: The writer is open and not used after this, and the count stays where it is.
            unsafe {
                check(
                    f,
                    "OTF2_EvtWriter_GetNumberOfEvents",
                    (f.event_count)(writer, &mut count),
                )?;
                check(
                    f,
                    "OTF2_Archive_CloseEvtWriter",
                    (f.close_event_writer)(archive, writer),
                )?;
            }
            counts.push(count);
        }
        // SAFETY: The archive is open, and all event writers are closed.
        unsafe { check(f, "OTF2_Archive_CloseEvtFiles", (f.close_events)(archive))? };
        Ok(counts)
    }

    /// Completes the definitions of each location, which are the mapping tables that `tables_of` gives for it, by its position; has `define` write the
    /// definitions of the archive, and closes it. The events are complete.
    ///
    /// # Errors
    /// When the library refuses, or `define` does.
    pub(super) fn close<'t>(
        self,
        tables_of: impl Fn(usize) -> &'t [MappingTable],
        define: impl FnOnce(&DefinitionWriter) -> Result<(), Otf2Error>,
    ) -> Result<(), Otf2Error> {
        let (f, archive) = (self.functions, self.archive);
        // SAFETY: The archive is open, and the writers of definitions are closed one after the other.
        unsafe {
            check(
                f,
                "OTF2_Archive_OpenDefFiles",
                (f.open_definitions)(archive),
            )?;
            for (location, &(id, _)) in self.writers.iter().enumerate() {
                let writer = (f.definition_writer)(archive, id);
                if writer.is_null() {
                    return Err(refused(f, "OTF2_Archive_GetDefWriter"));
                }
                for table in tables_of(location) {
                    write_mapping(f, writer, table)?;
                }
                check(
                    f,
                    "OTF2_Archive_CloseDefWriter",
                    (f.close_definition_writer)(archive, writer),
                )?;
            }
            check(
                f,
                "OTF2_Archive_CloseDefFiles",
                (f.close_definitions)(archive),
            )?;
        }
        // SAFETY: The archive is open.
        let writer = unsafe { (f.global_writer)(archive) };
        if writer.is_null() {
            return Err(refused(f, "OTF2_Archive_GetGlobalDefWriter"));
        }
        define(&DefinitionWriter::new(f, writer))?;
        // SAFETY: Nothing of the archive is used after this.
        unsafe {
            check(
                f,
                "OTF2_Archive_CloseGlobalDefWriter",
                (f.close_global_writer)(archive, writer),
            )?;
            check(
                f,
                "OTF2_AttributeList_Delete",
                (f.attributes_delete)(self.attributes),
            )?;
            check(f, "OTF2_Archive_Close", (f.archive_close)(archive))
        }
    }
}

/// Writes a mapping table into the definitions of a location.
///
/// # Safety
/// The writer of definitions is open.
unsafe fn write_mapping(
    f: &'static Functions,
    writer: Object,
    table: &MappingTable,
) -> Result<(), Otf2Error> {
    let MappingTable { kind, references } = table;
    // SAFETY: The library copies the references, of which there are so many.
    let map = unsafe { (f.id_map_of_array)(references.len() as u64, references.as_ptr(), true) };
    if map.is_null() {
        return Err(refused(f, "OTF2_IdMap_CreateFromUint32Array"));
    }
    // SAFETY: The writer is open, the map is not used after this.
    let code = unsafe {
        let code = (f.write_mapping)(writer, *kind, map);
        (f.id_map_free)(map);
        code
    };
    check(f, "OTF2_DefWriter_WriteMappingTable", code)
}

/// Permits as many open files as this process may permit itself: a location whose events fill a buffer keeps its file open.
pub(super) fn raise_file_limit() {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: The limits stay where they are while the functions run. If they fail, the limit stays as it is.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}
