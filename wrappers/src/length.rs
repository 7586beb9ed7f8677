//! Rules for the number of elements of an array parameter ([`LengthRule`]).
//!
//! Numbers in these types are positions in the parameter list of the same function.

use crate::kind::{Direction, words};

words! {
    /// A number that an object tells, not an argument. What it is asked of follows in [`LengthQuery::of`].
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
pub struct LengthQuery {
    /// Property that is asked for.
    pub property: Property,
    /// The communicator or datatype.
    pub of: usize,
    /// The rank, for [`Property::Degree`].
    pub rank: Option<usize>,
}

/// Number of elements of an array, or of characters of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LengthRule {
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
    /// A property of an object.
    Query(LengthQuery),
    /// The smaller of an `in` parameter and what an object tells.
    Min(usize, LengthQuery),
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

/// The parameters that a rule may name, with their directions.
pub(crate) struct RuleScope<'a>(pub(crate) Vec<(&'a str, Direction)>);

impl RuleScope<'_> {
    /// Position of the parameter of that name.
    pub(crate) fn find(&self, name: &str) -> Result<usize, String> {
        let position = self.0.iter().position(|(other, _)| *other == name);
        position.ok_or_else(|| format!("no parameter {name}"))
    }

    /// The rule for the length of an array, the words between the brackets.
    pub(crate) fn array(&self, rule: &str) -> Result<LengthRule, String> {
        if let Some((factor, name)) = rule.split_once('*') {
            let factor = factor
                .parse()
                .map_err(|_| format!("not a number: {factor}"))?;
            return Ok(LengthRule::Times(factor, self.find(name)?));
        }
        let Some((verb, inner)) = call(rule)? else {
            let index = self.find(rule)?;
            return Ok(match self.0[index].1 {
                Direction::In => LengthRule::Param(index),
                Direction::Out => LengthRule::Returned(index),
                Direction::InOut => LengthRule::InOut(index),
            });
        };
        match verb {
            "sum" => Ok(LengthRule::Sum(self.find(inner)?)),
            "last" => Ok(LengthRule::Last(self.find(inner)?)),
            "min" => {
                let (name, asked) = inner.split_once(',').ok_or("min takes two values")?;
                let (verb, inner) = call(asked)?.ok_or("min takes what an object tells")?;
                Ok(LengthRule::Min(self.find(name)?, self.query(verb, inner)?))
            }
            _ => Ok(LengthRule::Query(self.query(verb, inner)?)),
        }
    }

    /// A property of an object.
    fn query(&self, verb: &str, inner: &str) -> Result<LengthQuery, String> {
        let property = Property::from_word(verb).ok_or_else(|| format!("unknown length {verb}"))?;
        let (of, rank) = match inner.split_once(',') {
            Some((of, rank)) => (of, Some(self.find(rank)?)),
            None => (inner, None),
        };
        if rank.is_some() != (property == Property::Degree) {
            return Err("degree, and only degree, takes a rank".into());
        }
        let of = self.find(of)?;
        Ok(LengthQuery { property, of, rank })
    }

    /// The rule for the length of a text.
    pub(crate) fn text(&self, rule: &str) -> Result<LengthRule, String> {
        if rule.starts_with("MPI_MAX_") {
            return Ok(LengthRule::NulWithinConstant(rule.to_owned()));
        }
        match self.array(rule)? {
            LengthRule::Param(index) | LengthRule::InOut(index) => Ok(LengthRule::NulWithin(index)),
            LengthRule::Returned(index) => Ok(LengthRule::Chars(index)),
            _ => Err("the length of a text is a parameter or a constant".into()),
        }
    }
}

/// `verb(inner)`, or `None` for a bare word.
fn call(rule: &str) -> Result<Option<(&str, &str)>, String> {
    match rule.split_once('(') {
        None => Ok(None),
        Some((verb, rest)) => match rest.strip_suffix(')') {
            Some(inner) => Ok(Some((verb, inner))),
            None => Err("no )".into()),
        },
    }
}
