//! What the infos of calls tell about roots, bytes, requests, files, windows, groups and communicators. [`CallDetails`] of SLOG2 files says what each is.
//!
//! [`CallDetails`]: trace_formats::clog2::states::CallDetails

use super::chosen_values::ChosenValues;
use trace_formats::clog2::states::FAILED_HANDLE;
use trace_model::{Category, InfoValue};
use wrappers::ToldBytes;

/// Numbers that one text names at most.
const MAX_NAMED: usize = 1 << 16;

/// Number of MPI_COMM_WORLD in DUMPI.
const DUMPI_WORLD: i64 = 2;

/// A value of an info that matters.
#[derive(Clone, Copy, Debug)]
enum NamedValue {
    Root,
    Request,
    Completes,
    Handle,
    Ranks,
    Target,
    Exclusive,
    Prepared,
    Sends,
    Receives,
    Makes,
    Remote,
    Sources,
    Bytes,
    Received,
    Sent,
    Source,
    Tag,
    DumpiComm,
}

impl NamedValue {
    /// The values by their names, as keys end. Arguments of DUMPI's calls have the last two.
    const NAMES: [(&[u8], NamedValue); 21] = [
        (b"root=", NamedValue::Root),
        (b"request=", NamedValue::Request),
        (b"completes=", NamedValue::Completes),
        (b"handle=", NamedValue::Handle),
        (b"ranks=", NamedValue::Ranks),
        (b"target=", NamedValue::Target),
        (b"exclusive=", NamedValue::Exclusive),
        (b"prepared=", NamedValue::Prepared),
        (b"sends=", NamedValue::Sends),
        (b"receives=", NamedValue::Receives),
        (b"makes=", NamedValue::Makes),
        (b"remote=", NamedValue::Remote),
        (b"sources=", NamedValue::Sources),
        (b"file=", NamedValue::Handle),
        (b"win=", NamedValue::Handle),
        (b"bytes=", NamedValue::Bytes),
        (b"received=", NamedValue::Received),
        (b"sent=", NamedValue::Sent),
        (b"source=", NamedValue::Source),
        (b"tag=", NamedValue::Tag),
        (b"comm=", NamedValue::DumpiComm),
    ];

    /// The value that a key names.
    fn of(key: &[u8]) -> Option<NamedValue> {
        let mut names = NamedValue::NAMES.iter();
        let found = names.find(|(name, _)| key.ends_with(name));
        found.map(|(_, value)| *value)
    }

    /// Whether calls of this kind need the value.
    fn matters(self, use_of: InfoUse) -> bool {
        match self {
            NamedValue::Bytes | NamedValue::Received | NamedValue::Sent => use_of.moves_data,
            NamedValue::Source | NamedValue::Tag | NamedValue::DumpiComm => use_of.asks_for_message,
            _ => true,
        }
    }
}

/// What infos of a category are read for, beside what those of all are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct InfoUse {
    /// The calls are collective operations, whose bytes matter.
    pub moves_data: bool,
    /// The calls post receives, or look for messages: senders and tags matter.
    pub asks_for_message: bool,
}

/// Reads the infos of a category.
#[derive(Clone, Debug)]
pub(super) struct InfoReader {
    values: ChosenValues<NamedValue>,
}

/// A communicator that a call makes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MadeComm {
    /// Number that lines have for it; of an intercommunicator, for the local side.
    pub number: i32,
    /// Number for the remote side of an intercommunicator.
    pub remote: Option<i32>,
    /// Ranks whose data neighbourhood calls get.
    pub sources: Vec<i32>,
}

/// Persistent operations that a call starts, by request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StartedRequests {
    pub sends: Vec<u32>,
    pub receives: Vec<u32>,
    /// Each with the number of the operation.
    pub collectives: Vec<(u32, u32)>,
}

/// What the info of a call says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CallInfo {
    /// Rank of the root in the communicator of the call.
    pub root: Option<i32>,
    /// Number of the request that the call makes, or is about.
    pub request: Option<u32>,
    /// Numbers of the requests that the call completes.
    pub completes: Vec<u32>,
    /// Number of the file or window of the call among those of its process.
    pub handle: Option<u32>,
    /// Whether the call was to make a file or window, and failed.
    pub makes_nothing: bool,
    /// Ranks in MPI_COMM_WORLD of the group that the call names.
    pub ranks: Vec<u32>,
    /// Rank that the call is directed to.
    pub target: Option<i32>,
    pub is_exclusive: bool,
    /// Number of the persistent collective operation that the call makes or starts.
    pub prepared: Option<u32>,
    /// Whether the call starts a persistent operation of any kind, or makes a collective one.
    pub starts_persistent: bool,
    pub started: Option<Box<StartedRequests>>,
    pub made: Option<Box<MadeComm>>,
    /// Rank of the sender and tag of the message that the call asks for; −1 for any.
    pub asked: Option<[i32; 2]>,
    /// Bytes of a collective operation.
    pub told: ToldBytes,
}

impl InfoReader {
    /// For calls of this category.
    pub(super) fn of(category: &Category, use_of: InfoUse) -> InfoReader {
        let matters = |value: &NamedValue| value.matters(use_of);
        InfoReader {
            values: ChosenValues::of(category, |key| NamedValue::of(key).filter(matters)),
        }
    }

    /// Whether anything is read.
    pub(super) fn reads(&self) -> bool {
        !self.values.is_empty()
    }

    /// Reads what the info of a call says, in place of what `found` has.
    pub(super) fn read(&self, info: &[u8], found: &mut CallInfo) {
        found.clear();
        self.values.read(info, |named, value| match value {
            InfoValue::Integer(number) => found.put_number(named, number),
            InfoValue::Text(text) => found.put_text(named, text),
            InfoValue::Hex(_) | InfoValue::Real(_) => {}
        });
    }
}

impl CallInfo {
    /// Forgets everything but the room for lists. Names each field, so that none can be left out.
    fn clear(&mut self) {
        let CallInfo {
            root,
            request,
            completes,
            handle,
            makes_nothing,
            ranks,
            target,
            is_exclusive,
            prepared,
            starts_persistent,
            started,
            made,
            asked,
            told,
        } = self;
        *root = None;
        *request = None;
        completes.clear();
        *handle = None;
        *makes_nothing = false;
        ranks.clear();
        *target = None;
        *is_exclusive = false;
        *prepared = None;
        *starts_persistent = false;
        *started = None;
        *made = None;
        *asked = None;
        *told = ToldBytes::default();
    }

    fn put_number(&mut self, named: NamedValue, number: i64) {
        let signed = i32::try_from(number).ok();
        let unsigned = u32::try_from(number).ok();
        match named {
            NamedValue::Request => self.request = unsigned,
            NamedValue::Completes => self.completes.extend(unsigned),
            NamedValue::Root => self.root = signed,
            NamedValue::Handle => {
                self.handle = unsigned;
                self.makes_nothing = number == i64::from(FAILED_HANDLE);
            }
            NamedValue::Target => self.target = signed.filter(|&rank| rank >= 0),
            NamedValue::Exclusive => self.is_exclusive = number == 1,
            // Of sends and receives the number is negative.
            NamedValue::Prepared => {
                self.prepared = unsigned;
                self.starts_persistent = true;
            }
            NamedValue::Bytes => self.told.bytes = u64::try_from(number).ok(),
            NamedValue::Received => self.told.received = u64::try_from(number).ok(),
            NamedValue::Sent => self.told.sent = u64::try_from(number).ok(),
            NamedValue::Source => self.asked = signed.map(|source| [source, -1]),
            // DUMPI counts ranks in the communicator of the call, and its messages have those of MPI_COMM_WORLD.
            NamedValue::DumpiComm => {
                if let Some(asked) = self.asked.as_mut().filter(|_| number != DUMPI_WORLD) {
                    asked[0] = -1;
                }
            }
            // A tag alone is that of what is sent.
            NamedValue::Tag => {
                if let Some(asked) = &mut self.asked {
                    asked[1] = signed.unwrap_or(-1);
                }
            }
            NamedValue::Makes => {
                if let Some(number @ 0..) = signed {
                    self.made = Some(Box::new(MadeComm {
                        number,
                        remote: None,
                        sources: Vec::new(),
                    }));
                }
            }
            NamedValue::Remote => {
                if let Some(made) = &mut self.made {
                    made.remote = signed.filter(|&number| number >= 0);
                }
            }
            NamedValue::Ranks | NamedValue::Sends | NamedValue::Receives | NamedValue::Sources => {}
        }
    }

    fn put_text(&mut self, named: NamedValue, text: &[u8]) {
        match named {
            NamedValue::Completes => push_numbers(text, &mut self.completes),
            NamedValue::Ranks => push_numbers(text, &mut self.ranks),
            NamedValue::Sends => self.started_mut().sends = numbers(text),
            NamedValue::Receives => self.started_mut().receives = numbers(text),
            NamedValue::Prepared => self.started_mut().collectives = pairs(text),
            NamedValue::Sources => {
                if let Some(made) = &mut self.made {
                    let ranks = numbers(text).into_iter();
                    made.sources = ranks.filter_map(|rank| rank.try_into().ok()).collect();
                }
            }
            _ => {}
        }
    }

    fn started_mut(&mut self) -> &mut StartedRequests {
        self.started.get_or_insert_default()
    }
}

/// The numbers that a text such as `3,7-9` stands for.
fn numbers(text: &[u8]) -> Vec<u32> {
    let mut numbers = Vec::new();
    push_numbers(text, &mut numbers);
    numbers
}

/// Appends the numbers that `3,7-9` stands for: 3, 7, 8, 9. What is no such text stands for none.
fn push_numbers(text: &[u8], numbers: &mut Vec<u32>) {
    let text = std::str::from_utf8(text).unwrap_or_default();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            let room = MAX_NAMED.saturating_sub(numbers.len());
            numbers.extend((first..=last).take(room));
        }
    }
}

/// The pairs that `7:2,8:3` stands for. What is no such text stands for none.
fn pairs(text: &[u8]) -> Vec<(u32, u32)> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let pair = |part: &str| {
        let (first, second) = part.split_once(':')?;
        Some((first.parse().ok()?, second.parse().ok()?))
    };
    text.split(',').filter_map(pair).take(MAX_NAMED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, InfoWriter, Topology};

    #[test]
    fn lists_of_numbers_are_read() {
        assert_eq!(numbers(b"3,7-9"), [3, 7, 8, 9]);
        assert_eq!(numbers(b""), [0; 0]);
        assert_eq!(numbers(b"x,4,9-"), [4]);
        assert_eq!(numbers(b"0-4294967295").len(), MAX_NAMED);
        assert_eq!(pairs(b"7:2,8:3"), [(7, 2), (8, 3)]);
        assert_eq!(pairs(b"7,:,8:-1,9:4"), [(9, 4)]);
    }
    /// A call that tells nothing has nothing of the one before it.
    #[test]
    fn nothing_of_a_call_stays() {
        let category = |format: &[u8]| {
            let mut category = Category::new(1, "call".into(), Topology::State, Color::WHITE);
            category.set_info_format(format);
            category
        };
        let numbers = b"root=%l, request=%l, handle=%l, target=%l, exclusive=%l, prepared=%l, makes=%l, bytes=%l, received=%l, sent=%l, source=%l, tag=%l";
        let mut info = InfoWriter::default();
        for _ in 0..12 {
            info.long(1);
        }
        let mut found = CallInfo::default();
        let use_of = InfoUse {
            moves_data: true,
            asks_for_message: true,
        };
        let read = |format: &[u8], info: &[u8], found: &mut CallInfo| {
            InfoReader::of(&category(format), use_of).read(info, found);
        };
        read(numbers, info.bytes(), &mut found);
        let told = Some(1);
        let all = ToldBytes {
            bytes: told,
            received: told,
            sent: told,
        };
        assert_eq!((found.root, found.told), (Some(1), all));
        assert_eq!(found.asked, Some([1, 1]));
        let mut texts = InfoWriter::default();
        texts.text(b"3").text(b"4");
        read(b"completes=%s, ranks=%s", texts.bytes(), &mut found);
        let expected = CallInfo {
            completes: vec![3],
            ranks: vec![4],
            ..CallInfo::default()
        };
        assert_eq!(found, expected);
        read(b"", &[], &mut found);
        assert_eq!(found, CallInfo::default());
    }
}
