//! The MPI library below the recorder, which is not linked to it: its types and constants as they were when the recorder was
//! built ([`header`], [`values`]), its functions by index ([`functions`]), where they are now ([`library`], [`slots`]), and how the
//! recorder itself calls them ([`pmpi`]).

pub(crate) mod constants;
pub(crate) mod functions;
pub(crate) mod handles;
pub(crate) mod header;
pub(crate) mod library;
pub(crate) mod needed;
pub(crate) mod pmpi;
pub(crate) mod slots;
pub(crate) mod status;
pub(crate) mod symbol;
pub(crate) mod table;
pub(crate) mod values;
pub(crate) mod world;
