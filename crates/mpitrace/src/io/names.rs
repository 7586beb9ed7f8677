//! Names of actors, kinds of operations and stages.

use analysis::io::{Doing, KindKey, OperationOwner, Stage};
use blockfile::operation::{self as op, Layer};
use io_attribution::{Actor, FileRole, OpenedFile, Precision};

/// A CallID as it is shown everywhere.
pub fn callid(call: u64) -> String {
    format!("0x{call:x}")
}

/// `rank 3`, `server 0`, `data server 1`, `device 0`.
pub fn actor(actor: Actor) -> String {
    match actor {
        Actor::Rank(number) => format!("rank {number}"),
        Actor::FrontEnd(number) => format!("server {number}"),
        Actor::DataServer(number) => format!("data server {number}"),
        Actor::Device(number) => format!("device {number}"),
    }
}

pub fn who(who: OperationOwner) -> &'static str {
    match who {
        OperationOwner::Rank => "rank",
        OperationOwner::FrontEnd => "server",
        OperationOwner::DataServer => "data server",
        OperationOwner::Device => "device",
    }
}

pub fn kind(kind: u16) -> String {
    match op::kind(kind) {
        Some(kind) => kind.name.to_owned(),
        None => format!("operation {kind}"),
    }
}

/// A kind with the one who does it, where that is no rank and the name does not tell.
pub fn kind_of(key: KindKey) -> String {
    let is_libc = key.describe().is_some_and(|kind| kind.layer == Layer::Libc);
    if key.role != FileRole::Data && is_libc {
        return format!("{} ({})", kind(key.kind), file_of(key.role));
    }
    match key.who {
        OperationOwner::FrontEnd | OperationOwner::DataServer if is_libc => {
            format!("{} ({})", kind(key.kind), who(key.who))
        }
        OperationOwner::DataServer => format!("{} (data server)", kind(key.kind)),
        _ => kind(key.kind),
    }
}

pub fn doing(doing: Doing) -> &'static str {
    match doing {
        Doing::Read => "read",
        Doing::Write => "write",
        Doing::Lock => "lock",
        Doing::Sync => "sync",
        Doing::Open => "open",
        Doing::Other => "other",
    }
}

pub fn stage(stage: Stage) -> &'static str {
    match (stage.who, stage.layer) {
        (OperationOwner::Rank, _) => "libc calls of ranks",
        (OperationOwner::Device, _) => "device",
        (_, Layer::Request) => "requests at the server",
        (OperationOwner::FrontEnd, Layer::Stripe) => "pieces that the server passed on",
        (_, Layer::Stripe) => "pieces at data servers",
        (OperationOwner::FrontEnd, _) => "disk calls of the server",
        (OperationOwner::DataServer, _) => "disk calls of data servers",
    }
}

pub fn precision(precision: Precision) -> &'static str {
    match precision {
        Precision::Exact => "exact",
        Precision::Page => "page",
        Precision::BoundingExtent => "bounding extent",
        Precision::Ambiguous => "ambiguous",
        Precision::MayCarry => "may carry",
    }
}

pub fn role(role: FileRole) -> &'static str {
    match role {
        FileRole::Data => "data",
        FileRole::SharedPointer => "shared pointer",
        FileRole::Side => "side",
        FileRole::Other => "other",
    }
}

fn file_of(file: FileRole) -> String {
    match file {
        FileRole::Data | FileRole::SharedPointer => role(file).to_owned(),
        _ => format!("{} file", role(file)),
    }
}

/// A file that is not the one of the call: its name without folders, and what it is.
pub fn other_file(file: Option<&OpenedFile>, number: u32) -> String {
    let name = self::file(file, number);
    let short = name.rsplit('/').next().unwrap_or(&name);
    match file {
        Some(file) if file.role != FileRole::Data => format!("{} {short}", file_of(file.role)),
        _ => short.to_owned(),
    }
}

/// The name of a file, or its number where it has none.
pub fn file(file: Option<&OpenedFile>, number: u32) -> String {
    match file {
        Some(file) if !file.name.is_empty() => file.name.clone(),
        _ => format!("file {number}"),
    }
}
