//! The answers of [`viewer_core::Viewer`] for a page without a server: six functions, numbers only, no glue.
//!
//! ```js
//! const put = (bytes) => new Uint8Array(memory.buffer, reserve(bytes.length), bytes.length).set(bytes);
//! put(name_and_file); open(name.length);          // 200, or the error's status
//! put(waits);         waits();                    // of the trace that the file is a part of; those that are not known are not told
//! put(question);      ask();                      // the status, and 0x10000 times what the body is
//! new Uint8Array(memory.buffer, body(), size())   // the body, or the error's message; until the next call
//! ```
//!
//! What the body is: 0 JSON, 1 a frame, 2 text; 4 more if the answer is exact. An instance shows one trace; another one needs
//! another instance, since memory is never given back.
#![deny(missing_docs)]

use std::sync::{Mutex, MutexGuard, PoisonError};
use viewer_core::{Answer, AnswerBody, AnswerLimits, ApiError, TraceWaits, Viewer};

/// The state that is kept between calls.
struct PageState {
    input: Vec<u8>,
    viewer: Option<Viewer<'static>>,
    body: Vec<u8>,
}

static PAGE: Mutex<PageState> = Mutex::new(PageState {
    input: Vec::new(),
    viewer: None,
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

/// Opens a trace: the input is its name, of so many bytes, and the bytes of the file.
#[unsafe(no_mangle)]
pub extern "C" fn open(name: usize) -> u32 {
    let mut page = page();
    let mut input = std::mem::take(&mut page.input);
    let file = input.split_off(name.min(input.len()));
    let name = String::from_utf8_lossy(&input);
    match Viewer::new(
        &name,
        Box::leak(file.into_boxed_slice()),
        AnswerLimits::default(),
    ) {
        Ok(viewer) => {
            page.viewer = Some(viewer.as_part());
            200
        }
        Err(error) => page.refuse(error),
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
        Some(viewer) => viewer.answer(&question, &|| false),
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
