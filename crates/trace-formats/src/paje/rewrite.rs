//! Writes a trace as it stands, line by line, with the field names of one dialect.

use std::io::Write;

use super::error::{PajeError, PajeErrorKind, Problem};
use super::line::{self, ValueSpan};
use super::names::{EventName, FieldDialect, KnownField};
use super::read::{PajeReader, PajeTrace, definition_word};

/// Copies a trace: definitions, order of events, order of fields and blanks stay. With a dialect, the names of fields
/// become those of it; nothing else differs.
///
/// # Errors
/// The trace is damaged, which shows while it is copied; and the errors of `out`.
pub fn rewrite(
    bytes: &[u8],
    dialect: Option<FieldDialect>,
    out: &mut impl Write,
) -> Result<(), PajeError> {
    let trace = PajeTrace::new(bytes);
    let mut reader = PajeReader::new(&trace);
    while reader.next()?.is_some() {}
    let mut rest = bytes;
    let mut tokens = Vec::new();
    let mut event = None;
    while !rest.is_empty() {
        let line = line::first_line(rest);
        let offset = (bytes.len() - rest.len()) as u64;
        rest = &rest[line.len()..];
        let failed = |problem| {
            PajeError::new(
                offset,
                PajeErrorKind {
                    line: 0,
                    cut: false,
                    problem,
                },
            )
        };
        line::split(line, &mut tokens).map_err(failed)?;
        let replaced = dialect.and_then(|dialect| renamed(line, &tokens, &mut event, dialect));
        let written = match replaced {
            Some((token, name)) => {
                let (before, behind) = (&line[..token.0], &line[token.1..]);
                out.write_all(before)
                    .and_then(|()| out.write_all(name.as_bytes()))
                    .and_then(|()| out.write_all(behind))
            }
            None => out.write_all(line),
        };
        written.map_err(|error| failed(Problem::Io(error)))?;
    }
    Ok(())
}

/// Position of the name of a field on a line of a definition, and its name in this dialect.
fn renamed(
    line: &[u8],
    tokens: &[ValueSpan],
    event: &mut Option<EventName>,
    dialect: FieldDialect,
) -> Option<((usize, usize), &'static str)> {
    let first = tokens.first()?.of(line);
    if first.first() != Some(&b'%') {
        return None;
    }
    let (word, rest) = definition_word(line, tokens);
    match word {
        b"EventDef" => {
            *event = rest
                .first()
                .map(|name| EventName::from_bytes(name.of(line)));
            None
        }
        b"EndEventDef" => {
            *event = None;
            None
        }
        word => {
            let field = KnownField::from_bytes(word)?;
            let start = word.as_ptr() as usize - line.as_ptr() as usize;
            Some(((start, start + word.len()), field.name((*event)?, dialect)))
        }
    }
}
