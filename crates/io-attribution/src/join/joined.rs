//! The totals of an attribution.

/// What came of the join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// Start of the first call of any rank, ns on rank 0's clock: pictures count time from here. `None` without ranks.
    pub zero: Option<i64>,
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
    /// Written by several calls of one collective access.
    pub may_carry: u64,
    /// Bytes of the file that several calls of one collective access wrote.
    pub overwritten: u64,
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
