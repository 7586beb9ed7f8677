//! Messages between the recorders of the ranks, on a communicator of their own ([`meeting`]). Nothing waits beyond the deadline
//! ([`messages`]), and whoever gives up says so to the others ([`giving_up`]).

pub(crate) mod clocks;
pub(crate) mod failure;
pub(crate) mod giving_up;
pub(crate) mod line;
pub(crate) mod meeting;
pub(crate) mod messages;
pub(crate) mod neighbours;
pub(crate) mod patience;
pub(crate) mod peers;
pub(crate) mod reasons;
pub(crate) mod running;
pub(crate) mod spread;
pub(crate) mod tree;
pub(crate) mod under_way;
