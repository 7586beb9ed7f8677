//! Totals of a whole trace: by kind, by line, between lines, over time.

use trace_formats::slog2::{Category, Topology};
use trace_model::{InfoValue, MessageField, info_values};

/// Drawables of a kind that are kept as the longest ones.
pub const MAX_LONGEST: usize = 100;
/// Classes of durations; see [`duration_class`].
pub const DURATION_CLASSES: usize = 64;
/// Classes of sizes: 0, 1, 2 to 3, 4 to 7, … bytes.
pub const SIZE_CLASSES: usize = 65;
/// Groups of lines that messages are counted between, at most.
pub const MAX_LINE_GROUPS: u32 = 256;

/// Drawables of a kind: their number and durations in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DurationSum {
    /// Number of drawables.
    pub count: u64,
    /// Sum of durations. An arrow's duration is that between its ends, an event has none.
    pub inclusive: f64,
    /// Sum of durations of states without the states that are nested directly in them; 0 for arrows and events.
    pub exclusive: f64,
    /// Shortest duration; infinite if there are no drawables.
    pub min: f64,
    /// Longest duration; minus infinity if there are no drawables.
    pub max: f64,
}

impl Default for DurationSum {
    fn default() -> Self {
        DurationSum {
            count: 0,
            inclusive: 0.0,
            exclusive: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }
}

impl DurationSum {
    #[inline]
    pub(super) fn add(&mut self, duration: f64) {
        self.count += 1;
        self.inclusive += duration;
        if duration < self.min {
            self.min = duration;
        }
        if duration > self.max {
            self.max = duration;
        }
    }

    /// Takes over the drawables of another one.
    pub fn join(&mut self, other: &DurationSum) {
        self.count += other.count;
        self.inclusive += other.inclusive;
        self.exclusive += other.exclusive;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageVolume {
    /// Messages.
    pub count: u64,
    /// Bytes of those whose size is known.
    pub bytes: u64,
}

impl MessageVolume {
    #[inline]
    pub(super) fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// One of the longest drawables of a kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongDrawable {
    /// Seconds.
    pub duration: f64,
    /// Seconds; of an arrow the time of the send.
    pub start: f64,
    /// Number of the line it is on, of an arrow that of the send.
    pub line: u32,
}

/// All drawables of a kind.
#[derive(Clone, Debug, PartialEq)]
pub struct KindTotals {
    /// Sum of the durations.
    pub sum: DurationSum,
    /// Number of drawables by class of duration ([`duration_class`]); 0 for events.
    pub durations: [u64; DURATION_CLASSES],
    /// The longest of them, the longest first, at most [`MAX_LONGEST`]; of events none.
    pub longest: Vec<LongDrawable>,
    /// Bytes of the messages, of arrows that have a size.
    pub bytes: u64,
}

impl Default for KindTotals {
    fn default() -> Self {
        KindTotals {
            sum: DurationSum::default(),
            durations: [0; DURATION_CLASSES],
            longest: Vec::new(),
            bytes: 0,
        }
    }
}

/// All drawables of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineTotals {
    /// Sums by kind, ascending, without kinds that do not occur. Arrows count on the line of their send.
    pub kinds: Vec<(u32, DurationSum)>,
    /// Start of the first state; infinite if there are none.
    pub first: f64,
    /// End of the last state; minus infinity if there are none.
    pub last: f64,
    /// Seconds in any state.
    pub busy: f64,
    /// Messages sent.
    pub sent: MessageVolume,
    /// Messages received.
    pub received: MessageVolume,
}

impl Default for LineTotals {
    fn default() -> Self {
        LineTotals {
            kinds: Vec::new(),
            first: f64::INFINITY,
            last: f64::NEG_INFINITY,
            busy: 0.0,
            sent: MessageVolume::default(),
            received: MessageVolume::default(),
        }
    }
}

/// Messages from one line to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageFlow {
    /// Group of the sender's line.
    pub from: u32,
    /// Group of the receiver's line.
    pub to: u32,
    /// Number and bytes of the messages.
    pub volume: MessageVolume,
}

/// All arrows.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageTotals {
    /// Neighbouring lines that are one group; 1 if each line is a group.
    pub group: u32,
    /// Message flows by sender and receiver, ascending, without empty pairs.
    pub flows: Vec<MessageFlow>,
    /// Messages of known size by class of size ([`size_class`]).
    pub sizes: [MessageVolume; SIZE_CLASSES],
    /// Arrows that end before they start, which clocks that differ make of messages.
    pub backward: u64,
    /// Arrows whose info tells no size.
    pub without_size: u64,
}

impl Default for MessageTotals {
    fn default() -> Self {
        MessageTotals {
            group: 1,
            flows: Vec::new(),
            sizes: [MessageVolume::default(); SIZE_CLASSES],
            backward: 0,
            without_size: 0,
        }
    }
}

/// Totals of a whole trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceTotals {
    /// Drawables.
    pub drawables: u64,
    /// Drawables that are in no other number here: times that are no numbers, lines that nothing defines.
    pub placeless: u64,
    /// States that did not come in order of their start, as files of other programs may have them: exclusive times are
    /// not exact then.
    pub out_of_order: u64,
    /// Totals by kind.
    pub kinds: Vec<KindTotals>,
    /// Totals by line.
    pub lines: Vec<LineTotals>,
    /// Arrows.
    pub messages: MessageTotals,
}

/// Class of a duration: 0 for less than 2⁻³⁰ s (about a nanosecond), then one for each power of two.
#[inline]
pub fn duration_class(seconds: f64) -> usize {
    // The exponent of a float that is not negative.
    let exponent = ((seconds.max(0.0).to_bits() >> 52) & 0x7ff) as i64 - 1023;
    (exponent + 31).clamp(0, DURATION_CLASSES as i64 - 1) as usize
}

/// Lower bound of a class of durations, seconds.
pub fn duration_from(class: usize) -> f64 {
    match class {
        0 => 0.0,
        _ => (class as f64 - 31.0).exp2(),
    }
}

/// Class of a size: 0 for 0, else the number of binary digits.
#[inline]
pub fn size_class(bytes: u64) -> usize {
    (u64::BITS - bytes.leading_zeros()) as usize
}

/// Lower bound of a class of sizes, bytes.
pub fn size_from(class: usize) -> u64 {
    match class {
        0 => 0,
        _ => 1 << (class - 1).min(63),
    }
}

/// Place of the size of a message in the infos of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SizeField {
    /// A size in 4 bytes, so many bytes from the start.
    Int(usize),
    /// A size in 8 bytes, so many bytes from the start.
    LongDrawable(usize),
    /// Behind a text: to be looked for.
    Somewhere,
    /// Arrows of the kind are no messages.
    Nowhere,
}

impl SizeField {
    pub fn of(category: &Category) -> Self {
        let fields = category
            .info_keys
            .iter()
            .map(|key| MessageField::of(&key.0));
        let has = |field| fields.clone().any(|found| found == Some(field));
        let is_message = has(MessageField::Tag) && has(MessageField::Size);
        if category.topology != Topology::Arrow || !is_message {
            return SizeField::Nowhere;
        }
        let mut at = 0;
        for (field, kind) in fields.zip(&category.info_types) {
            let is_it = field == Some(MessageField::Size);
            at += match kind {
                b'd' if is_it => return SizeField::Int(at),
                b'l' if is_it => return SizeField::LongDrawable(at),
                b'h' => 2,
                b'd' | b'x' | b'e' => 4,
                b'l' | b'X' | b'E' => 8,
                _ => return SizeField::Somewhere,
            };
        }
        SizeField::Somewhere
    }

    #[inline]
    pub fn get(self, category: &Category, info: &[u8]) -> Option<u64> {
        let size = match self {
            SizeField::Nowhere => return None,
            SizeField::Int(at) => i64::from(i32::from_be_bytes(*info.get(at..)?.first_chunk()?)),
            SizeField::LongDrawable(at) => i64::from_be_bytes(*info.get(at..)?.first_chunk()?),
            SizeField::Somewhere => {
                let mut values = info_values(category, info);
                values.find_map(|(key, value)| match value {
                    InfoValue::Integer(size) => {
                        (MessageField::of(&key.0) == Some(MessageField::Size)).then_some(size)
                    }
                    _ => None,
                })?
            }
        };
        u64::try_from(size).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_begin_where_they_say() {
        for class in 1..DURATION_CLASSES - 1 {
            let from = duration_from(class);
            assert_eq!(duration_class(from), class);
            assert_eq!(duration_class(from * 1.99), class);
        }
        assert_eq!([0.0, -1.0, 1e-12].map(duration_class), [0; 3]);
        assert_eq!(duration_class(f64::INFINITY), DURATION_CLASSES - 1);
        for class in 0..SIZE_CLASSES {
            assert_eq!(size_class(size_from(class)), class);
        }
    }
}
