//! Numbers of requests: in the order in which each process makes them, as infos of calls have them.

use trace_model::hash::Map;

/// Requests of a rank that are not complete.
#[derive(Debug, Default)]
struct RankRequests {
    last: u32,
    numbers: Map<u64, u32>,
}

/// Requests of all ranks that are not complete.
#[derive(Debug, Default)]
pub(super) struct RequestNumbers {
    by_rank: Map<i32, RankRequests>,
}

impl RequestNumbers {
    /// A request begins an operation; gives its number.
    pub(super) fn begin(&mut self, rank: i32, request: u64) -> u32 {
        let requests = self.by_rank.entry(rank).or_default();
        let number = requests.last;
        requests.last = (number + 1) & i32::MAX as u32;
        requests.numbers.insert(request, number);
        number
    }

    /// The operation of a request is complete; gives the number of the request, if it has begun one.
    pub(super) fn complete(&mut self, rank: i32, request: u64) -> Option<u32> {
        self.by_rank.get_mut(&rank)?.numbers.remove(&request)
    }
}
