//! The events of calls on windows.

use super::error::Otf2Error;
use super::event::Event;
use super::events::{EndEvent, EventMaker};
use super::functions::WindowCall;
use super::numbers::{collective, sync_level};
use super::places::LinePlace;
use super::values::{CallValues, numbers};
use super::window_event::{OneSided, WindowEvent};

impl EventMaker {
    /// Writes the events at the start of a call on a window, and gives those at its end.
    pub(super) fn begin_on_window(
        &mut self,
        location: usize,
        time: u64,
        place: &LinePlace,
        call: WindowCall,
        values: &CallValues<'_>,
    ) -> Result<EndEvent, Otf2Error> {
        let Some(handle) = values.handle else {
            self.losses
                .add("call on a window that the trace does not tell", 1);
            return Ok(EndEvent::None);
        };
        let process = place.process;
        if call == WindowCall::Make {
            let reference = self.comms.reference(place.comm);
            let window = self.windows.make(process, handle, place.comm, reference);
            self.write_window(location, time, WindowEvent::Begin)?;
            let end = WindowEvent::End {
                op: collective::CREATE_HANDLE,
                level: sync_level::PROCESS,
                window: window.reference,
            };
            let created = WindowEvent::Create(window.reference);
            return Ok(EndEvent::Window([Some(created), Some(end)]));
        }
        let Some(window) = self.windows.get(process, handle) else {
            self.losses
                .add("call on a window whose making the trace does not tell", 1);
            return Ok(EndEvent::None);
        };
        let target = values
            .target
            .and_then(|to| self.comms.rank(window.comm, to));
        let window = window.reference;
        let both = sync_level::PROCESS | sync_level::MEMORY;
        let end = match (call, target) {
            (WindowCall::Make, _) => [None, None],
            (WindowCall::Name, _) => {
                self.windows.name(window, process, values.name);
                [None, None]
            }
            (WindowCall::Free, _) => {
                self.write_window(location, time, WindowEvent::Begin)?;
                let (op, level) = (collective::DESTROY_HANDLE, both);
                let end = WindowEvent::End { op, level, window };
                [Some(end), Some(WindowEvent::Destroy(window))]
            }
            (WindowCall::Fence, _) => {
                self.write_window(location, time, WindowEvent::Begin)?;
                let (op, level) = (collective::BARRIER, both);
                [Some(WindowEvent::End { op, level, window }), None]
            }
            // Nothing is done to MPI_PROC_NULL.
            (WindowCall::OneSided(_) | WindowCall::Lock | WindowCall::Unlock, None) => [None, None],
            (WindowCall::OneSided(kind), Some(target)) => {
                let id = self.windows.next_operation();
                let bytes = values.bytes.unwrap_or(0);
                let operation = OneSided {
                    window,
                    target,
                    bytes,
                    id,
                };
                self.write_window(location, time, WindowEvent::OneSided(kind, operation))?;
                [None, None]
            }
            (WindowCall::Lock, Some(target)) => {
                let is_exclusive = values.is_exclusive;
                let acquired = WindowEvent::Acquire {
                    window,
                    target,
                    is_exclusive,
                };
                [Some(acquired), None]
            }
            (WindowCall::Unlock, Some(target)) => {
                [Some(WindowEvent::Release { window, target }), None]
            }
            (WindowCall::BeginEpoch(is_visited), _) => {
                let group = self.comms.group_of(&self.places, &numbers(values.ranks));
                self.windows.begin_epoch(process, window, is_visited, group);
                let level = sync_level::PROCESS;
                let sync = WindowEvent::GroupSync {
                    level,
                    window,
                    group,
                };
                [Some(sync), None]
            }
            (WindowCall::EndEpoch(is_visited), _) => {
                let epoch = self.windows.end_epoch(process, window, is_visited);
                let sync = epoch.map(|group| WindowEvent::GroupSync {
                    level: both,
                    window,
                    group,
                });
                [sync, None]
            }
        };
        Ok(EndEvent::Window(end))
    }

    /// Writes an event of a window.
    pub(super) fn write_window(
        &mut self,
        location: usize,
        time: u64,
        event: WindowEvent,
    ) -> Result<(), Otf2Error> {
        self.archive.write(location, time, &Event::Window(event))
    }
}
