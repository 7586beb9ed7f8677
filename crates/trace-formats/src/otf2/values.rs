//! The values of infos that events need.

/// Requests that one text names at most.
const MAX_NAMED: usize = 1 << 16;

/// Name of the texts that tell how an operation was made.
pub(super) const DETAILS: &str = "details";

/// Name of the time from the start of a call until its operation was complete.
pub(super) const COMPLETE_AFTER: &str = "complete (ns)";

/// A value that events need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    CallId,
    Request,
    Completes,
    Sends,
    Receives,
    Prepared,
    Root,
    Bytes,
    Received,
    Sent,
    /// Number of a file among those of its process.
    Handle,
    /// Number of a file: in calls of DUMPI that of the handle, in operations that of the file.
    File,
    Path,
    Name,
    Source,
    Target,
    Exclusive,
    Ranks,
    Makes,
    Remote,
    Tag,
    Size,
    Result,
    Role,
    CompleteAfter,
    /// Performance counter, by its position among those of the category.
    Counter(usize),
    Other,
}

impl Field {
    pub(super) fn of(name: &str) -> Field {
        match name {
            "CallID" => Field::CallId,
            "request" => Field::Request,
            "completes" => Field::Completes,
            "sends" => Field::Sends,
            "receives" => Field::Receives,
            "prepared" => Field::Prepared,
            "root" => Field::Root,
            "bytes" => Field::Bytes,
            "received" => Field::Received,
            "sent" => Field::Sent,
            "handle" | "win" => Field::Handle,
            "file" => Field::File,
            "path" | "filename" => Field::Path,
            "name" => Field::Name,
            "source" => Field::Source,
            "target" | "targetrank" => Field::Target,
            "exclusive" => Field::Exclusive,
            "ranks" => Field::Ranks,
            "makes" => Field::Makes,
            "remote" => Field::Remote,
            "tag" => Field::Tag,
            "size" => Field::Size,
            "result" => Field::Result,
            "role" => Field::Role,
            COMPLETE_AFTER => Field::CompleteAfter,
            _ => Field::Other,
        }
    }

    /// Whether an attribute tells the value as it is: not that of a number by which calls are matched, since that is told where events do not
    /// tell it, nor a text that is different in each call.
    pub(super) fn is_shown(self, name: &str) -> bool {
        match self {
            Field::Request
            | Field::Completes
            | Field::Sends
            | Field::Receives
            | Field::Prepared
            | Field::Makes
            | Field::Remote
            | Field::Counter(_) => false,
            _ => name != DETAILS && name != "filler",
        }
    }
}

/// What the info of a call says, of what events need. Negative numbers, which stand for nothing, are left out but for roots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CallValues<'a> {
    pub call: Option<u64>,
    /// Number of the request that the call makes, or is about.
    pub request: Option<u32>,
    /// The one request that the call completes.
    pub completes_one: Option<u32>,
    /// The requests that the call completes, as a text such as `3,7-9`.
    pub completes: &'a [u8],
    /// The requests by which the call starts persistent sends, as a text such as `3,7-9`.
    pub sends: &'a [u8],
    /// The requests by which the call starts persistent receives, as a text such as `3,7-9`.
    pub receives: &'a [u8],
    /// Number of the persistent collective operation that the call makes or starts.
    pub prepared: Option<u32>,
    /// Requests and numbers of persistent collective operations that the call starts: `7:2,8:3`.
    pub started: &'a [u8],
    /// Rank of the root; below -2 it is the rank itself, for ranks of another group, and a negative one above that another rank of the own group.
    pub root: Option<i32>,
    pub bytes: Option<u64>,
    /// Bytes that a rank gets, by its counts for each rank.
    pub received: Option<u64>,
    /// Bytes that a root gives, by its counts for each rank.
    pub sent: Option<u64>,
    /// Rank that a one-sided operation or a lock is about, in the group of the window.
    pub target: Option<i32>,
    pub is_exclusive: bool,
    /// Ranks in MPI_COMM_WORLD of the group that the call names, as a text such as `0,2-5`.
    pub ranks: &'a [u8],
    /// Number of the communicator that the call makes.
    pub makes: Option<i32>,
    /// Number of the other side of an intercommunicator that the call makes.
    pub remote: Option<i32>,
    pub handle: Option<u32>,
    pub file: Option<i64>,
    pub path: Option<&'a [u8]>,
    /// Name that the call gives.
    pub name: &'a [u8],
    /// Sender of the message that is asked for; `None` for any.
    pub source: Option<i32>,
    /// Tag of the message that is asked for; `None` for any.
    pub tag: Option<i32>,
    pub size: Option<u64>,
    /// What an operation returned, negative for an error.
    pub result: Option<i64>,
    /// Whether the file holds data, of a file whose role is told.
    pub is_side_file: bool,
    /// Time from the start of the call until its operation was complete, ns.
    pub complete_after: Option<u64>,
}

impl<'a> CallValues<'a> {
    /// Number by which a call of MPI names its file. That of MPI_FILE_NULL in DUMPI is 0.
    pub(super) fn file_number(&self) -> Option<u32> {
        let file = || self.file.and_then(|file| u32::try_from(file).ok());
        let file = || file().filter(|&file| file > 0);
        self.handle.or_else(file)
    }

    pub(super) fn put_number(&mut self, field: Field, number: i64) {
        let (u32, u64) = (u32::try_from(number).ok(), u64::try_from(number).ok());
        let not_negative = i32::try_from(number).ok().filter(|&number| number >= 0);
        match field {
            Field::Request => self.request = u32,
            Field::Completes => self.completes_one = u32,
            Field::Prepared => self.prepared = u32,
            Field::Root => self.root = i32::try_from(number).ok(),
            Field::Target => self.target = not_negative,
            Field::Exclusive => self.is_exclusive = number == 1,
            Field::Makes => self.makes = not_negative,
            Field::Remote => self.remote = not_negative,
            Field::Bytes => self.bytes = u64,
            Field::Received => self.received = u64,
            Field::Sent => self.sent = u64,
            Field::Handle => self.handle = u32,
            Field::File => self.file = Some(number).filter(|&number| number >= 0),
            Field::Source => self.source = not_negative,
            Field::Tag => self.tag = not_negative,
            Field::Size => self.size = u64,
            Field::Result => self.result = Some(number),
            Field::CompleteAfter => self.complete_after = u64,
            _ => {}
        }
    }

    pub(super) fn put_text(&mut self, field: Field, text: &'a [u8]) {
        match field {
            Field::Completes => self.completes = text,
            Field::Sends => self.sends = text,
            Field::Receives => self.receives = text,
            Field::Prepared => self.started = text,
            Field::Ranks => self.ranks = text,
            Field::Path => self.path = Some(text).filter(|text| !text.is_empty()),
            Field::Name => self.name = text,
            Field::Role => self.is_side_file = text != b"data",
            _ => {}
        }
    }
}

/// The numbers that `3,7-9` stands for: 3, 7, 8, 9. What is no such text stands for none.
pub(super) fn numbers(text: &[u8]) -> Vec<u32> {
    let mut numbers = Vec::new();
    let text = std::str::from_utf8(text).unwrap_or_default();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            let room = MAX_NAMED.saturating_sub(numbers.len());
            numbers.extend((first..=last).take(room));
        }
    }
    numbers
}

/// Numbers as a text such as `3,7-9`.
pub(super) fn list(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let range = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

/// The pairs that `7:2,8:3` stands for. What is no such text stands for none.
pub(super) fn pairs(text: &[u8]) -> Vec<(u32, u32)> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let pair = |part: &str| {
        let (first, second) = part.split_once(':')?;
        Some((first.parse().ok()?, second.parse().ok()?))
    };
    text.split(',').filter_map(pair).take(MAX_NAMED).collect()
}
