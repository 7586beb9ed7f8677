//! Replayed time: what the clocks of the ranks would show if computing or communication took another time.

/// Replays that one pass makes at a time.
pub(super) const REPLAYS: usize = 3;
/// The replay in which data moves in no time.
pub(super) const IDEAL: usize = 0;
/// Of the first pass: the replay in which everything takes as long as it did.
pub(super) const MEASURED: usize = 1;
/// Of the second pass: the replay in which all ranks compute as long as the mean.
pub(super) const BALANCED: usize = 1;
/// Of the second pass: the replay in which the slowest state of the program takes half of its time.
pub(super) const FASTER: usize = 2;

/// Seconds since the beginning of the focus, one for each replay.
pub(super) type ReplayClocks = [f64; REPLAYS];

/// The later of two clocks, in each replay.
#[inline]
pub(super) fn later(a: &ReplayClocks, b: &ReplayClocks) -> ReplayClocks {
    std::array::from_fn(|nth| later_of(a[nth], b[nth]))
}

/// The later of two times, which are numbers: one instruction, where [`f64::max`] needs several.
#[inline(always)]
pub(super) fn later_of(a: f64, b: f64) -> f64 {
    if a < b { b } else { a }
}

/// The earlier of two times, which are numbers.
#[inline(always)]
pub(super) fn earlier_of(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// What a replay assumes.
#[derive(Clone, Debug)]
pub(super) struct Assumption {
    /// By lane: factor of the time outside of calls. Where nothing stands it is 1.
    pub computing: Vec<f64>,
    /// A category of the program's own states whose time has another factor.
    pub category: Option<(u32, f64)>,
    /// Factor of the time in calls that is not waiting. File operations and MPI-IO keep theirs.
    pub transfer: f64,
    /// Whether a send that waited for its receive does so in the replay.
    pub sends_wait: bool,
}

impl Assumption {
    /// Computing takes the time it took, and data moves in no time.
    pub(super) fn ideal_network() -> Assumption {
        Assumption {
            computing: Vec::new(),
            category: None,
            transfer: 0.0,
            sends_wait: false,
        }
    }

    /// Everything takes the time it took.
    pub(super) fn as_measured() -> Assumption {
        Assumption {
            transfer: 1.0,
            sends_wait: true,
            ..Assumption::ideal_network()
        }
    }

    /// A state of the program takes half of its time.
    pub(super) fn faster(category: Option<u32>) -> Assumption {
        Assumption {
            category: category.map(|category| (category, 0.5)),
            ..Assumption::as_measured()
        }
    }

    /// Factor of the time that a lane spends in a category outside of calls.
    #[inline]
    pub(super) fn factor(&self, lane: u32, category: Option<u32>) -> f64 {
        let own = self.computing.get(lane as usize).copied().unwrap_or(1.0);
        match self.category {
            Some((wanted, factor)) if category == Some(wanted) => own * factor,
            _ => own,
        }
    }
}
