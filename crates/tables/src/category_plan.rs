//! Where the values of a category's info go.

use crate::column::ColumnType;
use crate::kind::TableKind;
use std::collections::{BTreeMap, HashMap};
use trace_model::{Category, Definitions, MessageField, NumberMap, counter_of, value_names};

/// Place of a category in the tables.
#[derive(Debug)]
pub struct CategoryPlan {
    /// The category, which tells how its infos are read.
    pub category: Category,
    /// Table of the category's drawables.
    pub kind: TableKind,
    /// Number of the category's name among those of the table.
    pub name: i32,
    /// Where each value of its info goes.
    pub values: Vec<ValuePlace>,
}

/// Where a value of an info goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValuePlace {
    /// To this column, counted from the first that comes from infos.
    Column(usize),
    /// To this column, unless it is −1, which says that nobody knows.
    ColumnIfKnown(usize),
    /// To the column of the tags of messages.
    Tag,
    /// To the column of the sizes of messages.
    Size,
    /// Nowhere: the table has no column for it.
    Nowhere,
}

/// What a table holds: names of its categories, and columns that come from their infos.
#[derive(Default)]
pub struct TablePlan {
    /// Names of the categories.
    pub names: Vec<String>,
    /// Names and types of the columns.
    pub columns: Vec<(String, ColumnType)>,
}

/// Plans of all categories by their index, and of the tables. `fixed` gives the columns that every table of a kind has.
pub fn plan(
    definitions: &Definitions,
    fixed: impl Fn(TableKind) -> Vec<&'static str>,
) -> (NumberMap<CategoryPlan>, BTreeMap<TableKind, TablePlan>) {
    let table = wrappers::table().ok();
    let mut plans = Vec::new();
    let mut tables: BTreeMap<TableKind, TablePlan> = BTreeMap::new();
    // Categories may share a name, and a dictionary has each value once.
    let mut places: HashMap<(TableKind, String), i32> = HashMap::new();
    for category in definitions.categories.iter().filter(|c| c.index >= 0) {
        let kind = TableKind::of(category, table);
        let entry = tables.entry(kind).or_default();
        let values = values(category, kind, entry, &fixed(kind));
        let text = category.name.to_str().into_owned();
        let name = *places.entry((kind, text)).or_insert_with_key(|(_, text)| {
            entry.names.push(text.clone());
            i32::try_from(entry.names.len() - 1).unwrap_or(i32::MAX)
        });
        let plan = CategoryPlan {
            category: category.clone(),
            kind,
            name,
            values,
        };
        plans.push((category.index, plan));
    }
    (plans.into_iter().collect(), tables)
}

/// The columns for the values of a category. Categories share a column if name and type are the same.
fn values(
    category: &Category,
    kind: TableKind,
    table: &mut TablePlan,
    taken: &[&str],
) -> Vec<ValuePlace> {
    let names = value_names(category);
    let types = category
        .info_types
        .iter()
        .map(|&letter| ColumnType::of(letter));
    let mut used: Vec<usize> = Vec::new();
    let pairs = names.iter().zip(types).zip(&category.info_keys);
    pairs
        .map(|((name_of_value, kind_of_value), key)| {
            let mut name = column_name(name_of_value);
            // A message's tag and size are columns in their own right.
            if kind == TableKind::Messages {
                match MessageField::of(&key.0) {
                    Some(MessageField::Tag) => return ValuePlace::Tag,
                    Some(MessageField::Size) => return ValuePlace::Size,
                    None => {}
                }
                if matches!(name.as_str(), "msg_tag" | "msg_size") {
                    return ValuePlace::Nowhere;
                }
            }
            if taken.contains(&name.as_str()) {
                name.push_str("_info");
            }
            let found = (0..)
                .map(|n| match n {
                    0 => name.clone(),
                    1 => format!("{name}_{}", kind_of_value.word()),
                    n => format!("{name}_{}_{n}", kind_of_value.word()),
                })
                .find_map(|name| place(table, &used, name, kind_of_value));
            used.extend(found);
            let is_counter = counter_of(key).is_some();
            let place = match is_counter || may_be_unknown(kind, name_of_value) {
                true => ValuePlace::ColumnIfKnown,
                false => ValuePlace::Column,
            };
            found.map_or(ValuePlace::Nowhere, place)
        })
        .collect()
}

/// Whether −1 in place of a value says that the trace does not tell it, as it does in place of each performance counter. A root may have
/// this number in a DUMPI file, and an operation its result.
fn may_be_unknown(kind: TableKind, name: &str) -> bool {
    match kind {
        TableKind::Calls => matches!(
            name,
            "bytes"
                | "received"
                | "sent"
                | "offset"
                | "request"
                | "completes"
                | "handle"
                | "target"
                | "exclusive"
                | "prepared"
                | "makes"
                | "remote"
        ),
        TableKind::Operations => matches!(name, "fd" | "offset"),
        _ => false,
    }
}

/// The column of this name, made now if there is none; `None` if it has another type or the category has a value in it.
fn place(table: &mut TablePlan, used: &[usize], name: String, kind: ColumnType) -> Option<usize> {
    match table.columns.iter().position(|(known, _)| *known == name) {
        Some(at) => (table.columns[at].1 == kind && !used.contains(&at)).then_some(at),
        None => {
            table.columns.push((name, kind));
            Some(table.columns.len() - 1)
        }
    }
}

/// Name of a column as queries like it: `call_id` for `CallID`, `lasts_ns` for `lasts (ns)`, else small letters with `_` between.
fn column_name(name: &str) -> String {
    if name == "CallID" {
        return "call_id".to_owned();
    }
    let mut column = String::new();
    for c in name.chars() {
        match c.is_ascii_alphanumeric() {
            true => column.push(c.to_ascii_lowercase()),
            false if column.ends_with('_') || column.is_empty() => {}
            false => column.push('_'),
        }
    }
    match column.trim_end_matches('_') {
        "" => "value".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace_model::{Color, Topology};

    #[test]
    fn names_of_columns_are_names_of_sql() {
        for (name, column) in [
            ("CallID", "call_id"),
            ("lasts (ns)", "lasts_ns"),
            ("page-faults", "page_faults"),
            ("µ", "value"),
        ] {
            assert_eq!(column_name(name), column);
        }
    }

    #[test]
    fn values_of_one_name_and_type_share_a_column() {
        let category = |index, name: &str, format: &str| {
            let mut category = Category::new(index, name.into(), Topology::State, Color::WHITE);
            category.set_info_format(format.as_bytes());
            category
        };
        let definitions = Definitions {
            categories: vec![
                category(0, "MPI_Send", "bytes=%l, rank=%d"),
                category(1, "MPI_Recv", "bytes=%l"),
                category(2, "MPI_Bcast", "bytes=%s, bytes=%l"),
                category(3, "solve", "bytes=%E"),
                category(4, "MPI_Recv", ""),
                category(5, "MPI_Waitall", "faults=+%l"),
                category(6, "step", "faults=+%l, n=%l"),
            ],
            ..Definitions::default()
        };
        let (categories, tables) = plan(&definitions, |_| vec!["rank"]);
        let calls = &tables[&TableKind::Calls];
        let expected = ["MPI_Send", "MPI_Recv", "MPI_Bcast", "MPI_Waitall"];
        assert_eq!(calls.names, expected);
        let names: Vec<&str> = calls.columns.iter().map(|(name, _)| &**name).collect();
        let expected = ["bytes", "rank_info", "bytes_text", "bytes_2", "faults"];
        assert_eq!(names, expected);
        let values = |index, places: &[ValuePlace]| {
            let plan = categories.get(index).expect("a plan");
            assert_eq!(plan.values, places);
        };
        use ValuePlace::{Column, ColumnIfKnown};
        values(0, &[ColumnIfKnown(0), Column(1)]);
        values(1, &[ColumnIfKnown(0)]);
        values(2, &[ColumnIfKnown(2), Column(3)]);
        // What a region says is the program's own.
        values(3, &[Column(0)]);
        // A machine without a performance counter has −1.
        values(5, &[ColumnIfKnown(4)]);
        values(6, &[ColumnIfKnown(1), Column(2)]);
        let [shared, other] = [1, 4].map(|index| categories.get(index).expect("a plan"));
        assert_eq!((shared.name, other.name), (1, 1));
        let kind = |index| categories.get(index).map(|plan| plan.kind);
        assert_eq!(kind(3), Some(TableKind::Regions));
    }
}
