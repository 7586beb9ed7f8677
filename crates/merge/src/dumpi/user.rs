//! The program's own events: regions and states of MPE's API are a Function_enter record where they begin and a
//! Function_exit record where they end; markers, texts and solo events are annotations. DUMPI has no data for any of them, so
//! values stand in the names of markers.

use super::convert::Converter;
use super::extension::Halves;
use blockfile::user::{UserCategoryKind, UserEvent, UserEventContent};
use std::io::Write;
use trace_formats::dumpi::write::{DumpiWriteError, DumpiWriter, RecordHead};

/// Keys of regions begin with the letters REG, above all user addresses.
const REGION: u64 = 0x5245_4700_0000_0000;
/// Keys of states and events of MPE's API begin with the letters MPE.
const MPE: u64 = 0x4D50_4500_0000_0000;
/// Name of the events by which the recorder tells which I/O libraries are in the process.
const LIBRARY: &str = "library";

impl Converter<'_> {
    /// Writes what the program tells. Messages that only it knows of have no record.
    ///
    /// # Errors
    /// If the output fails.
    pub fn user_event<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        event: &UserEvent<'_>,
        head: &RecordHead,
    ) -> Result<(), DumpiWriteError> {
        let number = event.number;
        let named = self.user_events.names.get(&number);
        let name = |what: &str| named.map_or_else(|| format!("{what} {number}"), |n| n.1.clone());
        let is_real = named.is_some_and(|n| n.0 == UserCategoryKind::Real);
        let only = |enter| Halves {
            enter: enter && self.tracing.enter,
            exit: !enter && self.tracing.exit,
        };
        let (key, label, halves) = match event.content {
            UserEventContent::Enter | UserEventContent::Exit => {
                let label = name("region");
                (
                    REGION | u64::from(number as u32),
                    label,
                    only(event.content == UserEventContent::Enter),
                )
            }
            UserEventContent::Mark(bits) => {
                let label = name("marker");
                let value = match is_real {
                    true => f64::from_bits(bits).to_string(),
                    false => (bits as i64).to_string(),
                };
                return self.text(writer, format!("{label}={value}"), head);
            }
            // The program does not say it: simulators have no use for it.
            UserEventContent::Text(_) if named.is_some_and(|n| n.1 == LIBRARY) => return Ok(()),
            UserEventContent::Text(text) => {
                let text = String::from_utf8_lossy(text).into_owned();
                return self.text(writer, text, head);
            }
            UserEventContent::Mpe(_) => {
                let start = self
                    .user_events
                    .starts
                    .get(&number)
                    .copied()
                    .unwrap_or(number);
                let key = MPE | u64::from(start as u32);
                match self.user_events.numbers.get(&start) {
                    Some((UserCategoryKind::State, name)) => {
                        (key, name.clone(), only(start == number))
                    }
                    Some((_, name)) => (key, name.clone(), self.tracing),
                    None => (key, format!("event {number}"), self.tracing),
                }
            }
            UserEventContent::Send(_) | UserEventContent::Receive(_) => return Ok(()),
        };
        self.names.region(writer, (key, &label), head, halves)
    }

    /// Writes a text as an annotation.
    ///
    /// # Errors
    /// If the output fails.
    pub fn text<W: Write>(
        &mut self,
        writer: &mut DumpiWriter<W>,
        text: String,
        head: &RecordHead,
    ) -> Result<(), DumpiWriteError> {
        let (key, text) = self.user_events.text(text);
        self.annotation(writer, key, &text, head)
    }
}
