//! Items of all processes, in order of time, become facts.

use super::item::Item;
use crate::model::Stop;
use wrappers::Table;

use super::Fact;

/// What came of the join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Data access calls.
    pub calls: u64,
    /// Operations of all kinds.
    pub operations: u64,
    /// Of them, transfers of ranks to or from a data file.
    pub transfers: u64,
    /// Bytes that these moved.
    pub moved: u64,
    /// Bytes of them that no call had asked for.
    pub filler: u64,
    /// Bytes that calls asked for and that were found in transfers, to the byte.
    pub exact: u64,
    /// By pages.
    pub page: u64,
    /// By the range between first and last byte.
    pub hull: u64,
    /// Read by several transfers.
    pub may_serve: u64,
    /// Bytes that calls asked for and that no transfer moved: reads behind the end of the file, lost records.
    pub unattributed: u64,
    /// Collective accesses that each rank executed by itself.
    pub independent: u64,
    /// Requests at servers whose CallID, as the server's table had it, is that of the libc call which was running.
    pub server_agreements: u64,
    /// Requests where it is another.
    pub server_differences: u64,
    /// Requests for which no libc call was found.
    pub server_unattributed: u64,
}

/// Puts items together.
#[derive(Debug)]
pub struct Joiner<'t> {
    #[expect(dead_code, reason = "names of functions")]
    table: &'t Table,
    joined: Joined,
}

impl<'t> Joiner<'t> {
    /// For records made with `table`.
    pub fn new(table: &'t Table) -> Joiner<'t> {
        Joiner {
            table,
            joined: Joined::default(),
        }
    }

    /// Takes the next item in order of time (ns on rank 0's clock), and gives what it makes known.
    ///
    /// # Errors
    /// Those of `put`.
    pub fn push(
        &mut self,
        _time: i64,
        _item: Item,
        _put: &mut dyn FnMut(&Fact) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        Ok(())
    }

    /// There are no more items: gives all that was waiting.
    ///
    /// # Errors
    /// Those of `put`.
    pub fn finish(self, _put: &mut dyn FnMut(&Fact) -> Result<(), Stop>) -> Result<Joined, Stop> {
        Ok(self.joined)
    }
}
