//! How many elements an array parameter has ([`Len`]).
//!
//! Numbers in these types are positions in the parameter list of the same function.

use crate::kind::words;

words! {
    /// A number that an object tells, not an argument. What it is asked of follows in [`Query::of`].
    Property {
        /// Size of the communicator; of an intercommunicator, the size of the remote group.
        Peers = "peers",
        /// Size of the communicator's local group.
        Locals = "locals",
        /// Dimensions of a Cartesian topology.
        Dims = "ndims",
        /// Nodes of a graph topology.
        Nodes = "nodes",
        /// Edges of a graph topology.
        Edges = "edges",
        /// Neighbours of a node of a graph topology; asked of a communicator and a rank.
        Degree = "degree",
        /// Neighbours that send to this process.
        InDegree = "indegree",
        /// Neighbours to which this process sends.
        OutDegree = "outdegree",
        /// Integers of the constructor of a datatype.
        Integers = "integers",
        /// Addresses of the constructor of a datatype.
        Addresses = "addresses",
        /// Large counts of the constructor of a datatype.
        LargeCounts = "large_counts",
        /// Datatypes of the constructor of a datatype.
        Datatypes = "datatypes",
    }
}

/// A question about an object that is itself an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    /// What is asked.
    pub property: Property,
    /// The communicator or datatype.
    pub of: usize,
    /// The rank, for [`Property::Degree`].
    pub rank: Option<usize>,
}

/// Number of elements of an array, or of characters of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Len {
    /// The value of an `in` parameter.
    Param(usize),
    /// The value that an `out` parameter has after the call; nothing if it is negative, MPI_UNDEFINED included.
    Returned(usize),
    /// An `inout` parameter: the smaller of its values before and after the call.
    InOut(usize),
    /// A multiple of an `in` parameter.
    Times(u32, usize),
    /// The sum of an array that is itself a parameter.
    Sum(usize),
    /// The last element of an array that is itself a parameter; nothing if that is empty.
    Last(usize),
    /// What an object tells.
    Query(Query),
    /// The smaller of an `in` parameter and what an object tells.
    Min(usize, Query),
    /// Up to the NULL that ends it.
    NullEnded,
    /// Text up to its NUL.
    Nul,
    /// Text up to its NUL, in a buffer of as many bytes as the parameter says before the call (MPI_Info_get: one
    /// more). With 0 bytes nothing is written.
    NulWithin(usize),
    /// Text up to its NUL, in a buffer of as many bytes as the constant of that name says.
    NulWithinConstant(String),
    /// Text of as many characters as an `out` parameter says after the call.
    Chars(usize),
}
