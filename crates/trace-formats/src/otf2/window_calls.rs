//! The events of calls on windows.

use super::error::Otf2Error;
use super::event::Event;
use super::events::{EndEvent, EventMaker};
use super::functions::WindowCall;
use super::numbers::{UNDEFINED_REF, collective, sync_level};
use super::one_sided::Reach;
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
            let window = self
                .windows
                .make(process, handle, (place.comm, reference), time);
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
            (WindowCall::Flush { .. }, _) => [None, None],
            (WindowCall::OneSided(kind), Some(target)) => {
                let id = self.windows.next_operation(process);
                let place = (process, window, target);
                if !self.one_sided.begin(place, id, values.request) {
                    let what =
                        "completion of a one-sided operation, of more than 65536 to one rank";
                    self.losses.add(what, 1);
                }
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
            (WindowCall::LockAll, _) => {
                let acquired = WindowEvent::Acquire {
                    window,
                    target: UNDEFINED_REF,
                    is_exclusive: false,
                };
                [Some(acquired), None]
            }
            (WindowCall::UnlockAll, _) => {
                let target = UNDEFINED_REF;
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

    /// Writes which one-sided operations are complete when a call on a window ends.
    pub(super) fn complete_on_window(
        &mut self,
        location: usize,
        time: u64,
        place: &LinePlace,
        call: WindowCall,
        values: &CallValues<'_>,
    ) -> Result<(), Otf2Error> {
        let process = place.process;
        let window = values.handle;
        let Some(window) = window.and_then(|handle| self.windows.get(process, handle)) else {
            return Ok(());
        };
        // Of MPI_Win_fence and MPI_Win_complete the operations are complete at the target when the target's own call has ended.
        let (is_of_all, is_local) = match call {
            WindowCall::Fence | WindowCall::EndEpoch(false) | WindowCall::Free => (true, true),
            WindowCall::Unlock => (false, false),
            WindowCall::UnlockAll => (true, false),
            WindowCall::Flush {
                is_of_all,
                is_local,
            } => (is_of_all, is_local),
            _ => return Ok(()),
        };
        let target = values
            .target
            .and_then(|to| self.comms.rank(window.comm, to));
        let target = target.filter(|_| !is_of_all);
        if target.is_none() && !is_of_all {
            return Ok(());
        }
        let is_over = !matches!(call, WindowCall::Flush { .. });
        let window = window.reference;
        let reach = Reach { is_local, is_over };
        let complete = self.one_sided.complete((process, window), target, reach);
        for (id, is_at_target) in complete {
            let event = match is_at_target {
                false => WindowEvent::CompleteAtOrigin(window, id),
                true => WindowEvent::CompleteAtTarget(window, id),
            };
            self.write_window(location, time, event)?;
        }
        Ok(())
    }

    /// Writes that a one-sided operation is complete at the origin, if a request stands for one.
    pub(super) fn complete_one_sided(
        &mut self,
        location: usize,
        time: u64,
        process: usize,
        request: u32,
    ) -> Result<(), Otf2Error> {
        match self.one_sided.complete_request(process, request) {
            Some((window, id)) => {
                let event = WindowEvent::CompleteAtOrigin(window, id);
                self.write_window(location, time, event)
            }
            None => Ok(()),
        }
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
