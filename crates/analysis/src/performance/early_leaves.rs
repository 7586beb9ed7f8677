//! Collective calls that end before all have come whom they need. No call can: the clocks of the ranks differ by a little, and the call waited until its
//! end for the rank that comes last.

use super::arrivals::Arrival;
use super::calls::Finding;
use super::clocks::later;
use super::collective::RankInOperation;
use super::lane::{EarlyLeave, OpenCall, WaitEnd};
use super::pass::WaitPass;

/// Early ends that are kept of a lane: so many calls are made, at most, while the clocks of two ranks differ.
const MAX_KEPT: usize = 16;

impl WaitPass<'_> {
    /// A call, which waited until the first of these times and ended at the second, has left an operation that lacked ranks.
    pub(super) fn leave_early(
        &mut self,
        call: &OpenCall,
        part: &RankInOperation,
        (waited_until, leave): (f64, f64),
    ) {
        let number = call.begun.line.lane;
        let before = self.comms[part.queue as usize].leave_early(part.number, number);
        let lane = &mut self.lanes[number as usize];
        if lane.early_leaves.len() == MAX_KEPT {
            lane.early_leaves.remove(0);
        }
        lane.early_leaves.push(EarlyLeave {
            operation: (part.queue, part.number),
            pattern: part.role.pattern,
            place: call.place(),
            waited_until,
            leave,
            clocks: [later(&call.begun.clocks, &call.needs), lane.clocks],
            before,
        });
    }

    /// A rank comes to an operation that needed no other one any more: calls waited for it that ended early, from the lane `last` on. One that ended earlier
    /// than its own length ago did not: its clock does not differ by so much, and something else is wrong with the trace.
    pub(super) fn end_early_leaves(&mut self, last: u32, part: &RankInOperation, arrival: Arrival) {
        let mut next = Some(last);
        while let Some(number) = next {
            let lane = &mut self.lanes[number as usize];
            let operation = (part.queue, part.number);
            let mut kept = lane.early_leaves.iter();
            let Some(at) = kept.position(|early| early.operation == operation) else {
                return;
            };
            let early = lane.early_leaves.remove(at);
            next = early.before;
            let EarlyLeave { place, leave, .. } = early;
            if arrival.time - leave > leave - place.start || early.waited_until >= leave {
                continue;
            }
            // What the replays did not know when the call ended.
            let [had, ended] = early.clocks;
            let needed = later(&had, &arrival.clocks);
            for (nth, clock) in lane.running_clocks().iter_mut().enumerate() {
                *clock += needed[nth] - ended[nth];
            }
            if let Some(call) = &mut lane.call {
                call.needs = later(&call.begun.clocks, &call.needs);
            }
            self.counts.early_leaves += 1;
            let end = WaitEnd {
                lane: arrival.lane,
                time: leave,
            };
            let from = early.waited_until;
            self.add_wait(place, early.pattern, from, end, Finding::AfterTheCall);
        }
    }
}
