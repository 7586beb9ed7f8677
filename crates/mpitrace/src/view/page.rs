//! Pages that need no server: the viewer and what answers its questions as WebAssembly, all in one file that opens from a disk or a mail. One has a
//! window's part of a trace in it, the other one opens files.

use super::assets::{Asset, Assets};
use super::cut::cut;
use super::opened::OpenedTrace;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use viewer_core::{ActivityClass, ApiError, ApiQuery, OpenTrace, Theme};

/// Bytes of the trace in a page.
const MAX_PAGE_BYTES: usize = 20 << 20;

/// Script that answers questions in a page, in place of the server: see `viewer/src/own.ts`.
const LOADER: &str = include_str!("page.js");
/// Scripts of the page that opens files: in the page, and in its workers.
const FILE_LOADER: &str = include_str!("file_page.js");
const FILE_WORKER: &str = include_str!("file_worker.js");

/// The viewer's own files that a page without a server is made of.
struct PageParts {
    style: Asset,
    script: Asset,
    answers: Asset,
}

impl PageParts {
    fn of(assets: &Assets) -> Result<PageParts, ApiError> {
        let asset = |name: &str| {
            let asset = assets.get(name);
            let missing = || {
                ApiError::not_found(format!(
                    "this mpitrace was built without {name}, which pages of their own need; ci/build-wasm makes it"
                ))
            };
            asset.ok_or_else(missing)
        };
        Ok(PageParts {
            style: asset("style.css")?,
            script: asset("viewer.js")?,
            answers: asset("view.wasm")?,
        })
    }
}

/// Makes the page that opens files of the visitor's machine: it has no trace in it, and reads of a file what it shows.
pub fn file_page(assets: &Assets) -> Result<Vec<u8>, ApiError> {
    let parts = PageParts::of(assets)?;
    let mut page = OwnPage::begin("mpitrace view", "worker-src blob:; ", &parts)?;
    page.data("answers", "", &parts.answers.bytes);
    page.worker(FILE_WORKER);
    Ok(page.end(FILE_LOADER, &parts))
}

/// A page in the making.
struct OwnPage {
    text: String,
    /// Nothing runs in the page but what has this word, which nobody can know beforehand.
    word: String,
}

impl OwnPage {
    /// Begins a page with a title; `policy` is what it may do besides running its own scripts.
    fn begin(title: &str, policy: &str, parts: &PageParts) -> Result<OwnPage, ApiError> {
        let word = crate::system::random::digits::<16>().map_err(|error| ApiError {
            status: 500,
            message: error.to_string(),
        })?;
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-{word}' \
             'wasm-unsafe-eval'; style-src 'nonce-{word}'; img-src blob:; {policy}base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style nonce=\"{word}\">"
        );
        text.push_str(&String::from_utf8_lossy(&parts.style.bytes).replace("</style", "<\\/style"));
        text.push_str("</style>\n</head>\n<body>\n<div id=\"page\"></div>\n");
        Ok(OwnPage { text, word })
    }

    /// Bytes that scripts find under a name. A type that is no script's is not run.
    fn data(&mut self, id: &str, attributes: &str, bytes: &[u8]) {
        let _ = write!(
            self.text,
            "<script type=\"text/plain\" id=\"{id}\"{attributes}>"
        );
        push_base64(&mut self.text, bytes);
        self.text.push_str("</script>\n");
    }

    /// The script of workers, as text.
    fn worker(&mut self, script: &str) {
        self.text
            .push_str("<script type=\"text/plain\" id=\"worker\">");
        self.text.push_str(&inlined(script));
        self.text.push_str("</script>\n");
    }

    /// The whole page, with what loads the answers and with the viewer.
    fn end(mut self, loader: &str, parts: &PageParts) -> Vec<u8> {
        let viewer = String::from_utf8_lossy(&parts.script.bytes);
        for (kind, script) in [("text/javascript", loader), ("module", &viewer)] {
            let _ = write!(
                self.text,
                "<script type=\"{kind}\" nonce=\"{}\">",
                self.word
            );
            self.text.push_str(&inlined(script));
            self.text.push_str("</script>\n");
        }
        self.text.push_str("</body>\n</html>\n");
        self.text.into_bytes()
    }
}

/// Makes the page of a window. `state` is what stands behind the # of the page that it is made from, so that it opens alike.
pub fn page(
    trace: &OpenedTrace,
    query: &ApiQuery,
    assets: &Assets,
    cancel: &dyn Fn() -> bool,
) -> Result<Vec<u8>, ApiError> {
    let parts = PageParts::of(assets)?;
    let window = trace.viewer.window(query)?;
    let part = cut(trace.viewer.trace().reader(), window)?;
    if cancel() {
        return Err(ApiError::cancelled());
    }
    if part.len() > MAX_PAGE_BYTES {
        return Err(ApiError::too_large(format!(
            "{} bytes are in the window, and a page has room for {MAX_PAGE_BYTES}: zoom in",
            part.len()
        )));
    }
    // A part of a trace does not tell who waited for whom. Where it is not known, the page says so.
    let viewer = trace.viewer;
    if viewer.waits().is_none() && viewer.is_small() {
        viewer.summary(cancel)?;
    }
    let waits = viewer.waits().map_or(Vec::new(), |waits| {
        waits.encode(viewer.trace(), window.earliest, window.latest)
    });
    // What tells names of communicators and files is mostly outside of the window.
    let names = viewer.names(cancel).encode()?;
    let (name, state) = (escaped(&trace.name), escaped(query.text("state")));
    let mut page = OwnPage::begin(&name, "", &parts)?;
    page.data("answers", "", &parts.answers.bytes);
    let attributes = format!(
        " data-name=\"{name}\" data-state=\"{state}\" data-regions=\"{}\" data-kinds=\"{:?}\"",
        escaped(&regions(trace)),
        numbers_in_part(trace.viewer.trace(), &part)?
    );
    page.data("trace", &attributes, &part);
    page.data("names", "", &names);
    page.data("waits", "", &waits);
    Ok(page.end(LOADER, &parts))
}

/// Numbers of kinds in a part, by those in the whole trace; −1 of a kind that is not in it.
fn numbers_in_part(whole: &OpenTrace<'_>, part: &[u8]) -> Result<Vec<i32>, ApiError> {
    let part = OpenTrace::new(part)?;
    let kinds = part.kinds().iter().zip(0..);
    let numbers: HashMap<i32, i32> = kinds
        .map(|(kind, number)| (kind.category.index, number))
        .collect();
    let kinds = whole.kinds().iter();
    Ok(kinds
        .map(|kind| numbers.get(&kind.category.index).copied().unwrap_or(-1))
        .collect())
}

/// Colours of all regions of the trace by their names, as JSON: a part has the same ones as the whole.
fn regions(trace: &OpenedTrace) -> String {
    let kinds = trace.viewer.trace().kinds().iter();
    let regions = kinds.filter(|kind| kind.class == ActivityClass::User);
    let colors: BTreeMap<&str, [String; 2]> = regions
        .map(|kind| {
            let colors = [Theme::Light, Theme::Dark].map(|theme| kind.colors.on(theme));
            (kind.name.as_str(), colors.map(|color| color.to_string()))
        })
        .collect();
    serde_json::to_string(&colors).unwrap_or_default()
}

/// A script as it can stand in a page: what would end it, or begin a comment of HTML, stands in strings only, where a
/// backslash changes nothing.
fn inlined(script: &str) -> String {
    script
        .replace("</script", "<\\/script")
        .replace("<!--", "\\x3c!--")
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Adds bytes as base64 (RFC 4648 section 4).
fn push_base64(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    out.reserve(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |n: usize| u32::from(three.get(n).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for n in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * n) & 63) as usize];
            out.push(if n <= three.len() {
                char::from(digit)
            } else {
                '='
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64() {
        let of = |text: &str| {
            let mut out = String::new();
            push_base64(&mut out, text.as_bytes());
            out
        };
        // RFC 4648 section 10
        for (text, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(of(text), expected);
        }
    }

    #[test]
    fn nothing_in_a_page_ends_what_it_stands_in() {
        assert_eq!(escaped("<a&\"\u{7}>"), "&lt;a&amp;&quot;\u{fffd}&gt;");
        let text = inlined("x='</script><!--<script>'");
        assert!(!text.contains("</script") && !text.contains("<!--"));
    }
}
