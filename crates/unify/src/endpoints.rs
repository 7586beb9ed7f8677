//! Messages of which one end is not there. The n-th send of a channel is drawn to its n-th receive; so where calls are missing
//! on one side, every arrow behind would be a wrong one.
//!
//! Calls are missing for two reasons. Filters leave out one of the two calls of a message; then it stands for matching only in the blocks
//! (`blockfile::define::MATCHING_ONLY`), and the places of the others in their channel are known. Or nothing is known of them: where only the
//! newest calls were kept, at the beginning; where there was no more room for such calls, behind a `blockfile::define::GAP`. Up to
//! the first such gap places are counted from the beginning. In a run that reached MPI_Finalize every message that was sent
//! has been received, so the last send of a channel belongs to its last receive: behind the last gap places are counted from the
//! end. What cannot be told is left out.
//!
//! Each process counts ([`EndpointCounts`]). Its counts go as [`EndpointItem`]s, in the order of channels, to one that compares the
//! two sides of each channel ([`EndpointComparison`]), and its answer says which endpoints are drawn ([`DrawnEndpoints`]).

use blockfile::args::ByteCursor;
use std::collections::HashMap;
use trace_model::hash::Map;

/// Channel in which messages keep their order: line and rank of the sender, line and rank of the receiver, tag.
pub type MessageChannel = [i32; 5];

/// Most runs of places that a process remembers; beyond that places of a channel count as unknown.
const MAX_RUNS: usize = 1 << 18;

/// Selection of the message endpoints that are drawn.
#[derive(Clone, Debug)]
pub enum DrawnEndpoints {
    /// No message endpoint is drawn.
    None,
    /// On these channels, only the listed endpoints are drawn; on all others, every endpoint.
    Selected(EndpointSelection),
}

/// Messages of a part of one side of a channel, by their places in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct SidePart {
    /// Messages, those of calls for matching only with them.
    length: u64,
    /// Runs of those that could be drawn: place of the first, number.
    shown: Vec<(u64, u64)>,
}

impl SidePart {
    /// One more. True if that takes a run more.
    fn add(&mut self, is_shown: bool) -> bool {
        let place = self.length;
        self.length += 1;
        match self.shown.last_mut() {
            _ if !is_shown => return false,
            Some((first, n)) if *first + *n == place => *n += 1,
            _ => {
                self.shown.push((place, 1));
                return true;
            }
        }
        false
    }

    fn shown(&self) -> u64 {
        self.shown
            .iter()
            .fold(0, |sum, (_, n)| sum.saturating_add(*n))
    }

    /// Places from another zero: behind `before` other messages.
    fn moved(&self, before: i128) -> Vec<PlaceRun> {
        let run = |&(first, n): &(u64, u64)| (i128::from(first) + before, n.into());
        self.shown.iter().map(run).collect()
    }
}

/// Place of the first message, number of messages.
type PlaceRun = (i128, i128);

/// One side of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ChannelSide {
    /// Up to the first gap.
    front: SidePart,
    /// Between the first gap and the last, those that could be drawn if their places were known.
    between: u64,
    /// Behind the last gap, if there is one.
    back: Option<SidePart>,
    /// Gaps of the process that have been seen.
    gaps: u64,
}

impl ChannelSide {
    /// From here on messages may be missing. Gives the number of runs that are forgotten.
    fn cut(&mut self) -> usize {
        let Some(back) = self.back.replace(SidePart::default()) else {
            return 0;
        };
        self.between = self.between.saturating_add(back.shown());
        back.shown.len()
    }

    fn shown(&self) -> u64 {
        let back = self.back.as_ref().map_or(0, SidePart::shown);
        self.front
            .shown()
            .saturating_add(self.between)
            .saturating_add(back)
    }

    /// Whether each message is known, and could be drawn.
    fn is_whole(&self) -> bool {
        self.back.is_none() && self.front.shown() == self.front.length
    }

    /// Number of messages, if it is known.
    fn length(&self) -> Option<u64> {
        self.back.is_none().then_some(self.front.length)
    }

    /// Places of the messages that could be drawn: of those in front, and of those in the back, which count from the end, or if
    /// `length` is that of the channel, from the beginning, too.
    fn places(&self, length: Option<u64>) -> [Vec<PlaceRun>; 2] {
        let zero = length.map_or(0, i128::from);
        let back = self.back.as_ref();
        let known = back
            .map_or(0, |b| b.length)
            .saturating_add(self.front.length);
        if length.is_some_and(|length| length < known) {
            // Something else is missing, and not known to be.
            return [Vec::new(), Vec::new()];
        }
        let back = back.map(|back| back.moved(zero - i128::from(back.length)));
        [self.front.moved(0), back.unwrap_or_default()]
    }
}

/// The messages that one process has sent and received, counted per channel.
#[derive(Clone, Debug, Default)]
pub struct EndpointCounts {
    /// Sends and receives of each channel.
    sides: Map<MessageChannel, [ChannelSide; 2]>,
    /// Gaps so far: of all messages, of sends, of receives with a tag.
    gaps: u64,
    send_gaps: u64,
    tag_gaps: HashMap<i32, u64>,
    runs: usize,
}

impl EndpointCounts {
    /// A message is sent or received; `is_shown` if it could be drawn.
    pub fn add(&mut self, is_send: bool, channel: MessageChannel, is_shown: bool) {
        let gaps = self.gaps_of(is_send, channel);
        let [sends, receives] = self.sides.entry(channel).or_default();
        let side = if is_send { sends } else { receives };
        if side.gaps != gaps {
            side.gaps = gaps;
            self.runs -= side.cut().min(self.runs);
        }
        if self.runs >= MAX_RUNS && is_shown {
            self.runs -= side.cut().min(self.runs);
        }
        let part = side.back.as_mut().unwrap_or(&mut side.front);
        self.runs += usize::from(part.add(is_shown));
    }

    fn gaps_of(&self, is_send: bool, [.., tag]: MessageChannel) -> u64 {
        let own = match is_send {
            true => self.send_gaps,
            false => self.tag_gaps.get(&tag).copied().unwrap_or(0),
        };
        self.gaps + own
    }

    /// Notes a gap: calls may be missing from here on.
    pub fn cut(&mut self) {
        self.gaps += 1;
    }

    /// Something was sent that nothing is known of.
    pub fn cut_sends(&mut self) {
        self.send_gaps += 1;
    }

    /// A message with this tag was received of which no more is known.
    pub fn cut_receives(&mut self, tag: i32) {
        *self.tag_gaps.entry(tag).or_default() += 1;
    }

    /// All that is known, in order of channels.
    pub fn items(mut self) -> Vec<EndpointItem> {
        let mut items = Vec::new();
        let sides = std::mem::take(&mut self.sides);
        for (channel, both) in sides {
            for (is_send, mut side) in [true, false].into_iter().zip(both) {
                if side == ChannelSide::default() {
                    continue;
                }
                if side.gaps != self.gaps_of(is_send, channel) {
                    side.cut();
                }
                side.put(is_send, channel, &mut items);
            }
        }
        items.sort_unstable();
        items
    }
}

/// Something that a process knows of one side of a channel, so that many small messages can hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndpointItem {
    /// The channel that the item is about.
    pub channel: MessageChannel,
    /// One of [`kind`], and whether it is about receives.
    kind: i32,
    a: u64,
    b: u64,
}

mod kind {
    /// The front: number of messages, and of those between the gaps that could be drawn.
    pub const FRONT: i32 = 0;
    /// A run of the front.
    pub const FRONT_RUN: i32 = 2;
    /// The back: number of messages.
    pub const BACK: i32 = 4;
    /// A run of it.
    pub const BACK_RUN: i32 = 6;
    /// Kind of an answer item: numbers of endpoints to leave out and then to draw.
    pub const CHOICE: i32 = 8;
    /// Added, for the side of receives.
    pub const RECEIVES: i32 = 1;
}

impl EndpointItem {
    /// Bytes of an encoded one.
    pub const SIZE: usize = 40;

    /// The item as bytes for the exchange over MPI.
    pub fn encode(self) -> [u8; EndpointItem::SIZE] {
        let mut out = [0; EndpointItem::SIZE];
        let numbers = self.channel.into_iter().chain([self.kind]);
        for (to, n) in out.chunks_exact_mut(4).zip(numbers) {
            to.copy_from_slice(&n.to_ne_bytes());
        }
        out[24..32].copy_from_slice(&self.a.to_ne_bytes());
        out[32..].copy_from_slice(&self.b.to_ne_bytes());
        out
    }

    /// Decodes bytes from [`EndpointItem::encode`]; `None` if they are damaged.
    pub fn decode(bytes: &[u8]) -> Option<EndpointItem> {
        let b = &mut ByteCursor::new(bytes);
        Some(EndpointItem {
            channel: [b.i32()?, b.i32()?, b.i32()?, b.i32()?, b.i32()?],
            kind: b.i32()?,
            a: b.u64()?,
            b: b.u64()?,
        })
    }
}

impl ChannelSide {
    fn put(&self, is_send: bool, channel: MessageChannel, out: &mut Vec<EndpointItem>) {
        let side = if is_send { 0 } else { kind::RECEIVES };
        let mut put = |kind, a, b| {
            let kind = kind + side;
            out.push(EndpointItem {
                channel,
                kind,
                a,
                b,
            });
        };
        put(kind::FRONT, self.front.length, self.between);
        self.front
            .shown
            .iter()
            .for_each(|&(first, n)| put(kind::FRONT_RUN, first, n));
        if let Some(back) = &self.back {
            put(kind::BACK, back.length, 0);
            back.shown
                .iter()
                .for_each(|&(first, n)| put(kind::BACK_RUN, first, n));
        }
    }

    /// Restores what an item tells of this side of a channel.
    fn take(&mut self, item: EndpointItem) {
        match item.kind & !kind::RECEIVES {
            kind::FRONT => {
                self.front.length = item.a;
                self.between = item.b;
            }
            kind::FRONT_RUN => self.front.shown.push((item.a, item.b)),
            kind::BACK => self.back.get_or_insert_default().length = item.a,
            kind::BACK_RUN => self
                .back
                .get_or_insert_default()
                .shown
                .push((item.a, item.b)),
            _ => {}
        }
    }
}

/// The two sides of all channels compared, one after the other: [`EndpointItem`]s of all processes come in order.
#[derive(Debug, Default)]
pub struct EndpointComparison {
    channel: Option<MessageChannel>,
    sides: [ChannelSide; 2],
    /// Whether every process came to its end.
    ended: bool,
    answer: Vec<EndpointItem>,
    left_out: u64,
}

impl EndpointComparison {
    /// A comparison for a run. `ended`: all ranks reached MPI_Finalize; false if the run was killed or ranks are missing.
    pub fn new(ended: bool) -> EndpointComparison {
        EndpointComparison {
            ended,
            ..EndpointComparison::default()
        }
    }

    /// Takes the next item.
    pub fn take(&mut self, item: EndpointItem) {
        if self.channel != Some(item.channel) {
            self.compare();
            self.channel = Some(item.channel);
        }
        let [sends, receives] = &mut self.sides;
        match item.kind & kind::RECEIVES {
            0 => sends.take(item),
            _ => receives.take(item),
        }
    }

    /// The answer, and the number of message endpoints that are left out.
    pub fn finish(mut self) -> (Vec<EndpointItem>, u64) {
        self.compare();
        (self.answer, self.left_out)
    }

    fn compare(&mut self) {
        let [sends, receives] = std::mem::take(&mut self.sides);
        let Some(channel) = self.channel.take() else {
            return;
        };
        // All of both sides, or all of one whose other side is in the trace of another world or of no chosen rank.
        let none = ChannelSide::default();
        let (no_sends, no_receives) = (sends == none, receives == none);
        let is_whole = sends.is_whole() && receives.is_whole();
        if is_whole && (sends.front.length == receives.front.length || no_sends || no_receives) {
            return;
        }
        let length = sends.length().or(receives.length());
        // Messages that were under way when a run was killed are in no order of the end.
        let length = length.filter(|_| self.ended);
        let mut places = [sends.places(length), receives.places(length)];
        if !self.ended {
            places.iter_mut().for_each(|[_, back]| back.clear());
        }
        let [[a, b], [c, d]] = &places;
        let both = match length {
            Some(_) => {
                let all = common(&[&a[..], b].concat(), &[&c[..], d].concat());
                [all.clone(), all]
            }
            None => [common(a, c), common(b, d)],
        };
        for (is_receive, side) in [sends, receives].iter().enumerate() {
            let mut choice = EndpointChoice::default();
            choice.of(&places[is_receive][0], &both[0]);
            choice.skip(side.between);
            choice.of(&places[is_receive][1], &both[1]);
            let shown = side.shown();
            self.left_out += shown - choice.drawn.min(shown);
            if shown == choice.drawn {
                // None of them is left out, and none comes that is not known.
                choice.runs = vec![(0, shown)];
            }
            if choice.runs.is_empty() {
                // A channel that is not named is drawn.
                choice.runs.push((0, 0));
            }
            let kind = kind::CHOICE + is_receive as i32;
            let item = |(a, b)| EndpointItem {
                channel,
                kind,
                a,
                b,
            };
            self.answer.extend(choice.runs.into_iter().map(item));
        }
    }
}

/// Intersection of two lists of runs in ascending order.
fn common(a: &[PlaceRun], b: &[PlaceRun]) -> Vec<PlaceRun> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut out = Vec::new();
    while let (Some(&&(x, n)), Some(&&(y, m))) = (a.peek(), b.peek()) {
        let (first, end) = (x.max(y), (x + n).min(y + m));
        if first < end {
            out.push((first, end - first));
        }
        if x + n <= y + m {
            a.next();
        } else {
            b.next();
        }
    }
    out
}

/// Choice of the endpoints of one side that are drawn, in their order: so many are left out, so many are drawn, and so on; the
/// rest is left out.
#[derive(Debug, Default)]
struct EndpointChoice {
    runs: Vec<(u64, u64)>,
    drawn: u64,
}

impl EndpointChoice {
    fn skip(&mut self, n: u64) {
        if n > 0 {
            self.runs.push((n, 0));
        }
    }

    fn draw(&mut self, n: u64) {
        self.drawn += n;
        match self.runs.last_mut() {
            Some((_, drawn)) => *drawn += n,
            None => self.runs.push((0, n)),
        }
    }

    /// Of the places `own` those that are in `both`.
    fn of(&mut self, own: &[PlaceRun], both: &[PlaceRun]) {
        let begin = own.first().map_or(0, |&(first, _)| first);
        let both = both.iter().copied();
        let mut both = both.skip_while(|&(start, _)| start < begin).peekable();
        for &(first, n) in own {
            let mut at = first;
            while let Some((start, m)) = both.next_if(|&(start, _)| start < first + n) {
                self.skip((start - at) as u64);
                self.draw(m as u64);
                at = start + m;
            }
            self.skip((first + n - at) as u64);
        }
    }
}

/// The endpoints that are drawn, by channel, as [`EndpointComparison::finish`] has it.
#[derive(Clone, Debug, Default)]
pub struct EndpointSelection {
    channels: Map<MessageChannel, [Vec<(u64, u64)>; 2]>,
    /// Message endpoints of the whole run that are not drawn, where that is known.
    pub left_out: u64,
}

impl EndpointSelection {
    /// A selection from the items of an answer, in their order, and the number of endpoints that are left out.
    pub fn new(answer: impl IntoIterator<Item = EndpointItem>, left_out: u64) -> EndpointSelection {
        let mut chosen = EndpointSelection {
            left_out,
            ..EndpointSelection::default()
        };
        for item in answer {
            let sides = chosen.channels.entry(item.channel).or_default();
            sides[(item.kind & kind::RECEIVES) as usize].push((item.a, item.b));
        }
        for [sends, receives] in chosen.channels.values_mut() {
            sends.reverse();
            receives.reverse();
        }
        chosen
    }

    /// Whether the next message endpoint is left out.
    pub fn leaves_out(&mut self, is_send: bool, channel: MessageChannel) -> bool {
        let Some([sends, receives]) = self.channels.get_mut(&channel) else {
            return false;
        };
        let runs = if is_send { sends } else { receives };
        loop {
            match runs.last_mut() {
                None => return true,
                Some((0, 0)) => drop(runs.pop()),
                Some((0, drawn)) => {
                    *drawn -= 1;
                    return false;
                }
                Some((left_out, _)) => {
                    *left_out -= 1;
                    return true;
                }
            }
        }
    }
}

/// The channel of a message, from one of its sides.
pub fn channel(is_send: bool, own: [i32; 2], partner: [i32; 2], tag: i32) -> MessageChannel {
    let ([a, b], [c, d]) = match is_send {
        true => (own, partner),
        false => (partner, own),
    };
    [a, b, c, d, tag]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHANNEL: MessageChannel = [0, 0, 0, 1, 7];

    /// An endpoint at a place of one side.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Endpoint {
        Shown,
        MatchingOnly,
        /// Not known, and neither is that it is not known where.
        Gone,
    }

    /// The places of the endpoints that one side draws; each message has its own.
    fn drawn(sides: &[Vec<Endpoint>; 2], ended: bool) -> [Vec<usize>; 2] {
        let mut items = Vec::new();
        for (is_send, side) in [true, false].into_iter().zip(sides) {
            let mut counts = EndpointCounts::default();
            let mut before = Endpoint::Shown;
            for &endpoint in side {
                match endpoint {
                    Endpoint::Gone if before != Endpoint::Gone => counts.cut(),
                    Endpoint::Gone => {}
                    endpoint => counts.add(is_send, CHANNEL, endpoint == Endpoint::Shown),
                }
                before = endpoint;
            }
            items.extend(counts.items());
        }
        items.sort_unstable();
        let mut comparison = EndpointComparison::new(ended);
        for item in items {
            comparison.take(EndpointItem::decode(&item.encode()).expect("whole"));
        }
        let (answer, left_out) = comparison.finish();
        let mut chosen = EndpointSelection::new(answer, left_out);
        let mut lost = 0;
        let all = [true, false].map(|is_send| {
            let side = &sides[usize::from(!is_send)];
            let mut places = Vec::new();
            for (place, &endpoint) in side.iter().enumerate() {
                if endpoint != Endpoint::Shown {
                    continue;
                }
                match chosen.leaves_out(is_send, CHANNEL) {
                    true => lost += 1,
                    false => places.push(place),
                }
            }
            places
        });
        assert_eq!(lost, left_out, "{sides:?}");
        all
    }

    fn of(text: &str) -> Vec<Endpoint> {
        let endpoint = |c| match c {
            'x' => Endpoint::Shown,
            '-' => Endpoint::MatchingOnly,
            _ => Endpoint::Gone,
        };
        text.chars().map(endpoint).collect()
    }

    #[test]
    fn what_is_known_is_drawn() {
        for (sends, receives, expected) in [
            ("xxxxx", "..xxx", vec![2, 3, 4]),
            ("x-x-x", "xx--x", vec![0, 4]),
            ("xxx..", "..xxx", vec![]),
            ("x..xx", "xxx.x", vec![0, 4]),
            ("xx.-x", "xxxxx", vec![0, 1, 4]),
        ] {
            let found = drawn(&[of(sends), of(receives)], true);
            assert_eq!(found, [expected.clone(), expected], "{sends} {receives}");
        }
        for receives in ["xxxxx", "..xxx"] {
            let found = drawn(&[of("..xxx"), of(receives)], false);
            assert_eq!(found, [Vec::<usize>::new(), Vec::new()], "{receives}");
        }
    }

    proptest! {
        /// Whatever is missing: the n-th of one side is the n-th of the other. Without gaps all pairs are drawn.
        #[test]
        fn no_arrow_is_wrong(
            endpoints in prop::collection::vec((0u8..4, 0u8..4), 0..40),
            gaps in any::<bool>(),
            ended in any::<bool>(),
        ) {
            let endpoint = |n| match n {
                0 if gaps => Endpoint::Gone,
                1 => Endpoint::MatchingOnly,
                _ => Endpoint::Shown,
            };
            let sides = [
                endpoints.iter().map(|&(a, _)| endpoint(a)).collect::<Vec<_>>(),
                endpoints.iter().map(|&(_, b)| endpoint(b)).collect::<Vec<_>>(),
            ];
            let [sends, receives] = drawn(&sides, ended);
            // One side of which nothing at all is known has no arrows.
            if sides.iter().all(|side| side.contains(&Endpoint::Shown)) {
                prop_assert_eq!(&sends, &receives);
            }
            if !gaps {
                let pairs = (0..endpoints.len())
                    .filter(|&i| sides.iter().all(|side| side[i] == Endpoint::Shown));
                let both: Vec<_> = sends.iter().copied().filter(|i| receives.contains(i)).collect();
                prop_assert_eq!(both, pairs.collect::<Vec<_>>());
            }
        }
    }
}
