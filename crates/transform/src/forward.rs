//! CLOG2 files whose messages arrive before they were sent: what is left of clocks that no comparison could make one. Their times
//! are corrected forward ([`unify::forward`]).

use std::io::{Seek, Write};
use trace_formats::clog2::{Clog2Body, Clog2Error, Clog2Reader, Clog2Record, Clog2Writer};
use unify::forward::{ForwardLimits, ForwardedMessages, Forwarding};

/// Counts the messages of a file, those that arrive before they were sent, and what correcting them would move.
///
/// # Errors
/// The file is damaged.
pub fn count_late_messages(reader: &Clog2Reader<'_>) -> Result<ForwardedMessages, Clog2Error> {
    forward(reader, |_| Ok(()))
}

/// Writes the records of a file with corrected times, in the order of these times if the file is in order of time. `writer` was begun
/// with the file's preamble. Takes memory by the error of the clocks.
///
/// # Errors
/// The file is damaged, or the errors of the output.
pub fn write_forwarded<W: Write + Seek>(
    reader: &Clog2Reader<'_>,
    mut writer: Clog2Writer<W>,
) -> Result<(W, ForwardedMessages), Clog2Error> {
    let result = forward(reader, |record| writer.write(record))?;
    let table = reader.comm_table();
    let table = table.unwrap_or_else(|_| reader.comm_table_of_records());
    Ok((writer.finish(&table, reader.preamble())?, result))
}

/// Gives the records of a file with corrected times to `put`, up to its first error.
fn forward(
    reader: &Clog2Reader<'_>,
    mut put: impl FnMut(&Clog2Record) -> Result<(), Clog2Error>,
) -> Result<ForwardedMessages, Clog2Error> {
    let mut forwarding = Forwarding::new(ForwardLimits::NONE);
    let mut result = Ok(());
    let mut sink = |record: &Clog2Record| {
        if result.is_ok() {
            result = put(record);
        }
    };
    for record in reader.records() {
        let record = record?;
        if !matches!(record.body, Clog2Body::EndBlock | Clog2Body::EndLog) {
            forwarding.push(record, &mut sink);
        }
    }
    let messages = forwarding.finish(&mut sink);
    result.map(|()| messages)
}
