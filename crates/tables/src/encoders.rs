//! Threads that write files: encoding and compressing take longer than gathering rows.

use crate::error::TablesErrorKind;
use crate::table::{TableFiles, TableLayout};
use arrow_array::RecordBatch;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Most threads.
const MAX_THREADS: usize = 16;
/// Batches that may wait for a thread.
const WAITING: usize = 8;

/// A table, for the thread that writes it.
#[derive(Debug)]
pub struct TablePlace {
    /// Number of the table, which no other has.
    pub number: usize,
    /// Folder of its files.
    pub folder: PathBuf,
    /// How its files are written.
    pub layout: Arc<TableLayout>,
}

/// Rows of a table.
type Step = (Arc<TablePlace>, RecordBatch);

/// A thread and the way to it.
struct Encoder {
    to: SyncSender<Step>,
    thread: JoinHandle<Result<(), TablesErrorKind>>,
}

/// All threads. Each table is written by one of them, so that its rows stay in order.
#[derive(Default)]
pub struct Encoders {
    encoders: Vec<Encoder>,
}

impl Encoders {
    /// Starts a thread for each core but one, which gathers rows.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start() -> io::Result<Encoders> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut encoders = Encoders::default();
        for _ in 0..cores.saturating_sub(1).clamp(1, MAX_THREADS) {
            let (to, steps) = sync_channel(WAITING);
            let name = "mpitrace tables".to_owned();
            let thread = thread::Builder::new().name(name);
            let thread = thread.spawn(move || write(&steps))?;
            encoders.encoders.push(Encoder { to, thread });
        }
        Ok(encoders)
    }

    /// Has rows written.
    ///
    /// # Errors
    /// The thread that writes the table has failed, now or before.
    pub fn write(
        &mut self,
        table: &Arc<TablePlace>,
        batch: RecordBatch,
    ) -> Result<(), TablesErrorKind> {
        let nth = table.number % self.encoders.len().max(1);
        let sent = match self.encoders.get(nth) {
            Some(encoder) => encoder.to.send((table.clone(), batch)).is_ok(),
            None => false,
        };
        match sent {
            true => Ok(()),
            false => self.end().and(Err(ended_early())),
        }
    }

    /// Waits until all files are complete.
    ///
    /// # Errors
    /// The first error of a thread.
    pub fn end(&mut self) -> Result<(), TablesErrorKind> {
        let mut ended = Ok(());
        for Encoder { to, thread } in self.encoders.drain(..) {
            drop(to);
            let written = thread.join().unwrap_or_else(|_| Err(ended_early()));
            ended = ended.and(written);
        }
        ended
    }
}

impl Drop for Encoders {
    /// Nobody writes into the folder any more, so it can be removed.
    fn drop(&mut self) {
        // Whoever drops threads that have not ended has an error already.
        let _ = self.end();
    }
}

fn ended_early() -> TablesErrorKind {
    io::Error::other("a thread that writes tables has ended early").into()
}

/// Writes what comes.
fn write(steps: &Receiver<Step>) -> Result<(), TablesErrorKind> {
    let mut tables: BTreeMap<usize, TableFiles> = BTreeMap::new();
    for (table, batch) in steps {
        let files = tables
            .entry(table.number)
            .or_insert_with(|| TableFiles::new(table.folder.clone(), table.layout.clone()));
        files.write(&batch)?;
    }
    tables.values_mut().try_for_each(TableFiles::end)
}
