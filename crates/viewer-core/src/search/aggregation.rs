//! The language of aggregations: `sum dur by rank where MPI_Recv dur>1ms`, a function, what it is of, by what rows are grouped, and a search.
//!
//! | part | |
//! |---|---|
//! | function | `sum`, `mean`, `max`, `min` of a value, or `count` |
//! | value | `dur`, `bytes` (of messages, calls and operations), `wait` (what the call waited, of the waits that the search asks for), or a number by its key, such as `size`; not after `count` |
//! | `by` | `rank` (of a message its sender), `thread`, `comm`, `name`, `class`, `peer` (sender and receiver of a message), or a value by its key, such as `tag`; several with commas between them |
//! | `where` | a search, as [`SearchTerms`] has it; without it, all of the trace |

use super::language::{SearchTerms, is_key};
use crate::base::error::ApiError;

/// Things by which rows are grouped, at most.
const MAX_GROUPED_BY: usize = 4;
/// What rows can be grouped by, for people.
pub(crate) const GROUPED_BY: &str = "rank, thread, comm, name, class, peer or a key such as tag";

/// Function of an aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateFunction {
    /// Number of drawables.
    Count,
    /// Sum of their values.
    Sum,
    /// Sum divided by number.
    Mean,
    /// Largest value.
    Max,
    /// Least value.
    Min,
}

impl AggregateFunction {
    const ALL: [(AggregateFunction, &'static str); 5] = [
        (AggregateFunction::Sum, "sum"),
        (AggregateFunction::Count, "count"),
        (AggregateFunction::Mean, "mean"),
        (AggregateFunction::Max, "max"),
        (AggregateFunction::Min, "min"),
    ];

    /// Name of the function in the language.
    pub fn name(self) -> &'static str {
        let mut all = AggregateFunction::ALL.iter();
        all.find(|(function, _)| *function == self)
            .map_or("", |(_, name)| name)
    }
}

/// Value of a drawable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AggregatedValue {
    /// Seconds from its start to its end.
    Duration,
    /// Bytes of a message or an access.
    Bytes,
    /// Seconds that a call waited.
    Wait,
    /// The number behind a key.
    Key(String),
}

/// What the rows of the table are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupedBy {
    /// Rank of a state or event, and of the sender of a message.
    Rank,
    /// Thread of a state or event.
    Thread,
    /// Communicator of a state or event.
    Comm,
    /// Category.
    Name,
    /// Class of the category.
    Class,
    /// Sender and receiver of a message.
    Peer,
    /// The value behind a key.
    Key(String),
}

impl GroupedBy {
    fn of(key: String) -> Self {
        match key.as_str() {
            "rank" => GroupedBy::Rank,
            "thread" => GroupedBy::Thread,
            "comm" => GroupedBy::Comm,
            "name" | "category" => GroupedBy::Name,
            "class" => GroupedBy::Class,
            "peer" => GroupedBy::Peer,
            _ => GroupedBy::Key(key),
        }
    }

    /// Name of it in the language.
    pub fn name(&self) -> &str {
        match self {
            GroupedBy::Rank => "rank",
            GroupedBy::Thread => "thread",
            GroupedBy::Comm => "comm",
            GroupedBy::Name => "name",
            GroupedBy::Class => "class",
            GroupedBy::Peer => "peer",
            GroupedBy::Key(key) => key,
        }
    }
}

/// An aggregation as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateQuery {
    /// Function.
    pub function: AggregateFunction,
    /// What it is of; of a count, durations.
    pub value: AggregatedValue,
    /// What the rows are: one for each combination that there is of these, none of which comes twice.
    pub by: Vec<GroupedBy>,
    /// The search; nothing if all drawables are meant.
    pub terms: Option<SearchTerms>,
    /// The search as it was written.
    pub terms_text: String,
}

/// A word of a query, and the byte at which it begins.
struct QueryWord<'t> {
    at: usize,
    text: &'t str,
}

/// The next word of a text from a byte on.
fn word(text: &str, from: usize) -> QueryWord<'_> {
    let rest = text.get(from..).unwrap_or_default();
    let at = from + rest.len() - rest.trim_start().len();
    let rest = rest.trim_start();
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    QueryWord {
        at,
        text: &rest[..end],
    }
}

impl<'t> QueryWord<'t> {
    /// The word up to its first comma.
    fn item(self) -> QueryWord<'t> {
        let text = self.text.split(',').next().unwrap_or_default();
        QueryWord { text, ..self }
    }

    fn end(&self) -> usize {
        self.at + self.text.len()
    }

    fn is(&self, wanted: &str) -> bool {
        self.text.eq_ignore_ascii_case(wanted)
    }

    /// A key of a value.
    fn as_key(&self) -> Option<String> {
        let is_word = self.is("by") || self.is("where");
        (!self.text.is_empty() && self.text.chars().all(is_key) && !is_word)
            .then(|| self.text.to_lowercase())
    }
}

impl AggregateQuery {
    /// Reads an aggregation.
    ///
    /// # Errors
    /// The text is none: says what was expected, and at which character.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        let wrong = |word: &QueryWord<'_>, expected: &str| {
            let place = text.get(..word.at).unwrap_or(text).chars().count() + 1;
            ApiError::bad_request(format!("a: expected {expected} at character {place}"))
        };
        let first = word(text, 0);
        let mut functions = AggregateFunction::ALL.iter();
        let function = functions.find(|(_, name)| first.is(name));
        let (function, _) =
            *function.ok_or_else(|| wrong(&first, "sum, count, mean, max or min"))?;
        let mut next = word(text, first.end());
        let mut value = AggregatedValue::Duration;
        if function != AggregateFunction::Count {
            let key = next.as_key();
            value = match key.as_deref() {
                Some("dur" | "duration") => AggregatedValue::Duration,
                Some("bytes") => AggregatedValue::Bytes,
                Some("wait") => AggregatedValue::Wait,
                Some(key) => AggregatedValue::Key(key.to_owned()),
                None => return Err(wrong(&next, "dur, bytes, wait or a key such as size")),
            };
            next = word(text, next.end());
        }
        if !next.is("by") {
            return Err(wrong(&next, "by"));
        }
        let mut by: Vec<GroupedBy> = Vec::new();
        loop {
            let item = word(text, next.end()).item();
            let key = item.as_key().ok_or_else(|| wrong(&item, GROUPED_BY))?;
            let grouped = GroupedBy::of(key);
            if by.contains(&grouped) {
                let expected = format!("something else than {}, which came before,", item.text);
                return Err(wrong(&item, &expected));
            }
            if by.len() == MAX_GROUPED_BY {
                return Err(wrong(
                    &item,
                    &format!("no more than {MAX_GROUPED_BY} after by"),
                ));
            }
            by.push(grouped);
            next = word(text, item.end());
            if !next.text.starts_with(',') {
                break;
            }
            // What follows the comma may stand close to it.
            next.text = &next.text[..1];
        }
        if next.text.is_empty() {
            return Ok(AggregateQuery {
                function,
                value,
                by,
                terms: None,
                terms_text: String::new(),
            });
        }
        if !next.is("where") {
            return Err(wrong(&next, "a comma, where or nothing more"));
        }
        // Blanks in place of what stands before, so that places are those of the whole text.
        let (head, terms) = text.split_at(next.end());
        let padded = " ".repeat(head.chars().count()) + terms;
        let found = SearchTerms::parse(&padded).map_err(|error| ApiError {
            message: error.message.replacen("q: ", "a: after where, ", 1),
            ..error
        })?;
        Ok(AggregateQuery {
            function,
            value,
            by,
            terms: Some(found),
            terms_text: terms.trim().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn functions_values_groups_and_searches() {
        let query = AggregateQuery::parse("sum dur by rank where MPI_Recv dur>1ms").unwrap();
        assert_eq!(query.function, AggregateFunction::Sum);
        assert_eq!(query.value, AggregatedValue::Duration);
        assert_eq!(query.by, [GroupedBy::Rank]);
        assert_eq!(query.terms, SearchTerms::parse("MPI_Recv dur>1ms").ok());
        assert_eq!(query.terms_text, "MPI_Recv dur>1ms");
        let query = AggregateQuery::parse("  COUNT  BY  name ").unwrap();
        assert_eq!(query.function, AggregateFunction::Count);
        assert_eq!((query.by, query.terms), (vec![GroupedBy::Name], None));
        let query = AggregateQuery::parse("max size by tag where is:arrow").unwrap();
        assert_eq!(query.value, AggregatedValue::Key("size".into()));
        assert_eq!(query.by, [GroupedBy::Key("tag".into())]);
        let of = |name: &str| GroupedBy::of(name.to_owned());
        for text in ["rank,name,tag", "rank, category, TAG", " rank ,name , tag "] {
            let query = AggregateQuery::parse(&format!("count by {text} where MPI_Recv"));
            let query = query.unwrap();
            assert_eq!(query.by, [of("rank"), of("name"), of("tag")], "{text}");
            assert_eq!(query.terms_text, "MPI_Recv");
        }
    }

    #[test]
    fn what_is_none_is_told_with_its_place() {
        for (text, expected) in [
            (
                "",
                "a: expected sum, count, mean, max or min at character 1",
            ),
            (
                "total dur by rank",
                "a: expected sum, count, mean, max or min at character 1",
            ),
            (
                "sum",
                "a: expected dur, bytes, wait or a key such as size at character 4",
            ),
            (
                "sum by rank",
                "a: expected dur, bytes, wait or a key such as size at character 5",
            ),
            ("sum dur rank", "a: expected by at character 9"),
            ("count dur by rank", "a: expected by at character 7"),
            (
                "sum dur by",
                "a: expected rank, thread, comm, name, class, peer or a key such as tag at character 11",
            ),
            (
                "sum dur by rank MPI_Recv",
                "a: expected a comma, where or nothing more at character 17",
            ),
            (
                "sum dur by rank,",
                "a: expected rank, thread, comm, name, class, peer or a key such as tag at character 17",
            ),
            (
                "sum dur by rank, where MPI_Recv",
                "a: expected rank, thread, comm, name, class, peer or a key such as tag at character 18",
            ),
            (
                "sum dur by name,category",
                "a: expected something else than category, which came before, at character 17",
            ),
            (
                "count by rank,thread,comm,name,class",
                "a: expected no more than 4 after by at character 32",
            ),
            (
                "sum dur by rank where dur>x",
                "a: after where, expected a time, such as 1.5ms at character 27",
            ),
        ] {
            assert_eq!(
                AggregateQuery::parse(text).unwrap_err().message,
                expected,
                "{text}"
            );
        }
        let error = AggregateQuery::parse("sum dur by rank where").unwrap_err();
        assert!(
            error.message.starts_with("a: after where, expected a name"),
            "{}",
            error.message
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            let _ = AggregateQuery::parse(&text);
        }

        #[test]
        fn words_in_any_order_are_read_or_refused(words in prop::collection::vec("sum|count|by|where|dur|rank|,|name,|é|\"|dur>1ms", 0..9)) {
            let _ = AggregateQuery::parse(&words.join(" "));
        }
    }
}
