//! Output on a terminal: names in a trace may hold what a terminal obeys, or what turns the order of letters round. It is shown
//! there and not obeyed. Files and pipes get every byte as it is.

pub mod json;
pub mod progress;
pub mod table;
pub mod units;

use crate::failure::Failure;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, StdoutLock, Write};

/// Whether a terminal must not get this character: control characters but for the end of a line and the tab, and marks that
/// change the direction of writing.
fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && !matches!(c, '\n' | '\t')
}

/// The text with what a terminal would obey as `\u{1b}` and the like.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Writing to a String cannot fail.
        let _ = match is_obeyed(c) {
            true => write!(out, "\\u{{{:x}}}", u32::from(c)),
            false => out.write_char(c),
        };
    }
    out
}

/// A name for a place where it must not begin another line or column: cleaned, with `\n` for the end of a line and a blank for a tab.
pub fn one_line(name: &str) -> String {
    clean(name).replace('\n', "\\n").replace('\t', " ")
}

/// Says a line on stderr, with the arguments of `format!`. A terminal gets it cleaned.
macro_rules! tell {
    ($($words:tt)*) => {
        $crate::terminal::tell_line(&format!($($words)*))
    };
}
pub(crate) use tell;

/// Says a line on stderr. Where stderr cannot be written to, nobody is there to be told.
pub fn tell_line(line: &str) {
    let mut out = io::stderr().lock();
    let _ = match out.is_terminal() {
        true => writeln!(out, "{}", clean(line)),
        false => writeln!(out, "{line}"),
    };
}

/// The lines of a text of at most `columns` characters, as far as its words allow: the first behind `first`, the others as far to the right.
pub fn wrapped(first: &str, text: &str, columns: usize) -> Vec<String> {
    let indent = " ".repeat(first.chars().count());
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut has_words = false;
    for word in text.split_whitespace() {
        if has_words && line.chars().count() + 1 + word.chars().count() > columns {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            has_words = false;
        }
        if has_words {
            line.push(' ');
        }
        line.push_str(word);
        has_words = true;
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// Standard output, cleaned if it is a terminal.
pub fn stdout() -> Stdout {
    let out = io::stdout().lock();
    let cleaner = out.is_terminal().then(Cleaner::default);
    Stdout { out, cleaner }
}

/// Standard output of a command whose exit code is a verdict, which stands where nobody reads the output to its end.
pub fn stdout_beside_verdict() -> OutputBesideVerdict<Stdout> {
    OutputBesideVerdict(stdout())
}

/// Output that may end early without a failure: what nobody reads is dropped, so that the command comes to its exit code.
pub struct OutputBesideVerdict<W>(W);

impl<W: Write> Write for OutputBesideVerdict<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

/// Writes a text to standard output, cleaned if that is a terminal.
///
/// # Errors
/// The failure of the output, by the name stdout.
pub fn print_text(text: &str) -> Result<(), Failure> {
    let mut out = stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::output("stdout", &error))
}

/// Standard output for what a command says.
pub struct Stdout {
    out: StdoutLock<'static>,
    cleaner: Option<Cleaner>,
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.cleaner {
            Some(cleaner) => self.out.write_all(cleaner.add(bytes).as_bytes())?,
            None => return self.out.write(bytes),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(cleaner) = &mut self.cleaner {
            self.out.write_all(cleaner.end().as_bytes())?;
        }
        self.out.flush()
    }
}

/// Cleans text that comes in parts.
#[derive(Debug, Default)]
struct Cleaner {
    /// The beginning of a character whose end has not come.
    begun: Vec<u8>,
}

impl Cleaner {
    /// Takes further bytes. Gives the text that can be shown now.
    fn add(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.begun) {
            // Not at the end of what is there: it is no text at this place, whatever comes.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.begun.len(),
        };
        let rest = self.begun.split_off(whole);
        let text = clean(&String::from_utf8_lossy(&self.begun));
        self.begun = rest;
        text
    }

    /// Gives the rest of the text, at the end.
    fn end(&mut self) -> String {
        clean(&String::from_utf8_lossy(&std::mem::take(&mut self.begun)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_stay_on_their_line() {
        assert_eq!(one_line("a\n\tb\x1b\r"), "a\\n b\\u{1b}\\u{d}");
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(
            clean("a\x1b[31mb\x07\r\n\tü"),
            "a\\u{1b}[31mb\\u{7}\\u{d}\n\tü"
        );
        assert_eq!(
            clean("x\u{202e}y\u{2066}z\u{9b}"),
            "x\\u{202e}y\\u{2066}z\\u{9b}"
        );
    }

    /// Writes to what nobody reads fail, and other failures stay failures.
    #[test]
    fn what_nobody_reads_is_dropped() {
        struct Fails(io::ErrorKind);
        impl Write for Fails {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(self.0.into())
            }
        }
        let written = |kind| {
            let mut out = OutputBesideVerdict(Fails(kind));
            out.write_all(b"text").and_then(|()| out.flush())
        };
        assert!(written(io::ErrorKind::BrokenPipe).is_ok());
        assert!(written(io::ErrorKind::StorageFull).is_err());
    }

    proptest! {
        /// However the text is cut into parts, the same comes out, and nothing in it is obeyed.
        #[test]
        fn parts_are_as_the_whole(text: String, cuts in prop::collection::vec(0..64_usize, 0..6)) {
            let mut cleaner = Cleaner::default();
            let (mut out, mut rest) = (String::new(), text.as_bytes());
            for cut in cuts {
                let (part, later) = rest.split_at(cut.min(rest.len()));
                out += &cleaner.add(part);
                rest = later;
            }
            out += &cleaner.add(rest);
            out += &cleaner.end();
            prop_assert!(!out.chars().any(is_obeyed));
            prop_assert_eq!(out, clean(&text));
        }

        #[test]
        fn no_bytes_are_obeyed(bytes: Vec<u8>) {
            let mut cleaner = Cleaner::default();
            let out = cleaner.add(&bytes) + &cleaner.end();
            prop_assert!(!out.chars().any(is_obeyed));
        }
    }
}
