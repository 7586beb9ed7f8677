//! The preamble: 1024 bytes of text in front of the blocks (`spec/clog2.md` section 2).

use super::bytes::Endian;
use super::error::{Clog2Error, Clog2ErrorKind};

/// The version string this module reads and writes.
pub const VERSION: &str = "CLOG-02.44";

/// Bytes of the preamble; the first block begins here.
pub const PREAMBLE_SIZE: usize = 1024;

/// Largest block size a file may have.
const MAX_BLOCK_SIZE: u32 = 1 << 30;

/// The fields of the preamble, in the order of the file.
///
/// [`Preamble::default`] gives what MPE writes for a merged file of one rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preamble {
    /// Byte order of records and table; big in every merged file.
    pub endian: Endian,
    /// True for a merged file; false for the temporary file of one rank.
    pub is_finalized: bool,
    /// Bytes of a block, 24 … 2^30. A writer needs at least 160.
    pub block_size: u32,
    /// Blocks in the memory buffer of each rank; informative.
    pub num_buffered_blocks: u32,
    /// Size of MPI_COMM_WORLD.
    pub max_comm_world_size: u32,
    /// Largest number of threads of any rank.
    pub max_thread_count: u32,
    /// First event id of known states.
    pub known_event_id_start: i32,
    /// First event id of user states.
    pub user_event_id_start: i32,
    /// First id of known solo events.
    pub known_solo_event_id_start: i32,
    /// First id of user solo events.
    pub user_solo_event_id_start: i32,
    /// Number of known states.
    pub known_state_id_count: i32,
    /// Number of user states root described.
    pub user_state_id_count: i32,
    /// Number of known solo events.
    pub known_solo_event_id_count: i32,
    /// Number of user solo events root handed out.
    pub user_solo_event_id_count: i32,
    /// Byte offset of the communicator table; 0 in a file that was not finished. A [`super::Clog2Writer`] fills it in.
    pub comm_table_offset: u64,
}

impl Default for Preamble {
    fn default() -> Self {
        Preamble {
            endian: Endian::Big,
            is_finalized: true,
            block_size: 65536,
            num_buffered_blocks: 128,
            max_comm_world_size: 1,
            max_thread_count: 1,
            known_event_id_start: 0,
            user_event_id_start: 600,
            known_solo_event_id_start: -10,
            user_solo_event_id_start: 5000,
            known_state_id_count: 300,
            user_state_id_count: 0,
            known_solo_event_id_count: 2,
            user_solo_event_id_count: 0,
            comm_table_offset: 0,
        }
    }
}

impl Preamble {
    /// Reads the preamble from the first bytes of a file.
    ///
    /// Fields are taken by position and their titles skipped, as the original readers do.
    pub fn decode(file: &[u8]) -> Result<Self, Clog2Error> {
        let mut strings = Strings {
            bytes: file.get(..PREAMBLE_SIZE).unwrap_or(file),
            at: 0,
            start: 0,
        };
        let version = strings.next();
        if version != Some(VERSION.as_bytes()) {
            let found = shown(version.unwrap_or(strings.bytes));
            return Err(Clog2Error::new(0, Clog2ErrorKind::Version { found }));
        }
        if file.len() < PREAMBLE_SIZE {
            let found = file.len() as u64;
            let kind = Clog2ErrorKind::Truncated {
                what: "preamble",
                expected: PREAMBLE_SIZE as u64,
                found,
            };
            return Err(Clog2Error::new(0, kind));
        }
        let big = strings.flag("is_big_endian=")?;
        Ok(Preamble {
            endian: if big { Endian::Big } else { Endian::Little },
            is_finalized: strings.flag("is_finalzed=")?,
            block_size: strings.block_size()?,
            num_buffered_blocks: strings.number("num_buffered_blocks=")?,
            max_comm_world_size: strings.number("max_comm_world_size=")?,
            max_thread_count: strings.number("max_thread_count=")?,
            known_event_id_start: strings.number("known_eventID_start=")?,
            user_event_id_start: strings.number("user_eventID_start=")?,
            known_solo_event_id_start: strings.number("known_solo_eventID_start=")?,
            user_solo_event_id_start: strings.number("user_solo_eventID_start=")?,
            known_state_id_count: strings.number("known_stateID_count=")?,
            user_state_id_count: strings.number("user_stateID_count=")?,
            known_solo_event_id_count: strings.number("known_solo_eventID_count=")?,
            user_solo_event_id_count: strings.number("user_solo_eventID_count=")?,
            comm_table_offset: strings.offset("commtable_fptr=")?,
        })
    }

    /// The preamble as it stands in a file.
    pub fn encode(&self) -> [u8; PREAMBLE_SIZE] {
        let flag = |value| if value { "TRUE " } else { "FALSE" }.to_string();
        let fields = [
            (VERSION, None),
            ("is_big_endian=", Some(flag(self.endian == Endian::Big))),
            ("is_finalzed=", Some(flag(self.is_finalized))),
            ("block_size=", Some(self.block_size.to_string())),
            (
                "num_buffered_blocks=",
                Some(self.num_buffered_blocks.to_string()),
            ),
            (
                "max_comm_world_size=",
                Some(self.max_comm_world_size.to_string()),
            ),
            ("max_thread_count=", Some(self.max_thread_count.to_string())),
            (
                "known_eventID_start=",
                Some(self.known_event_id_start.to_string()),
            ),
            (
                "user_eventID_start=",
                Some(self.user_event_id_start.to_string()),
            ),
            (
                "known_solo_eventID_start=",
                Some(self.known_solo_event_id_start.to_string()),
            ),
            (
                "user_solo_eventID_start=",
                Some(self.user_solo_event_id_start.to_string()),
            ),
            (
                "known_stateID_count=",
                Some(self.known_state_id_count.to_string()),
            ),
            (
                "user_stateID_count=",
                Some(self.user_state_id_count.to_string()),
            ),
            (
                "known_solo_eventID_count=",
                Some(self.known_solo_event_id_count.to_string()),
            ),
            (
                "user_solo_eventID_count=",
                Some(self.user_solo_event_id_count.to_string()),
            ),
            (
                "commtable_fptr=",
                Some((self.comm_table_offset / OFFSET_UNIT).to_string()),
            ),
            (
                "1073741824",
                Some((self.comm_table_offset % OFFSET_UNIT).to_string()),
            ),
        ];
        let mut bytes = [0; PREAMBLE_SIZE];
        let mut at = 0;
        // All titles and the longest values together stay below 512 bytes, so nothing is ever cut.
        for text in fields
            .iter()
            .flat_map(|(title, value)| std::iter::once(*title).chain(value.as_deref()))
        {
            if let Some(to) = bytes.get_mut(at..at + text.len()) {
                to.copy_from_slice(text.as_bytes());
            }
            at += text.len() + 1;
        }
        bytes
    }
}

/// The middle one of the three strings of `commtable_fptr`: value = first · unit + third.
const OFFSET_UNIT: u64 = 1 << 30;

/// Walks the NUL-terminated strings of a preamble.
struct Strings<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Start of the string given out last.
    start: usize,
}

impl<'a> Strings<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().position(|&b| b == 0)?;
        self.start = self.at;
        self.at += length + 1;
        Some(&rest[..length])
    }

    /// Skips a title and gives the value behind it.
    fn value(&mut self, field: &'static str) -> Result<&'a str, Clog2Error> {
        self.next();
        self.part(field)
    }

    fn part(&mut self, field: &'static str) -> Result<&'a str, Clog2Error> {
        let found = self.next().unwrap_or_default();
        match std::str::from_utf8(found) {
            Ok(text) => Ok(text.trim_ascii()),
            Err(_) => Err(self.bad(field, "a text", &shown(found))),
        }
    }

    fn bad(&self, field: &'static str, expected: &'static str, found: &str) -> Clog2Error {
        let kind = Clog2ErrorKind::Preamble {
            field,
            expected,
            found: shown(found.as_bytes()),
        };
        Clog2Error::new(self.start as u64, kind)
    }

    fn flag(&mut self, field: &'static str) -> Result<bool, Clog2Error> {
        let text = self.value(field)?;
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if is("true") || is("yes") {
            Ok(true)
        } else if is("false") || is("no") {
            Ok(false)
        } else {
            Err(self.bad(field, "TRUE or FALSE", text))
        }
    }

    fn number<T: std::str::FromStr>(&mut self, field: &'static str) -> Result<T, Clog2Error> {
        let text = self.value(field)?;
        text.parse()
            .map_err(|_| self.bad(field, "a number of 32 bits", text))
    }

    fn block_size(&mut self) -> Result<u32, Clog2Error> {
        let text = self.value("block_size=")?;
        match text.parse() {
            Ok(size) if (super::HEADER_SIZE as u32..=MAX_BLOCK_SIZE).contains(&size) => Ok(size),
            _ => Err(self.bad("block_size=", "24 to 1073741824", text)),
        }
    }

    fn offset(&mut self, field: &'static str) -> Result<u64, Clog2Error> {
        let expected = "three numbers";
        let mut numbers = [0u64; 3];
        let mut text = self.value(field)?;
        for (index, number) in numbers.iter_mut().enumerate() {
            if index > 0 {
                text = self.part(field)?;
            }
            *number = text.parse().map_err(|_| self.bad(field, expected, text))?;
        }
        let [quotient, unit, remainder] = numbers;
        quotient
            .checked_mul(unit)
            .and_then(|product| product.checked_add(remainder))
            .ok_or_else(|| self.bad(field, "an offset of 64 bits", text))
    }
}

/// A part of damaged data for an error message.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(32)]).into_owned()
}
