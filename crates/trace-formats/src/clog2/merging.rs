//! The records of any file as they stand in a merged one: communicators by their numbers in one table for all, times on
//! root's clock (`spec/clog2.md` sections 5.4, 11.1 and 14).

use super::comm::{Clog2CommKind, CommTable, UNKNOWN_LID};
use super::preamble::Preamble;
use super::record::{Clog2Body, Clog2Record};

/// The changes that MPE's merge, clog2_join and clog2_print make to each record.
#[derive(Clone, Debug)]
pub(crate) struct Merging {
    /// By index of the file's table the number in the merged file, and whether it is an intercommunicator.
    comms: Vec<(i32, bool)>,
    is_local: bool,
    /// Seconds added to the times of a local file, from its last TIMESHIFT.
    shift: f64,
}

impl Merging {
    /// With the numbers that the file's own table has; without a table they stay as they are.
    pub(crate) fn new(preamble: &Preamble, table: Option<&CommTable>) -> Self {
        let entries = table.iter().flat_map(|table| &table.0);
        Merging::with_lids(
            preamble,
            entries.map(|e| (e.lid, e.kind == Clog2CommKind::Inter)),
        )
    }

    /// With these numbers for the entries of its table.
    pub(crate) fn with_lids(preamble: &Preamble, comms: impl Iterator<Item = (i32, bool)>) -> Self {
        Merging {
            comms: comms.collect(),
            is_local: !preamble.is_finalized,
            shift: 0.0,
        }
    }

    fn comm(&self, index: i32) -> Option<(i32, bool)> {
        let index = usize::try_from(index).ok()?;
        self.comms.get(index).copied()
    }

    /// The record as it is in the merged file. Records must come in the order of the file.
    #[inline]
    pub(crate) fn apply(&mut self, mut record: Clog2Record) -> Clog2Record {
        if self.is_local {
            if let Clog2Body::TimeShift { shift } = &mut record.body {
                self.shift = *shift;
                *shift *= -1.0;
            }
            record.header.time += self.shift;
        }
        let own = record.header.icomm;
        let Some((own_lid, is_inter)) = self.comm(own) else {
            // A number that is in no table stays, also that of the partner's side.
            if let Clog2Body::Msg(msg) = &mut record.body
                && msg.icomm == UNKNOWN_LID
            {
                msg.icomm = own;
            }
            return record;
        };
        let lid = |index: i32| self.comm(index).map(|(lid, _)| lid);
        // The two sides of an intercommunicator are the entries behind it (`spec/clog2.md` section 5.3).
        let (local, remote) = if is_inter {
            (own.saturating_add(1), own.saturating_add(2))
        } else {
            (own, own)
        };
        match &mut record.body {
            Clog2Body::Bare { .. } | Clog2Body::Cargo { .. } => {
                record.header.icomm = lid(local).unwrap_or(own);
            }
            Clog2Body::Msg(msg) => {
                record.header.icomm = lid(local).unwrap_or(own);
                msg.icomm = lid(remote).unwrap_or(msg.icomm);
            }
            Clog2Body::Comm(comm) => {
                record.header.icomm = own_lid;
                if comm.icomm != UNKNOWN_LID {
                    comm.icomm = lid(comm.icomm).unwrap_or(comm.icomm);
                }
            }
            _ => record.header.icomm = own_lid,
        }
        record
    }
}
