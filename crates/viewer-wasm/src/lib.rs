//! The answers of [`viewer_core::Viewer`] for a page without a server: functions of numbers only, no glue.
//!
//! ```js
//! const put = (bytes) => new Uint8Array(memory.buffer, reserve(bytes.length), bytes.length).set(bytes);
//! put(names);         names();                    // of the trace that the file is a part of, as JSON; 200, or the error's status
//! put(name_and_file); open(name.length);          // likewise
//! put(waits);         waits();                    // of the trace that the file is a part of; those that are not known are not told
//! put(question);      ask();                      // the status, and 0x10000 times what the body is
//! new Uint8Array(memory.buffer, body(), size())   // the body, or the error's message; until the next call
//! ```
//!
//! A file of the browser is opened in a worker, which gives two functions: `page.read_at(offset, into, size)` reads from it, and
//! `page.is_late()` tells when an answer takes too long.
//!
//! ```js
//! put(name);          open_file(size);            // the whole file, of which only pieces are read
//! held();                                         // bytes of it in memory, which are given back with the instance
//! known_waits();      // the status; the body is what `waits()` takes, of the whole trace, for another instance; 404 if they are not known
//! ```
//!
//! What the body is: 0 JSON, 1 a frame, 2 text; 4 more if the answer is exact. An instance shows one trace; another one needs
//! another instance, since memory is never given back.
#![deny(missing_docs)]

mod browser_file;

use browser_file::{BrowserFile, is_late};
use std::sync::{Mutex, MutexGuard, PoisonError};
use viewer_core::{
    Answer, AnswerBody, AnswerLimits, ApiError, PositionedRead, TraceNames, TraceWaits, Viewer,
};

/// Bytes that are read at most for an answer about a window of a file that is too large to be read as a whole.
const LARGE_FILE_WINDOW_BYTES: u64 = 48 << 20;
/// Bytes that are read at most for an answer that goes over all of such a file: what was read is held until the instance goes.
const LARGE_FILE_WHOLE_BYTES: u64 = 256 << 20;

/// The state that is kept between calls.
struct PageState {
    input: Vec<u8>,
    /// Names for the next trace that is opened.
    names: Option<TraceNames>,
    viewer: Option<Viewer<'static>>,
    file: Option<&'static BrowserFile>,
    body: Vec<u8>,
}

static PAGE: Mutex<PageState> = Mutex::new(PageState {
    input: Vec::new(),
    names: None,
    viewer: None,
    file: None,
    body: Vec::new(),
});

fn page() -> MutexGuard<'static, PageState> {
    PAGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for the input of the next call and says where.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    let mut page = page();
    page.input = vec![0; bytes];
    page.input.as_mut_ptr()
}

/// Takes over the names of the trace that the next one is a part of: the input is what the server wrote of them, or nothing.
#[unsafe(no_mangle)]
pub extern "C" fn names() -> u32 {
    let mut page = page();
    let bytes = std::mem::take(&mut page.input);
    let names = match bytes.is_empty() {
        true => Ok(None),
        false => TraceNames::decode(&bytes).map(Some),
    };
    match names {
        Ok(names) => {
            page.names = names;
            200
        }
        Err(error) => page.refuse(error),
    }
}

/// Opens a part of a trace: the input is its name, of so many bytes, and the bytes of the file.
#[unsafe(no_mangle)]
pub extern "C" fn open(name: usize) -> u32 {
    let mut page = page();
    let mut input = std::mem::take(&mut page.input);
    let file = input.split_off(name.min(input.len()));
    let name = String::from_utf8_lossy(&input);
    let names = page.names.take();
    match Viewer::part(
        &name,
        Box::leak(file.into_boxed_slice()),
        names,
        AnswerLimits::default(),
    ) {
        Ok(viewer) => {
            page.viewer = Some(viewer);
            200
        }
        Err(error) => page.refuse(error),
    }
}

/// Opens a file of the browser: the input is its name.
#[unsafe(no_mangle)]
pub extern "C" fn open_file(size: f64) -> u32 {
    let mut page = page();
    let name = std::mem::take(&mut page.input);
    let name = String::from_utf8_lossy(&name);
    // As a whole number: out of range values become the nearest, and NaN 0.
    let file: &'static BrowserFile = Box::leak(Box::new(BrowserFile::new(size as u64)));
    page.file = Some(file);
    let mut limits = AnswerLimits::default();
    if file.size() > limits.tree_bytes {
        // All of it is never read, and there is one thread only: an answer is to come soon.
        limits.tree_bytes = LARGE_FILE_WINDOW_BYTES;
        limits.whole_bytes = LARGE_FILE_WHOLE_BYTES;
    }
    match Viewer::positioned(&name, file, limits) {
        Ok(viewer) => {
            page.viewer = Some(viewer);
            200
        }
        Err(error) => page.refuse(error),
    }
}

/// Bytes of the browser's file that are held in memory.
#[unsafe(no_mangle)]
pub extern "C" fn held() -> usize {
    page().file.map_or(0, BrowserFile::held_bytes)
}

/// Gives who waited for whom in the whole trace as the body, for [`waits`] of another instance.
#[unsafe(no_mangle)]
pub extern "C" fn known_waits() -> u32 {
    let mut page = page();
    let known = page.viewer.as_ref().and_then(|viewer| {
        let waits = viewer.waits()?;
        Some(waits.encode(viewer.trace(), f64::NEG_INFINITY, f64::INFINITY))
    });
    match known {
        Some(waits) => {
            page.body = waits;
            200
        }
        None => page.refuse(ApiError::not_found("it is not known who waited")),
    }
}

/// Takes over who waited for whom: the input is what the server knows of it, or nothing.
#[unsafe(no_mangle)]
pub extern "C" fn waits() {
    let mut page = page();
    let bytes = std::mem::take(&mut page.input);
    if let Some(viewer) = &page.viewer
        && let Some(waits) = TraceWaits::decode(viewer.trace(), &bytes)
    {
        viewer.set_waits(waits);
    }
}

/// Answers the question that is the input.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> u32 {
    let mut page = page();
    let question = std::mem::take(&mut page.input);
    let question = String::from_utf8_lossy(&question);
    let answer = match &page.viewer {
        Some(viewer) => viewer.answer(&question, &is_late),
        None => Err(ApiError::not_found("no trace is open")),
    };
    match answer {
        Ok(Answer { kind, body, exact }) => {
            page.body = body;
            let kind = match kind {
                AnswerBody::Json => 0,
                AnswerBody::Frame => 1,
                AnswerBody::Text(_) => 2,
            };
            200 + ((kind + 4 * u32::from(exact)) << 16)
        }
        Err(error) => page.refuse(error),
    }
}

/// Address of the body of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn body() -> *const u8 {
    page().body.as_ptr()
}

/// Bytes of the body of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn size() -> usize {
    page().body.len()
}

impl PageState {
    fn refuse(&mut self, error: ApiError) -> u32 {
        self.body = error.message.into_bytes();
        error.status.into()
    }
}
