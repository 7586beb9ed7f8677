//! Numbers of requests, as infos of calls have them.

use trace_model::hash::Map;

use super::super::numbers::REQUEST;
use super::super::requests::request_of_id;
use super::definitions::GlobalDefinitions;

/// Requests of a rank that are not complete.
#[derive(Debug, Default)]
struct RankRequests {
    last: u32,
    numbers: Map<u64, u32>,
}

/// Requests of all ranks that are not complete. They are numbered in the order in which each process makes them, unless the archive tells the
/// numbers that they had.
#[derive(Debug)]
pub(super) struct RequestNumbers {
    by_rank: Map<i32, RankRequests>,
    are_told: bool,
}

impl RequestNumbers {
    /// `is_own` says that mpitrace has written the archive.
    pub(super) fn new(definitions: &GlobalDefinitions, is_own: bool) -> RequestNumbers {
        let mut attributes = definitions.attributes.values();
        let has_request = attributes.any(|(name, _)| definitions.text(*name) == REQUEST);
        RequestNumbers {
            by_rank: Map::default(),
            are_told: is_own && has_request,
        }
    }

    /// A request begins an operation; gives its number.
    pub(super) fn begin(&mut self, rank: i32, request: u64) -> Option<u32> {
        if self.are_told {
            return Some(request_of_id(request));
        }
        let requests = self.by_rank.entry(rank).or_default();
        let number = requests.last;
        requests.last = (number + 1) & i32::MAX as u32;
        requests.numbers.insert(request, number);
        Some(number)
    }

    /// The operation of a request is complete; gives the number of the request, if it has begun one.
    pub(super) fn complete(&mut self, rank: i32, request: u64) -> Option<u32> {
        if self.are_told {
            return Some(request_of_id(request));
        }
        self.by_rank.get_mut(&rank)?.numbers.remove(&request)
    }
}
