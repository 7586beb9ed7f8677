//! A thread that writes the nodes of a tree while others are being filled. The file is the same.

use std::io::{Seek, Write};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::{io, panic};

use super::super::error::Slog2Error;
use super::drawables::Drawables;
use super::node_file::{ClosedNode, NodeFile};

/// Closed nodes that wait for the thread, at most, by the size of leaves in bytes: some, since a thread that sleeps takes its time to
/// wake up, but few where they are large. Leaves of ten thousand timelines have 16 MB.
fn max_waiting(leaf_byte_size: usize) -> usize {
    ((1 << 20) / leaf_byte_size.max(1)).clamp(1, 32)
}

/// Whoever writes closed nodes, and is not who adds drawables.
pub(super) trait NodesElsewhere<W> {
    /// Has a node written. Gives room for the drawables of another one.
    ///
    /// # Errors
    /// Why one of the nodes so far could not be written.
    fn write(&mut self, node: ClosedNode) -> Result<[Drawables; 2], Slog2Error>;

    /// Where the next node comes in the file; 0 if one could not be written.
    fn position(&self) -> u64;

    /// Waits until all nodes are written, and gives the file.
    ///
    /// # Errors
    /// Why one of the nodes could not be written.
    fn finish(self: Box<Self>) -> Result<Box<NodeFile<W>>, Slog2Error>;
}

/// What the thread is to do.
enum Order {
    Write(Box<ClosedNode>),
    /// To tell where the next node comes, when all before are written.
    TellPosition(Sender<u64>),
}

/// How the thread ends: with the file.
type Outcome<W> = Result<Box<NodeFile<W>>, Slog2Error>;

/// The writing end of the tree, on a thread of its own.
struct NodeThread<W> {
    /// `None` once there is nothing more to do.
    orders: Option<SyncSender<Order>>,
    /// What the drawables of written nodes were in.
    emptied: Receiver<[Drawables; 2]>,
    /// `None` once its outcome is known.
    thread: Option<JoinHandle<Outcome<W>>>,
}

/// Goes on with a file on a thread, with leaves of so many bytes; gives it back if no thread is to be had.
pub(super) fn start<W: Write + Seek + Send + 'static>(
    file: Box<NodeFile<W>>,
    leaf_byte_size: usize,
) -> Result<Box<dyn NodesElsewhere<W> + Send>, Box<NodeFile<W>>> {
    let (orders, to_do) = mpsc::sync_channel(max_waiting(leaf_byte_size));
    let (done, emptied) = mpsc::channel();
    // It gets the file when it is there, as a closure would take the file with it where none is to be had.
    let (give, taken) = mpsc::channel();
    let work = move || match taken.recv() {
        Ok(file) => work(file, &to_do, &done),
        Err(_) => Err(already_told()),
    };
    let Ok(thread) = thread::Builder::new().spawn(work) else {
        return Err(file);
    };
    give.send(file).map_err(|unsent| unsent.0)?;
    Ok(Box::new(NodeThread {
        orders: Some(orders),
        emptied,
        thread: Some(thread),
    }))
}

impl<W> NodeThread<W> {
    /// Ends the thread; `None` if it has ended before.
    fn end(&mut self) -> Result<Option<Box<NodeFile<W>>>, Slog2Error> {
        self.orders = None;
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(None),
            Some(Ok(outcome)) => outcome.map(Some),
            Some(Err(panicked)) => panic::resume_unwind(panicked),
        }
    }
}

impl<W> NodesElsewhere<W> for NodeThread<W> {
    fn write(&mut self, node: ClosedNode) -> Result<[Drawables; 2], Slog2Error> {
        let order = Order::Write(Box::new(node));
        let sent = self.orders.as_ref().map(|orders| orders.send(order));
        if !matches!(sent, Some(Ok(()))) {
            // It ends before its time only if something is wrong.
            self.end()?;
            return Err(already_told());
        }
        Ok(self.emptied.try_recv().unwrap_or_default())
    }

    fn position(&self) -> u64 {
        let (answer, position) = mpsc::channel();
        if let Some(orders) = &self.orders {
            drop(orders.send(Order::TellPosition(answer)));
        }
        position.recv().unwrap_or(0)
    }

    fn finish(mut self: Box<Self>) -> Outcome<W> {
        self.end()?.ok_or_else(already_told)
    }
}

impl<W> Drop for NodeThread<W> {
    /// A file that is given up is gone afterwards.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What is said to who goes on after an error.
fn already_told() -> Slog2Error {
    Slog2Error::io(0, io::Error::other("a former node could not be written"))
}

/// The work of the thread.
fn work<W: Write + Seek>(
    mut file: Box<NodeFile<W>>,
    orders: &Receiver<Order>,
    emptied: &Sender<[Drawables; 2]>,
) -> Outcome<W> {
    for order in orders {
        match order {
            Order::Write(node) => {
                let sides = file.write(*node)?;
                // Who fills nodes may have come to an end.
                let _ = emptied.send(sides);
            }
            Order::TellPosition(answer) => {
                let _ = answer.send(file.out.position());
            }
        }
    }
    Ok(file)
}
