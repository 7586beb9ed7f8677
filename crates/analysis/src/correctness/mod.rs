//! Correctness of a program, as far as its calls tell: collective calls that do not fit each other, messages that nobody receives, objects that nobody frees,
//! calls that failed, and ranks that wait for each other in a circle.
//!
//! Calls come as [`Call`]s of each process in order of completion, those of all processes in about the order of time, so that what is kept until its
//! other part comes stays small. A trace that has drawables only goes through [`drawables::check`].

mod awaited;
mod call;
mod collective;
mod deadlock;
pub mod drawables;
mod ended_receives;
mod failed;
mod findings;
mod left;
mod message;
mod one_sided;
mod pass;
mod posted;
mod process;
mod report;
mod role;
mod unfinished;

pub use call::{
    AskedMessage, AskedTag, Call, CallPlace, CommKey, CompletedOperation, ExchangedBytes,
    FunctionKey, GroupKey, ObjectKind, Peer, ReceivedStatus, Signature, UnfinishedCall, WindowCall,
};
pub use deadlock::{OutsideCalls, WaitsFor};
pub use one_sided::WindowWait;
pub use pass::{Check, CorrectnessPass};
pub use process::ProcessState;
pub use report::{
    CALLED_ABORT, CorrectnessReport, Finding, FindingKind, FoundCall, end_in_words, lines_of_ends,
    rank_list, ranks_in_words,
};

#[cfg(test)]
mod tests;
