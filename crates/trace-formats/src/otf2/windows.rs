//! Windows of one-sided operations: who makes them, and what is known of them.

use trace_model::hash::Map;

use super::operation_numbers::OperationNumbers;

/// A window of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// Reference of the window.
    pub reference: u32,
    /// Communicator whose ranks have it, as the trace counts them.
    pub comm: i32,
}

/// The windows of a trace. The ranks of a communicator make its windows in one order.
#[derive(Debug, Default)]
pub(super) struct WindowTable {
    /// References of the communicators of the windows, by reference.
    definitions: Vec<u32>,
    /// Names that the program has given, by reference, each with the process that has given it.
    names: Map<u32, (usize, String)>,
    /// By communicator, and number among its windows.
    by_order: Map<(i32, u32), Window>,
    /// Windows of a communicator that a process has made.
    made: Map<(usize, i32), u32>,
    /// By process, and the number that its calls have for the window.
    by_handle: Map<(usize, u32), Window>,
    /// Reference of the group of the epoch of a process at a window: of those that may come, or those to which the rank goes.
    epochs: Map<(usize, u32, bool), u32>,
    operations: OperationNumbers,
    /// By reference of a window the time at which it was first made, ns.
    made_at: Vec<u64>,
}

impl WindowTable {
    /// The window that a call of a process makes at a time in ns, on the communicator of this number and reference.
    pub(super) fn make(
        &mut self,
        process: usize,
        handle: u32,
        (comm, reference): (i32, u32),
        time: u64,
    ) -> Window {
        let made = self.made.entry((process, comm)).or_default();
        let number = *made;
        *made += 1;
        let window = Window {
            reference: self.of_order((comm, reference), number, time),
            comm,
        };
        self.by_handle.insert((process, handle), window);
        window
    }

    /// Of each window the communicator, as the trace counts them, the number among that one's windows, and the time at which it was first made, ns; in the
    /// order of their references.
    pub(super) fn made(&self) -> Vec<(i32, u32, u64)> {
        let mut made: Vec<(i32, u32, u64)> = self.made_at.iter().map(|&at| (0, 0, at)).collect();
        for (&(comm, number), window) in &self.by_order {
            if let Some(place) = made.get_mut(window.reference as usize) {
                (place.0, place.1) = (comm, number);
            }
        }
        made
    }

    /// Reference of the window with this number among those of the communicator of this number and reference. If it is new, it is made at this time in ns.
    pub(super) fn of_order(
        &mut self,
        (comm, reference): (i32, u32),
        number: u32,
        time: u64,
    ) -> u32 {
        let (definitions, made_at) = (&mut self.definitions, &mut self.made_at);
        let window = self.by_order.entry((comm, number)).or_insert_with(|| {
            definitions.push(reference);
            made_at.push(time);
            let reference = u32::try_from(definitions.len() - 1).unwrap_or(0);
            Window { reference, comm }
        });
        window.reference
    }

    /// Names that processes have given to windows: reference, position of the process, name.
    pub(super) fn given_names(&self) -> impl Iterator<Item = (u32, usize, &str)> {
        let names = self.names.iter();
        names.map(|(window, (process, name))| (*window, *process, name.as_str()))
    }

    /// The window that a process has made under this number of its own.
    pub(super) fn get(&self, process: usize, handle: u32) -> Option<Window> {
        self.by_handle.get(&(process, handle)).copied()
    }

    /// A process gives a window a name. That of the first process counts, and of its names the last one.
    pub(super) fn name(&mut self, window: u32, process: usize, name: &[u8]) {
        let known = self.names.get(&window);
        if !name.is_empty() && known.is_none_or(|(known, _)| process <= *known) {
            let name = String::from_utf8_lossy(name).into_owned();
            self.names.insert(window, (process, name));
        }
    }

    /// Names of the windows, by reference.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        (0u32..).zip(&self.definitions).map(|(window, _)| {
            let given = self.names.get(&window);
            given.map_or_else(|| format!("window {window}"), |(_, name)| name.clone())
        })
    }

    /// Number for the next one-sided operation of a process.
    pub(super) fn next_operation(&mut self, process: usize) -> u64 {
        self.operations.next(process)
    }

    /// An epoch of a process at a window begins, with this group: of those that may come (`true`), or those to which the process goes.
    pub(super) fn begin_epoch(
        &mut self,
        process: usize,
        window: u32,
        is_visited: bool,
        group: u32,
    ) {
        self.epochs.insert((process, window, is_visited), group);
    }

    /// Group of the epoch that ends.
    pub(super) fn end_epoch(
        &mut self,
        process: usize,
        window: u32,
        is_visited: bool,
    ) -> Option<u32> {
        self.epochs.remove(&(process, window, is_visited))
    }

    /// References of the communicators of the windows, by reference.
    pub(super) fn definitions(&self) -> &[u32] {
        &self.definitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_the_windows_of_their_communicator() {
        let mut windows = WindowTable::default();
        // Rank 0 makes a window with rank 1, one for itself, and another one with rank 1, which has made none in between.
        let first = windows.make(0, 0, (0, 0), 1);
        let alone = windows.make(0, 1, (5, 3), 2);
        let second = windows.make(0, 2, (0, 0), 3);
        assert_eq!(windows.make(1, 0, (0, 0), 4), first);
        assert_eq!(windows.make(1, 1, (0, 0), 5), second);
        assert_eq!(windows.definitions(), [0, 3, 0]);
        assert_eq!((alone.reference, alone.comm), (1, 5));
        assert_eq!(windows.made(), [(0, 0, 1), (5, 0, 2), (0, 1, 3)]);
        // A number that comes again stands for the new one.
        let third = windows.make(1, 0, (0, 0), 6);
        assert_eq!(third.reference, 3);
        assert_eq!(windows.get(1, 0), Some(third));
        for (process, name) in [(1, &b"other"[..]), (0, b"old"), (0, b"halo"), (0, b"")] {
            windows.name(2, process, name);
        }
        let names: Vec<String> = windows.names().collect();
        assert_eq!(names, ["window 0", "window 1", "halo", "window 3"]);
    }
}
