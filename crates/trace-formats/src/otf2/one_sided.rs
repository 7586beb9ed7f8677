//! One-sided operations that are not complete.

use std::collections::BTreeMap;

use trace_model::hash::Map;

/// Operations of a process to one rank of a window that are remembered.
const MAX_OPEN: usize = 1 << 16;

/// Operations of a process to a rank of a window, by their numbers in the archive.
#[derive(Debug, Default)]
struct OpenOperations {
    begun: Vec<u64>,
    /// Operations that are complete at the origin and not at the target.
    at_origin: Vec<u64>,
}

/// How far a call completes the operations before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// Only at the origin.
    pub is_local: bool,
    /// Nothing comes of these operations any more.
    pub is_over: bool,
}

/// The operations that are not complete.
#[derive(Debug, Default)]
pub(super) struct OneSidedTable {
    /// By process and window, then by target.
    open: Map<(usize, u32), BTreeMap<u32, OpenOperations>>,
    /// Window, target and number, by process and request.
    requests: Map<(usize, u32), (u32, u32, u64)>,
}

impl OneSidedTable {
    /// An operation of a process on a window begins, to a target. False if there are too many.
    pub(super) fn begin(
        &mut self,
        (process, window, target): (usize, u32, u32),
        id: u64,
        request: Option<u32>,
    ) -> bool {
        let targets = self.open.entry((process, window)).or_default();
        let open = targets.entry(target).or_default();
        if open.begun.len() + open.at_origin.len() >= MAX_OPEN {
            return false;
        }
        open.begun.push(id);
        if let Some(request) = request {
            self.requests
                .insert((process, request), (window, target, id));
        }
        true
    }

    /// A process completes its operations on a window, to one target or to all. Gives the numbers of what is complete now in the order in which it
    /// began, and whether it is so at the target.
    pub(super) fn complete(
        &mut self,
        place: (usize, u32),
        target: Option<u32>,
        reach: Reach,
    ) -> Vec<(u64, bool)> {
        let mut complete = Vec::new();
        let Some(targets) = self.open.get_mut(&place) else {
            return complete;
        };
        let range = target.map_or(0..=u32::MAX, |target| target..=target);
        for (_, open) in targets.range_mut(range) {
            complete.extend(open.begun.iter().map(|&id| (id, false)));
            open.at_origin.append(&mut open.begun);
            if !reach.is_local {
                complete.extend(open.at_origin.iter().map(|&id| (id, true)));
            }
            if !reach.is_local || reach.is_over {
                open.at_origin.clear();
            }
        }
        targets.retain(|_, open| !open.begun.is_empty() || !open.at_origin.is_empty());
        complete.sort_unstable();
        complete
    }

    /// A process completes a request. Gives window and number of the operation that it stands for, if that was not complete at the origin.
    pub(super) fn complete_request(&mut self, process: usize, request: u32) -> Option<(u32, u64)> {
        let (window, target, id) = self.requests.remove(&(process, request))?;
        let open = self.open.get_mut(&(process, window))?.get_mut(&target)?;
        let at = open.begun.iter().rposition(|&begun| begun == id)?;
        open.begun.remove(at);
        open.at_origin.push(id);
        Some((window, id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_complete_once_at_each_end() {
        let mut table = OneSidedTable::default();
        let flush = |is_local| Reach {
            is_local,
            is_over: false,
        };
        assert!(table.begin((0, 0, 1), 10, None));
        assert!(table.begin((0, 0, 2), 11, Some(5)));
        assert!(table.begin((0, 1, 1), 12, None));
        assert!(table.begin((1, 0, 1), 13, Some(5)));
        assert_eq!(table.complete_request(0, 5), Some((0, 11)));
        assert_eq!(table.complete_request(0, 5), None);
        let local = table.complete((0, 0), Some(1), flush(true));
        assert_eq!(local, [(10, false)]);
        assert!(table.complete((0, 0), None, flush(true)).is_empty());
        // One target leaves those to others alone.
        assert!(table.begin((0, 0, 3), 14, None));
        let remote = table.complete((0, 0), Some(1), flush(false));
        assert_eq!(remote, [(10, true)]);
        let remote = table.complete((0, 0), None, flush(false));
        assert_eq!(remote, [(11, true), (14, false), (14, true)]);
        assert!(table.complete((0, 0), None, flush(false)).is_empty());
        // After a fence nothing is said of them any more, nor when the request is completed.
        let fence = Reach {
            is_local: true,
            is_over: true,
        };
        assert_eq!(table.complete((1, 0), None, fence), [(13, false)]);
        assert_eq!(table.complete_request(1, 5), None);
        assert!(table.complete((1, 0), None, flush(false)).is_empty());
        let unlocked = table.complete((0, 1), Some(1), flush(false));
        assert_eq!(unlocked, [(12, false), (12, true)]);
    }
}
