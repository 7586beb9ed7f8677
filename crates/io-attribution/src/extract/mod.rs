//! Extraction of attribution events from one block file, in order of time.
//!
//! The record of a call follows those of the operations in it, because it is written when the call returns; the attribution needs
//! the call first. So two cursors read each thread ([`walk`]): one runs ahead to the next call, the other follows with the
//! operations. Memory holds the two positions only.
//!
//! [`rank`] makes events of a rank's calls, [`operations`] of its operations, and [`handles`] keeps its open files. [`server`]
//! is for servers and devices.

mod handles;
mod machine;
mod operations;
mod out;
mod rank;
mod server;
mod walk;

use super::event::AttributionEvent;
use super::record::Actor;
use blockfile::define::{Definition, SERVER, ServerDefinition, ServerKind};
use blockfile::file::BlockFile;
use out::ReadyEvents;
use unify::scan::Scan;
use unify::schema::Schema;

/// Reads the attribution events of one block file.
#[derive(Debug)]
pub struct EventExtract<'a> {
    kind: ProcessExtract<'a>,
    out: ReadyEvents,
}

#[derive(Debug)]
enum ProcessExtract<'a> {
    Rank(Box<rank::RankExtract<'a>>),
    Server(Box<server::ServerExtract<'a>>),
    /// A process whose MPI_Init has not returned.
    Nobody,
}

impl<'a> EventExtract<'a> {
    /// An extractor for `file`. `scan` must be made from the same file; its clock gives the times.
    pub fn new(file: &BlockFile<'a>, scan: &'a Scan, schema: &'a Schema<'_>) -> EventExtract<'a> {
        let mut out = ReadyEvents::new(Actor::Rank(scan.rank().unwrap_or(0)));
        let kind = if scan.rank().is_some() {
            ProcessExtract::Rank(Box::new(rank::RankExtract::new(
                file, scan, schema, &mut out,
            )))
        } else if let Some(server) = server_of(file) {
            out.actor = actor(&server);
            ProcessExtract::Server(Box::new(server::ServerExtract::new(file, scan, &mut out)))
        } else {
            ProcessExtract::Nobody
        };
        EventExtract { kind, out }
    }

    /// The next event and its time, ns on rank 0's clock; times never decrease. `None` at the end.
    #[allow(clippy::should_implement_trait, reason = "named by those who need it")]
    pub fn next(&mut self) -> Option<(i64, AttributionEvent)> {
        while self.out.ready.is_empty() {
            let more = match &mut self.kind {
                ProcessExtract::Rank(rank) => rank.step(&mut self.out),
                ProcessExtract::Server(server) => server.step(&mut self.out),
                ProcessExtract::Nobody => false,
            };
            if !more && self.out.ready.is_empty() {
                return None;
            }
        }
        self.out.ready.pop_front()
    }
}

/// Server or device whose process wrote `file`; `None` for a rank.
pub(super) fn server_of(file: &BlockFile<'_>) -> Option<ServerDefinition> {
    // It stands among the first definitions.
    let mut records = file.threads().first()?.records();
    while let Some(record) = records.next() {
        if !record.is_definition() {
            return None;
        }
        if record.function == SERVER
            && let Some(Definition::Server(server)) = Definition::decode(SERVER, record.payload)
        {
            return Some(server);
        }
    }
    None
}

fn actor(server: &ServerDefinition) -> Actor {
    match server.role {
        ServerKind::FrontEnd => Actor::FrontEnd(server.number),
        ServerKind::DataServer => Actor::DataServer(server.number),
        ServerKind::Device => Actor::Device(server.number),
    }
}
