//! The sink that writes CLOG2: each state is cut into the event that begins it and the one that ends it.

use super::record::{MergedBody, MergedRecord};
use trace_formats::clog2::{Clog2Error, Clog2Writer, CommTable, Preamble};
use trace_formats::slog2::PendingFile;

/// A CLOG2 file being written of the merged stream, which must have the beginnings of states ([`super::MergedBody::Enter`]).
pub(super) struct Clog2Sink {
    writer: Clog2Writer<PendingFile>,
}

impl Clog2Sink {
    pub(super) fn new(out: PendingFile, preamble: &Preamble) -> Result<Clog2Sink, Clog2Error> {
        let writer = Clog2Writer::new(out, preamble)?;
        Ok(Clog2Sink { writer })
    }

    /// Takes the next record. A state's end becomes its end event; the file has no room for what counters have counted.
    #[inline]
    pub(super) fn take(&mut self, record: &MergedRecord) -> Result<(), Clog2Error> {
        let header = &record.header;
        match &record.body {
            MergedBody::Enter { etype } => self.writer.write_event(header, *etype, None),
            MergedBody::Leave(state) => {
                let cargo = state.info.cargo();
                self.writer
                    .write_event(header, state.etypes[1], cargo.as_ref())
            }
            MergedBody::Message { message, .. } => self.writer.write_message(header, message),
            _ => self.writer.write(&record.clog2()),
        }
    }

    /// Ends the file.
    pub(super) fn finish(
        self,
        table: &CommTable,
        preamble: &Preamble,
    ) -> Result<PendingFile, Clog2Error> {
        self.writer.finish(table, preamble)
    }
}
