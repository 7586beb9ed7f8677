//! Protocol between front end and data servers. Each message has a head of fixed size and bytes behind
//! it; numbers are little-endian. A connection has one asker, and answers come in the order of the questions.
//!
//! ```text
//! question  0 u32 magic | 4 u16 action, u16 flags | 8 u64 CallID (u64::MAX: none) | 16 u64 unique | 24 u64 inode
//!           32 u64 offset in the file | 40 u64 offset in the server's part | 48 u64 size | 56 u32 thread ID, u32 bytes behind
//! answer    0 u32 magic | 4 i32 errno | 8 u64 bytes moved | 16 u32 bytes behind, u32 zero
//! ```

use super::recording::Result;
use rustix::io::Errno;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::time::{Duration, Instant};

const QUESTION: u32 = u32::from_le_bytes(*b"MPQ1");
const ANSWER: u32 = u32::from_le_bytes(*b"MPA1");
const QUESTION_SIZE: usize = 64;
const ANSWER_SIZE: usize = 24;
/// Most bytes behind a head.
pub const MAX_DATA_BYTES: usize = 16 << 20;
/// Time from the first byte of a question to its last.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes that are made room for before they come; as many again as have come are made room for then.
const READ_STEP_BYTES: usize = 64 << 10;
/// Room that is kept from one question to the next.
pub const KEPT_BUFFER_BYTES: usize = 1 << 20;
/// The file is new: what may be there of an earlier one with its number goes.
pub const NEW: u16 = 1;
/// Only the data need to be brought to the disk.
pub const DATA_ONLY: u16 = 2;

/// Action of a data server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum ServerAction {
    /// A file is opened; its name is behind, size is the device by which programs know it. [`NEW`]
    Open = 1,
    /// Read.
    Read = 2,
    /// Write what is behind.
    Write = 3,
    /// The server's part is to have this size at most.
    Cut = 4,
    /// fallocate(2), with the mode as flags.
    Allocate = 5,
    /// Bring the file to the disk. [`DATA_ONLY`]
    Sync = 6,
    /// Nobody has the file open.
    Close = 7,
    /// The file is no more.
    Remove = 8,
    /// Asks for the server's clock. The answer's number is its ns.
    Clock = 9,
    /// Tells the comparison of the clocks: offset is the server's time, local the shift to add to it, size the round trip, all ns. The
    /// identity of the asker's kernel follows.
    Shift = 10,
    /// Asks which of the servers this is. The answer's number is that of `--number`.
    Number = 11,
}

impl ServerAction {
    fn from_number(number: u16) -> Option<ServerAction> {
        use ServerAction::*;
        let all = [
            Open, Read, Write, Cut, Allocate, Sync, Close, Remove, Clock, Shift, Number,
        ];
        all.into_iter().find(|&action| action as u16 == number)
    }
}

/// A question, without the bytes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerQuestion {
    /// The action.
    pub action: ServerAction,
    /// More about it.
    pub flags: u16,
    /// CallID of the MPI call it is done for.
    pub call: Option<u64>,
    /// Number of the request.
    pub unique: u64,
    /// Number of the file at the front end.
    pub inode: u64,
    /// Offset in the file.
    pub offset: u64,
    /// Offset in the server's part of it.
    pub local: u64,
    /// Bytes.
    pub size: u64,
    /// Thread that made the request.
    pub tid: u32,
}

impl ServerQuestion {
    /// A question about the server itself, and no file.
    pub fn about_server(action: ServerAction) -> ServerQuestion {
        ServerQuestion {
            action,
            flags: 0,
            call: None,
            unique: 0,
            inode: 0,
            offset: 0,
            local: 0,
            size: 0,
            tid: 0,
        }
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Sends a question with `data` behind it.
pub fn ask(stream: &mut impl Write, question: &ServerQuestion, data: &[u8]) -> io::Result<()> {
    let mut head = Vec::with_capacity(QUESTION_SIZE);
    head.extend_from_slice(&QUESTION.to_le_bytes());
    head.extend_from_slice(&(question.action as u16).to_le_bytes());
    head.extend_from_slice(&question.flags.to_le_bytes());
    for number in [
        question.call.unwrap_or(u64::MAX),
        question.unique,
        question.inode,
        question.offset,
        question.local,
        question.size,
    ] {
        head.extend_from_slice(&number.to_le_bytes());
    }
    head.extend_from_slice(&question.tid.to_le_bytes());
    head.extend_from_slice(&(data.len() as u32).to_le_bytes());
    send(stream, &head, data)
}

/// A moment until which something must have come.
#[derive(Clone, Copy, Debug)]
pub struct Until(Instant);

impl Until {
    /// So long after now.
    pub fn after(time: Duration) -> Until {
        Until(Instant::now() + time)
    }

    /// Fills `buffer`, from a stream that gives up now and then.
    ///
    /// # Errors
    /// When that takes too long.
    pub fn read(self, stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < buffer.len() {
            match stream.read(&mut buffer[filled..]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => filled += read,
                Err(e) if is_waiting(&e) => {}
                Err(e) => return Err(e),
            }
            if filled < buffer.len() && Instant::now() > self.0 {
                return Err(io::Error::new(ErrorKind::TimedOut, "it is too slow"));
            }
        }
        Ok(())
    }
}

/// Whether nothing has come yet.
fn is_waiting(e: &io::Error) -> bool {
    use ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(e.kind(), Interrupted | TimedOut | WouldBlock)
}

/// The next question, with what is behind it in `data`; `None` when the asker has gone.
pub fn question(stream: &mut impl Read, data: &mut Vec<u8>) -> io::Result<Option<ServerQuestion>> {
    question_within(QUESTION_TIMEOUT, stream, data)
}

fn question_within(
    patience: Duration,
    stream: &mut impl Read,
    data: &mut Vec<u8>,
) -> io::Result<Option<ServerQuestion>> {
    data.clear();
    data.shrink_to(KEPT_BUFFER_BYTES);
    let mut head = [0; QUESTION_SIZE];
    // Until it begins, a question may take as long as the asker likes.
    let begun = loop {
        match stream.read(&mut head) {
            Ok(0) => return Ok(None),
            Ok(begun) => break begun,
            Err(e) if is_waiting(&e) => {}
            Err(e) => return Err(e),
        }
    };
    let until = Until::after(patience);
    until.read(stream, &mut head[begun..])?;
    let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let word = |at: usize| u32::from(half(at)) | u32::from(half(at + 2)) << 16;
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    if word(0) != QUESTION {
        return Err(bad("no question of an mpitrace ioserver"));
    }
    let behind = word(60) as usize;
    if behind > MAX_DATA_BYTES
        || long(48) > MAX_DATA_BYTES as u64 && half(4) == ServerAction::Read as u16
    {
        return Err(bad("a question that is too large"));
    }
    while data.len() < behind {
        let there = data.len();
        data.resize(behind.min(there + there.max(READ_STEP_BYTES)), 0);
        until.read(stream, &mut data[there..])?;
    }
    Ok(Some(ServerQuestion {
        action: ServerAction::from_number(half(4)).ok_or_else(|| bad("an unknown question"))?,
        flags: half(6),
        call: Some(long(8)).filter(|&call| call != u64::MAX),
        unique: long(16),
        inode: long(24),
        offset: long(32),
        local: long(40),
        size: long(48),
        tid: word(56),
    }))
}

/// Sends the answer: bytes moved or the error, with `data` behind it.
pub fn answer(stream: &mut impl Write, result: Result<usize>, data: &[u8]) -> io::Result<()> {
    let mut head = [0; ANSWER_SIZE];
    let errno = result.err().map_or(0, |e| e.raw_os_error());
    let moved = result.unwrap_or(0) as u64;
    head[..4].copy_from_slice(&ANSWER.to_le_bytes());
    head[4..8].copy_from_slice(&errno.to_le_bytes());
    head[8..16].copy_from_slice(&moved.to_le_bytes());
    head[16..20].copy_from_slice(&(data.len() as u32).to_le_bytes());
    send(stream, &head, data)
}

/// The next answer; what is behind it goes to the beginning of `data`.
pub fn answered(stream: &mut impl Read, data: &mut [u8]) -> io::Result<Result<usize>> {
    let mut head = [0; ANSWER_SIZE];
    stream.read_exact(&mut head)?;
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let behind = word(16) as usize;
    if word(0) != ANSWER {
        return Err(bad("no answer of an mpitrace dataserver"));
    }
    let place = data.get_mut(..behind);
    stream.read_exact(place.ok_or_else(|| bad("an answer that is too large"))?)?;
    Ok(match word(4) as i32 {
        0 => Ok((u64::from(word(8)) | u64::from(word(12)) << 32) as usize),
        errno @ 1..4096 => Err(Errno::from_raw_os_error(errno)),
        _ => return Err(bad("an answer with a number that is no error's")),
    })
}

/// Sends both, in one call if it takes them.
fn send(stream: &mut impl Write, head: &[u8], data: &[u8]) -> io::Result<()> {
    let parts = [IoSlice::new(head), IoSlice::new(data)];
    let sent = loop {
        match stream.write_vectored(&parts) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            sent => break sent?,
        }
    };
    if sent == 0 {
        return Err(io::ErrorKind::WriteZero.into());
    }
    stream.write_all(head.get(sent..).unwrap_or_default())?;
    stream.write_all(&data[sent.saturating_sub(head.len())..])
}

#[cfg(test)]
mod tests {
    use super::super::address::ServerStream;
    use super::*;
    use std::os::unix::net::UnixStream;

    fn pair() -> (ServerStream, ServerStream) {
        let (a, b) = UnixStream::pair().unwrap();
        (ServerStream::Unix(a), ServerStream::Unix(b))
    }

    #[test]
    fn questions_and_answers_come_back() {
        let (mut front, mut server) = pair();
        let question = ServerQuestion {
            action: ServerAction::Write,
            flags: 3,
            call: Some(7 << 40 | 9),
            unique: 11,
            inode: 12,
            offset: 1 << 50,
            local: 1 << 48,
            size: 3,
            tid: 4711,
        };
        let mut data = Vec::new();
        for call in [Some(1), None] {
            let question = ServerQuestion { call, ..question };
            ask(&mut front, &question, b"abc").unwrap();
            let got = super::question(&mut server, &mut data).unwrap();
            assert_eq!((got, &data[..]), (Some(question), &b"abc"[..]));
        }
        answer(&mut server, Ok(2 << 40), b"xy").unwrap();
        answer(&mut server, Err(Errno::NOSPC), b"").unwrap();
        let mut buffer = [0; 4];
        assert_eq!(answered(&mut front, &mut buffer).unwrap(), Ok(2 << 40));
        assert_eq!(&buffer, b"xy\0\0");
        assert_eq!(
            answered(&mut front, &mut buffer).unwrap(),
            Err(Errno::NOSPC)
        );
        drop(front);
        assert!(super::question(&mut server, &mut data).unwrap().is_none());
    }

    #[test]
    fn what_is_none_is_refused() {
        let (mut front, mut server) = pair();
        front.write_all(&[1; QUESTION_SIZE]).unwrap();
        assert!(super::question(&mut server, &mut Vec::new()).is_err());
        server.write_all(&[1; ANSWER_SIZE]).unwrap();
        assert!(answered(&mut front, &mut []).is_err());
        // An answer with more behind it than was asked for.
        answer(&mut server, Ok(5), b"abcde").unwrap();
        assert!(answered(&mut front, &mut [0; 4]).is_err());
        // One that takes too long, of which no more room is made for than has come.
        let (mut front, mut server) = pair();
        let ServerStream::Unix(slow) = &server else {
            panic!("a pair of Unix sockets");
        };
        slow.set_read_timeout(Some(Duration::from_millis(5)))
            .unwrap();
        let mut head = [0; QUESTION_SIZE];
        head[..4].copy_from_slice(&QUESTION.to_le_bytes());
        head[4] = ServerAction::Write as u8;
        head[60..].copy_from_slice(&(MAX_DATA_BYTES as u32).to_le_bytes());
        front.write_all(&head).unwrap();
        front.write_all(&[7; 1000]).unwrap();
        let mut data = Vec::new();
        let given_up = question_within(Duration::from_millis(50), &mut server, &mut data);
        assert_eq!(given_up.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(data.capacity() <= READ_STEP_BYTES, "{}", data.capacity());
        // One that is cut off.
        front.write_all(&QUESTION.to_le_bytes()).unwrap();
        drop(front);
        assert!(super::question(&mut server, &mut Vec::new()).is_err());
    }
}
