//! A window as a page that needs no server: the viewer, what answers its questions as WebAssembly, and the window's part of
//! the trace, all in one file that opens from a disk or a mail.

use super::assets::Assets;
use super::cut::cut;
use super::opened::OpenedTrace;
use std::fmt::Write;
use viewer_core::{ApiError, ApiQuery};

/// Bytes of the trace in a page.
const MAX_PAGE_BYTES: usize = 20 << 20;

/// Script that answers questions in a page, in place of the server: see `viewer/src/own.ts`.
const LOADER: &str = include_str!("page.js");

/// Makes the page of a window. `state` is what stands behind the # of the page that it is made from, so that it opens alike.
pub fn page(
    trace: &OpenedTrace,
    query: &ApiQuery,
    assets: &Assets,
    cancel: &dyn Fn() -> bool,
) -> Result<Vec<u8>, ApiError> {
    let asset = |name: &str| {
        let asset = assets.get(name);
        let missing = || {
            ApiError::not_found(format!(
                "this mpitrace was built without {name}, which pages of their own need"
            ))
        };
        asset.ok_or_else(missing)
    };
    let (style, script, answers) = (
        asset("style.css")?,
        asset("viewer.js")?,
        asset("view.wasm")?,
    );
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
    // Nothing runs in the page but what has this word, which nobody can know beforehand.
    let word = crate::system::random::digits::<16>().map_err(|error| ApiError {
        status: 500,
        message: error.to_string(),
    })?;
    let (name, state) = (escaped(&trace.name), escaped(query.text("state")));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'nonce-{word}' \
         'wasm-unsafe-eval'; style-src 'nonce-{word}'; img-src blob:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{name}</title>\n<style nonce=\"{word}\">"
    );
    page.push_str(&String::from_utf8_lossy(&style.bytes).replace("</style", "<\\/style"));
    page.push_str("</style>\n</head>\n<body>\n<div id=\"page\"></div>\n");
    for (id, bytes) in [
        ("answers", &answers.bytes[..]),
        ("trace", &part),
        ("waits", &waits),
    ] {
        let attributes = match id {
            "trace" => format!(" data-name=\"{name}\" data-state=\"{state}\""),
            _ => String::new(),
        };
        // A type that is no script's is not run.
        let _ = write!(page, "<script type=\"text/plain\" id=\"{id}\"{attributes}>");
        push_base64(&mut page, bytes);
        page.push_str("</script>\n");
    }
    for (kind, text) in [
        ("text/javascript", LOADER),
        ("module", &String::from_utf8_lossy(&script.bytes)),
    ] {
        let _ = write!(page, "<script type=\"{kind}\" nonce=\"{word}\">");
        page.push_str(&inlined(text));
        page.push_str("</script>\n");
    }
    page.push_str("</body>\n</html>\n");
    Ok(page.into_bytes())
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
