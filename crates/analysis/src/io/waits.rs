//! Time of a collective call by cause.

/// Time of a collective call by cause, ns. The parts add up to the duration of the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Time in which operations of the call itself ran, ns.
    pub own: u64,
    /// None of its own, but operations of other ranks of its group.
    pub others: u64,
    /// None at all, and some rank of the group had not come yet.
    pub late: u64,
    /// None at all, and all ranks were there: exchange of data between the ranks, copying, waiting without operations.
    pub rest: u64,
}

impl Waits {
    /// Adds the parts of another call.
    pub(super) fn add(&mut self, other: &Waits) {
        self.own = self.own.saturating_add(other.own);
        self.others = self.others.saturating_add(other.others);
        self.late = self.late.saturating_add(other.late);
        self.rest = self.rest.saturating_add(other.rest);
    }

    /// The whole call.
    pub fn all(&self) -> u64 {
        let parts = [self.own, self.others, self.late, self.rest];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}
