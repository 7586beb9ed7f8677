//! The MPI library below the recorder, which is not linked to it: its binary interface ([`family`], [`facts`], [`abi`], [`handles`], [`status`],
//! [`constants`]), the functions of MPI by index ([`functions`]), where they are in this process ([`library`], [`slots`]), and how the
//! recorder itself calls them ([`pmpi`], [`types`]).

pub(crate) mod abi;
pub(crate) mod constants;
pub(crate) mod dynamic;
pub(crate) mod facts;
pub(crate) mod family;
pub(crate) mod functions;
pub(crate) mod handles;
pub(crate) mod left_out;
pub(crate) mod library;
pub(crate) mod pmpi;
pub(crate) mod slots;
pub(crate) mod status;
pub(crate) mod symbol;
pub(crate) mod types;
pub(crate) mod world;
