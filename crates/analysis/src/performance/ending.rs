//! The ends of states and messages, in order of time.

use std::cmp::Ordering;

/// What ends at a time: a message, or the state of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    pub time: f64,
    /// Messages first, in the order in which they were sent; of states the one that began last.
    order: u64,
    /// Place of the message, or lane.
    pub index: u32,
}

const STATE_ENDS: u64 = 1 << 63;

impl Ending {
    /// Serial number of the state that ends; `None` if it is a message.
    pub(super) fn state_serial(&self) -> Option<u64> {
        (self.order & STATE_ENDS != 0).then(|| STATE_ENDS - 1 - (self.order & (STATE_ENDS - 1)))
    }

    /// A message arrives that was the `number`-th to be sent.
    pub(super) fn message(time: f64, number: u64, index: u32) -> Ending {
        Ending {
            time,
            order: number,
            index,
        }
    }

    /// The state with this serial number ends.
    pub(super) fn state(time: f64, serial: u64, lane: u32) -> Ending {
        Ending {
            time,
            order: STATE_ENDS | (STATE_ENDS - 1 - serial),
            index: lane,
        }
    }
}

impl Ord for Ending {
    fn cmp(&self, other: &Ending) -> Ordering {
        self.time
            .total_cmp(&other.time)
            .then(self.order.cmp(&other.order))
    }
}

impl PartialOrd for Ending {
    fn partial_cmp(&self, other: &Ending) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ending {
    fn eq(&self, other: &Ending) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ending {}
