//! Finds the operations that a call of the families of MPI_Wait and MPI_Test has completed.

use super::arguments::{Arguments, ParameterIndex};
use blockfile::args::ArgValues;
use blockfile::encode::MpiStatus;
use blockfile::record::Record as Call;
use trace_model::requests::RequestCall;
use wrappers::{Function, Kind};

/// The requests of a call that it completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CompletedRequests {
    One,
    Any,
    All,
    Some,
}

/// Positions of the arguments of a call that completes or tests requests.
#[derive(Clone, Copy, Debug)]
pub struct Completion {
    which: CompletedRequests,
    requests: ParameterIndex,
    flag: Option<ParameterIndex>,
    index: Option<ParameterIndex>,
    statuses: ParameterIndex,
}

/// A completed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// Handle of its request before the call.
    pub request: u64,
    /// Status of the operation, if there is one in the record.
    pub status: Option<MpiStatus>,
    /// Whether the operation did what it was meant to do.
    pub worked: bool,
}

/// The call of a thread, as the requests that it makes or completes see it.
#[inline]
pub fn request_call(call: &Call<'_>, thread: i32) -> RequestCall {
    RequestCall {
        thread,
        start: call.start as i64,
        stop: call.stop() as i64,
    }
}

impl Completion {
    /// Argument positions of a function of class `complete` or `test`; `None` for other functions.
    pub fn new(function: &Function) -> Option<Completion> {
        let first = |kind| function.first(kind);
        let is_array = |i: ParameterIndex| function.params.get(i).is_some_and(|p| p.len.is_some());
        let requests = first(Kind::Request)?;
        let index = first(Kind::Index);
        Some(Completion {
            which: match index {
                Some(index) if is_array(index) => CompletedRequests::Some,
                Some(_) => CompletedRequests::Any,
                None if is_array(requests) => CompletedRequests::All,
                None => CompletedRequests::One,
            },
            requests,
            flag: first(Kind::Logical),
            index,
            statuses: first(Kind::Status)?,
        })
    }

    /// Gives each operation that `call` has completed to `sink`. `arguments` is the plan of its function.
    #[inline]
    pub fn each<'t>(
        &self,
        arguments: &impl AsRef<Arguments<'t>>,
        call: &Call<'_>,
        mut sink: impl FnMut(Completed),
    ) {
        let (arguments, payload) = (arguments.as_ref(), call.payload);
        if self.which != CompletedRequests::One {
            self.of_many(arguments, call, sink);
            return;
        }
        if self
            .flag
            .is_some_and(|f| arguments.int(payload, f) == Some(0))
        {
            return;
        }
        if let Some(request) = arguments.handle(payload, self.requests) {
            sink(Completed {
                request,
                status: arguments.status(payload, self.statuses),
                worked: call.code == 0,
            });
        }
    }

    fn of_many(&self, arguments: &Arguments<'_>, call: &Call<'_>, mut sink: impl FnMut(Completed)) {
        // Filled where it stays: it is large.
        let mut args = ArgValues::none();
        if arguments.fill(call.payload, &mut args).is_none() {
            return;
        }
        let Some(requests) = args.array(self.requests) else {
            return;
        };
        if self.flag.is_some_and(|f| args.int(f) == Some(0)) {
            return;
        }
        let at = |i: i64| requests.get(usize::try_from(i).ok()?).map(|h| h as u64);
        if self.which == CompletedRequests::Any {
            // MPI_UNDEFINED is negative.
            if let Some(request) = self.index.and_then(|i| at(args.int(i)?)) {
                sink(Completed {
                    request,
                    status: args.status(self.statuses),
                    worked: call.code == 0,
                });
            }
            return;
        }
        let statuses = args.array(self.statuses);
        let mut statuses = statuses.iter().flat_map(|a| a.statuses()).fuse();
        let mut one = |request: Option<u64>| {
            let status = statuses.next().flatten();
            let Some(request) = request else { return };
            let worked = match status {
                _ if call.code == 0 => true,
                // Of a call that failed, each status tells what became of its operation. One that is still under way has none.
                Some(s) => s.error == 0,
                None => return,
            };
            sink(Completed {
                request,
                status,
                worked,
            });
        };
        match (self.which, self.index.and_then(|i| args.array(i))) {
            (CompletedRequests::Some, Some(indices)) => indices.ints().for_each(|i| one(at(i))),
            (CompletedRequests::Some, None) => {}
            _ => requests.ints().for_each(|h| one(Some(h as u64))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_follows_from_the_parameters() {
        let table = wrappers::table().unwrap();
        let kind = |name: &str| {
            let completion = Completion::new(table.get(name).unwrap()).unwrap();
            (completion.which, completion.flag.is_some())
        };
        assert_eq!(kind("MPI_Wait"), (CompletedRequests::One, false));
        assert_eq!(kind("MPI_Waitany"), (CompletedRequests::Any, false));
        assert_eq!(kind("MPI_Waitall"), (CompletedRequests::All, false));
        assert_eq!(kind("MPI_Waitsome"), (CompletedRequests::Some, false));
        assert_eq!(kind("MPI_Test"), (CompletedRequests::One, true));
        assert_eq!(kind("MPI_Testany"), (CompletedRequests::Any, true));
        assert_eq!(kind("MPI_Testall"), (CompletedRequests::All, true));
        assert_eq!(kind("MPI_Testsome"), (CompletedRequests::Some, false));
    }
}
