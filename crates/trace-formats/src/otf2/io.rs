//! File operations: of MPI, and of the C library below it.

use std::cmp::Reverse;

use trace_model::DrawablePoint;
use wrappers::{FileAccessKind, Phase};

use super::category_entry::Meaning;
use super::error::Otf2Error;
use super::event::{Event, IoBegin};
use super::events::{EndEvent, EventMaker};
use super::functions::{DiskEffect, RegionCall};
use super::numbers::{READ_WRITE, io_flag, io_mode};
use super::places::LinePlace;
use super::values::CallValues;

impl EventMaker {
    /// Notes what an event says of files: the path of one, or which one a call of MPI is about.
    pub(super) fn file_fact(&mut self, point: &DrawablePoint) {
        let (Some(place), Some(entry)) = (
            self.places.of_line(point.line),
            self.categories.get(&point.category),
        ) else {
            return;
        };
        if !matches!(entry.meaning, Meaning::FileName | Meaning::FileFact) {
            return;
        }
        let values = entry.reader.values(&point.info);
        let Some(file) = values.file else {
            return;
        };
        if let Some(call) = values.call {
            let thread = (place.process, place.thread);
            self.files.touch(thread, call, file, values.complete_after);
        }
        if let Some(path) = values.path
            && !self
                .files
                .name(file, path, values.is_side_file, &mut self.strings)
        {
            let what = "file whose path does not stand at its operations";
            self.losses.add(what, 1);
        }
    }

    /// Writes the completions of a thread's file operations until a time in ns, those of one ns later among them: times of calls are rounded.
    /// `thread` is the position of the thread's own location.
    pub(super) fn complete_until(&mut self, thread: usize, time: u64) -> Result<(), Otf2Error> {
        let Some(waiting) = self.completions.get_mut(&thread) else {
            return Ok(());
        };
        while let Some(Reverse((complete, ..))) = waiting.peek()
            && *complete <= time.saturating_add(1)
        {
            let Some(Reverse((complete, id, location, handle, bytes))) = waiting.pop() else {
                break;
            };
            let at = complete.min(time);
            let (first, last) = self.span.unwrap_or((at, at));
            self.span = Some((first, last.max(at)));
            let event = Event::IoComplete { handle, bytes, id };
            self.archive.write(location, at, &event)?;
        }
        Ok(())
    }

    /// Writes the completions that are left.
    pub(super) fn complete_all(&mut self) -> Result<(), Otf2Error> {
        let threads: Vec<usize> = self.completions.keys().copied().collect();
        let mut all = threads.into_iter();
        all.try_for_each(|thread| self.complete_until(thread, u64::MAX - 1))
    }

    /// An MPI_File function begins to read or to write.
    pub(super) fn begin_access(
        &mut self,
        location: usize,
        time: u64,
        place: &LinePlace,
        kind: FileAccessKind,
        values: &CallValues<'_>,
    ) -> Result<EndEvent, Otf2Error> {
        let process = place.process;
        let touched = self.files.touched((process, place.thread), values.call);
        let file = touched.map(|touched| touched.file);
        let number = values.file_number();
        let Some(handle) =
            self.files
                .of_access(process, number, file, values.path, &mut self.strings)
        else {
            let what = "access to a file that the trace does not tell";
            self.losses.add(what, 1);
            return Ok(EndEvent::None);
        };
        if kind.phase == Phase::End {
            let begun = self.split.remove(&(process, handle));
            return Ok(match begun {
                Some((id, bytes)) => EndEvent::IoComplete { handle, bytes, id },
                None => EndEvent::None,
            });
        }
        let id = self.files.next_operation(process);
        let bytes = values.bytes.unwrap_or(0);
        let mut flags = io_flag::NONE;
        if kind.collective {
            flags |= io_flag::COLLECTIVE;
        }
        let is_blocking = kind.phase == Phase::Blocking;
        if !is_blocking {
            flags |= io_flag::NON_BLOCKING;
        }
        let begin = IoBegin {
            handle,
            mode: if kind.write {
                io_mode::WRITE
            } else {
                io_mode::READ
            },
            flags,
            bytes,
            id,
        };
        self.archive.write(location, time, &Event::IoBegin(begin))?;
        if is_blocking {
            return Ok(EndEvent::IoComplete { handle, bytes, id });
        }
        let told = touched.and_then(|touched| touched.complete_after);
        // So it is told of an access of an archive.
        let told = told.or(values.complete_after.filter(|_| kind.phase != Phase::Begin));
        match (told, kind.phase) {
            (Some(after), _) => {
                let complete = (time.saturating_add(after), id, location, handle, bytes);
                let waiting = self.completions.entry(place.location).or_default();
                waiting.push(Reverse(complete));
            }
            (None, Phase::Begin) => {
                self.split.insert((process, handle), (id, bytes));
            }
            (None, _) => {
                let what = "nonblocking access whose completion the trace does not tell";
                self.losses.add(what, 1);
            }
        }
        Ok(EndEvent::IoIssued { handle, id })
    }

    /// A function of the C library begins.
    pub(super) fn begin_disk(
        &mut self,
        location: usize,
        time: u64,
        process: usize,
        effect: DiskEffect,
        values: &CallValues<'_>,
    ) -> Result<EndEvent, Otf2Error> {
        let Some(file) = values.file else {
            return Ok(EndEvent::None);
        };
        let is_successful = values.result.is_none_or(|result| result >= 0);
        match effect {
            DiskEffect::Close if is_successful => {
                let handle = self.files.posix(file, &mut self.strings);
                Ok(EndEvent::Close { handle })
            }
            DiskEffect::Transfer(mode) => {
                let handle = self.files.posix(file, &mut self.strings);
                let id = self.files.next_operation(process);
                let done = values.result.and_then(|done| u64::try_from(done).ok());
                let (asked, done) = match mode {
                    io_mode::FLUSH => (0, 0),
                    _ => (values.size.unwrap_or(0), done.unwrap_or(0)),
                };
                let begin = IoBegin {
                    handle,
                    mode,
                    flags: io_flag::NONE,
                    bytes: asked,
                    id,
                };
                self.archive.write(location, time, &Event::IoBegin(begin))?;
                let bytes = done;
                Ok(EndEvent::IoComplete { handle, bytes, id })
            }
            _ => Ok(EndEvent::None),
        }
    }

    /// Defines the handle that MPI_File_open is about to give for a file, if a thread is in such a call: parents are defined first.
    fn expect_open(&mut self, place: &LinePlace, file: i64) {
        let inside = self.inside.get(place.location);
        let mut inside = inside.map_or(&[][..], Vec::as_slice).iter().rev();
        if let Some(comm) = inside.find_map(|region| region.opens_on) {
            self.files.expect(file, comm, &mut self.strings);
        }
    }

    /// Writes that a file was opened, at the end of the call.
    pub(super) fn end_open(
        &mut self,
        location: usize,
        time: u64,
        place: &LinePlace,
        call: RegionCall,
        values: &CallValues<'_>,
    ) -> Result<(), Otf2Error> {
        let handle = match (call, values.file, values.result) {
            (RegionCall::Disk(DiskEffect::Open), Some(file), Some(0..)) => {
                // The trace may tell what the file is when the call has begun, in that of another rank.
                if !self.files.is_side_file(file) {
                    self.expect_open(place, file);
                    if let Some(call) = values.call {
                        let thread = (place.process, place.thread);
                        self.files.touch(thread, call, file, None);
                    }
                }
                self.files.posix(file, &mut self.strings)
            }
            (RegionCall::FileOpen, ..) => {
                // An open that fails gives no number.
                let Some(number) = values.file_number() else {
                    return Ok(());
                };
                let thread = (place.process, place.thread);
                let file = self.files.touched(thread, values.call);
                let file = file.map(|touched| touched.file);
                let comm = self.comms.reference(place.comm);
                self.files.open(
                    place.process,
                    number,
                    values.path,
                    file,
                    comm,
                    &mut self.strings,
                )
            }
            _ => return Ok(()),
        };
        let access = READ_WRITE;
        let event = Event::Open { handle, access };
        self.archive.write(location, time, &event)
    }
}
