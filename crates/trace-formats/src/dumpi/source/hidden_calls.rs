//! Messages of a channel on which a rank also sends or receives by calls of which DUMPI holds no arguments, as MPI_Mrecv and MPI_Isendrecv.
//!
//! Such calls take messages, or send some, in between. So the n-th send of those that are seen need not belong to the n-th receive. Sizes and times
//! leave few possibilities, and a message is certain if its ends belong together in all of them.

/// Kinds of calls of a channel that the trace may lack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HiddenCalls {
    pub(super) receives: bool,
    pub(super) sends: bool,
}

impl HiddenCalls {
    pub(super) fn are_any(self) -> bool {
        self.receives || self.sends
    }
}

/// Pairs of the places of sends and receives that certainly belong together, where `fits` tells whether a send and a receive may. Both are in
/// the order in which MPI matches them.
///
/// Where calls of both kinds are hidden, as many may be of the one as of the other; then all that are seen have to fit one another.
pub(super) fn certain_pairs(
    (sends, receives): (usize, usize),
    hidden: HiddenCalls,
    fits: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    if receives == sends || receives < sends && !hidden.sends {
        let pairs = certain_places(receives, sends, |receive, send| fits(send, receive));
        return pairs.map(|(receive, send)| (send, receive)).collect();
    }
    if sends < receives && !hidden.receives {
        return certain_places(sends, receives, fits).collect();
    }
    Vec::new()
}

/// Of the ways to give each of `few` a place of its own among `many`, in the same order, what is the same in all of them.
fn certain_places(
    few: usize,
    many: usize,
    fits: impl Fn(usize, usize) -> bool,
) -> impl Iterator<Item = (usize, usize)> {
    let earliest = first_places(few, many, &fits);
    let latest = first_places(few, many, |one, place| {
        fits(few - 1 - one, many - 1 - place)
    });
    let latest = latest.into_iter().rev().map(move |place| many - 1 - place);
    let places = earliest.into_iter().zip(latest).enumerate();
    places.filter_map(|(one, (earliest, latest))| (earliest == latest).then_some((one, earliest)))
}

/// The first place for each of `few`, in order, among `many`; none if there are not enough that fit.
fn first_places(few: usize, many: usize, fits: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut places = 0..many;
    let found = (0..few).map(|one| places.find(|&place| fits(one, place)));
    found.collect::<Option<Vec<usize>>>().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVES: HiddenCalls = HiddenCalls {
        receives: true,
        sends: false,
    };
    const SENDS: HiddenCalls = HiddenCalls {
        receives: false,
        sends: true,
    };
    const BOTH: HiddenCalls = HiddenCalls {
        receives: true,
        sends: true,
    };

    fn by_size(sends: &[u32], receives: &[u32], hidden: HiddenCalls) -> Vec<(usize, usize)> {
        let counts = (sends.len(), receives.len());
        certain_pairs(counts, hidden, |send, receive| {
            sends[send] == receives[receive]
        })
    }

    #[test]
    fn sizes_tell_which_messages_were_taken_by_hidden_receives() {
        assert_eq!(by_size(&[1, 2, 3, 4], &[2, 4], RECEIVES), [(1, 0), (3, 1)]);
        // Either of two of one size may have been taken.
        assert_eq!(by_size(&[1, 1, 2], &[1, 2], RECEIVES), [(2, 1)]);
        assert_eq!(by_size(&[1, 2, 1, 2, 3], &[1, 2, 3], RECEIVES), [(4, 2)]);
        // As many receives as sends: nothing was taken.
        assert_eq!(by_size(&[1, 1], &[1, 1], RECEIVES), [(0, 0), (1, 1)]);
        // More receives than sends, or others: sends are missing, too.
        assert_eq!(by_size(&[1], &[1, 2], RECEIVES), []);
        assert_eq!(by_size(&[1, 2], &[3], RECEIVES), []);
    }

    #[test]
    fn sizes_tell_which_receives_got_messages_of_hidden_sends() {
        assert_eq!(
            by_size(&[20, 21], &[10, 20, 11, 21], SENDS),
            [(0, 1), (1, 3)]
        );
        assert_eq!(by_size(&[7], &[7, 7], SENDS), []);
        assert_eq!(by_size(&[7], &[], SENDS), []);
    }

    #[test]
    fn where_sends_and_receives_are_hidden_all_that_are_seen_have_to_fit() {
        assert_eq!(by_size(&[1, 2], &[1, 2], BOTH), [(0, 0), (1, 1)]);
        assert_eq!(by_size(&[1, 2], &[1, 3], BOTH), []);
        assert_eq!(by_size(&[1, 2], &[2], BOTH), []);
    }
}
