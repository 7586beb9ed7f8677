//! One block file becomes its items, in order of time.
//!
//! A call's record stands behind those of the operations in it, since it is written when the call returns. AttributionEventKind the
//! attribution needs first is the call. So each thread is read by two cursors ([`walk`]): one runs ahead to the
//! next call, the other one follows with the operations. Nothing is kept but the two places.
//!
//! [`rank`] makes items of a rank's calls, [`operations`] of its operations, [`handles`] knows its open files; [`server`]
//! is for processes that are no ranks.

mod handles;
mod machine;
mod operations;
mod out;
mod rank;
mod server;
mod walk;

use super::fact::Actor;
use super::item::AttributionEvent;
use blockfile::define::{Definition, SERVER, ServerDefinition, ServerKind};
use blockfile::file::File;
use out::ReadyEvents;
use unify::scan::Scan;
use unify::schema::Schema;

/// The items of one block file.
#[derive(Debug)]
pub struct Extract<'a> {
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

impl<'a> Extract<'a> {
    /// Of the file that `scan` was made of; times are those of its clock.
    pub fn new(file: &File<'a>, scan: &'a Scan, schema: &'a Schema<'_>) -> Extract<'a> {
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
        Extract { kind, out }
    }

    /// The next item and its time, ns on rank 0's clock; times never go back.
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

/// AttributionEventKind the process of `file` is, if it is no rank but one of those whose operations are followed.
pub(super) fn server_of(file: &File<'_>) -> Option<ServerDefinition> {
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
