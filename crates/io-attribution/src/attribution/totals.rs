//! The totals of an attribution.

/// The totals of an attribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AttributionTotals {
    /// Start of the first call of any rank, ns on rank 0's clock: pictures count time from here. `None` without ranks.
    pub zero: Option<i64>,
    /// Data access calls.
    pub calls: u64,
    /// Operations of all kinds.
    pub operations: u64,
    /// Transfers of ranks to or from a data file.
    pub transfers: u64,
    /// Bytes that the transfers moved.
    pub moved: u64,
    /// Bytes of sieving holes: moved by these transfers, but asked for by no call.
    pub hole_bytes: u64,
    /// Bytes that calls asked for and that were found in transfers, to the byte.
    pub exact: u64,
    /// Bytes that were attributed by pages.
    pub page: u64,
    /// Bytes that were attributed by the range between the first and the last byte of a call.
    pub bounding_extent: u64,
    /// Bytes that several transfers moved: which one served the call is not known.
    pub ambiguous: u64,
    /// Bytes that several calls of one collective access wrote.
    pub may_carry: u64,
    /// Bytes of the file that several calls of one collective access wrote.
    pub overwritten: u64,
    /// Bytes that calls asked for and that no transfer moved: reads behind the end of the file, lost records.
    pub unattributed: u64,
    /// Collective accesses that each rank executed by itself.
    pub independent: u64,
    /// Requests at servers whose CallID, as the server's table had it, is that of the libc call which was running.
    pub server_agreements: u64,
    /// Requests at servers whose CallID is not that of the libc call which was running.
    pub server_differences: u64,
    /// Requests at servers for which no libc call was found.
    pub server_unattributed: u64,
}
