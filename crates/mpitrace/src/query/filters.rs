//! Conditions of a query that decide what is read of a trace: ranks, stretches of time, names of functions.

use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, Operator};
use std::collections::BTreeSet;
use tables::RowSelection;
use trace_model::TimeBBox;

/// Leaves of a selection what can meet a condition, and perhaps more. Says whether anything is known to be left out by it.
pub fn narrow(selection: &mut RowSelection, condition: &Expr) -> bool {
    if let Expr::BinaryExpr(BinaryExpr {
        left,
        op: Operator::And,
        right,
    }) = condition
    {
        let left = narrow(selection, left);
        return narrow(selection, right) || left;
    }
    if let Expr::Between(between) = condition
        && !between.negated
    {
        let column = column(&between.expr);
        let [low, high] = [&between.low, &between.high].map(|bound| number(bound));
        return column.is_some_and(|column| {
            let from = narrow_time(selection, column, Operator::GtEq, low);
            narrow_time(selection, column, Operator::LtEq, high) || from
        });
    }
    if let Some((column, values)) = values(condition) {
        if selection.kind.rank_columns().contains(&column) {
            return narrow_ranks(selection, &values);
        }
        if column == selection.kind.name_column() {
            return narrow_names(selection, &values);
        }
    }
    if let Some((column, operator, value)) = comparison(condition) {
        return narrow_time(selection, column, operator, number(value));
    }
    false
}

/// The column that an expression is, in its own type or one that keeps whole numbers and names as they are. As a truth or a real number,
/// different values become equal.
fn column(expression: &Expr) -> Option<&str> {
    match expression {
        Expr::Column(column) => Some(&column.name),
        Expr::Cast(Cast { expr, field }) => match field.data_type() {
            DataType::Int32 | DataType::Int64 | DataType::Utf8 | DataType::Utf8View => column(expr),
            _ => None,
        },
        _ => None,
    }
}

/// A column, how it is compared, and with what.
fn comparison(condition: &Expr) -> Option<(&str, Operator, &Expr)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else {
        return None;
    };
    if let Some(column) = column(left) {
        return Some((column, *op, right));
    }
    Some((column(right)?, op.swap()?, left))
}

/// A column, and the values that it must have one of.
fn values(condition: &Expr) -> Option<(&str, Vec<&ScalarValue>)> {
    match condition {
        Expr::InList(list) if !list.negated => {
            let found: Option<Vec<_>> = list.list.iter().map(scalar).collect();
            Some((column(&list.expr)?, found?))
        }
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Or,
            right,
        }) => {
            let ((column, mut found), (other, others)) = (values(left)?, values(right)?);
            found.extend(others);
            (column == other).then_some((column, found))
        }
        _ => {
            let (column, operator, value) = comparison(condition)?;
            (operator == Operator::Eq).then_some((column, vec![scalar(value)?]))
        }
    }
}

fn scalar(expression: &Expr) -> Option<&ScalarValue> {
    match expression {
        Expr::Literal(value, _) => Some(value),
        _ => None,
    }
}

/// The whole number that an expression is.
fn number(expression: &Expr) -> Option<i64> {
    scalar(expression).and_then(whole)
}

fn whole(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::Int32(value) => value.map(i64::from),
        ScalarValue::Int64(value) => *value,
        _ => None,
    }
}

/// A row has its times within its stretch of time, so that it overlaps what lies behind the least value of any of them.
fn narrow_time(
    selection: &mut RowSelection,
    column: &str,
    operator: Operator,
    value: Option<i64>,
) -> bool {
    // Values of the program's own may have any name.
    let is_time = selection.kind.time_columns().contains(&column);
    let Some(ns) = value.filter(|_| is_time) else {
        return false;
    };
    // Times were rounded to ns, and seconds have 53 bits.
    let ns = ns as f64;
    let rounded = 1.0 + 4.0 * f64::EPSILON * ns.abs();
    let [before, after] = [ns - rounded, ns + rounded].map(|ns| ns / 1e9);
    let mut window = selection.window.unwrap_or(TimeBBox {
        earliest: f64::NEG_INFINITY,
        latest: f64::INFINITY,
    });
    if matches!(operator, Operator::Gt | Operator::GtEq | Operator::Eq) {
        window.earliest = window.earliest.max(before);
    } else if !matches!(operator, Operator::Lt | Operator::LtEq) {
        return false;
    }
    if matches!(operator, Operator::Lt | Operator::LtEq | Operator::Eq) {
        window.latest = window.latest.min(after);
    }
    selection.window = Some(window);
    true
}

fn narrow_ranks(selection: &mut RowSelection, values: &[&ScalarValue]) -> bool {
    let found: Option<Vec<i64>> = values.iter().map(|value| whole(value)).collect();
    let Some(found) = found else { return false };
    let mut ranks: BTreeSet<u32> = found
        .into_iter()
        .filter_map(|rank| u32::try_from(rank).ok())
        .collect();
    // A message has two ranks: the selection takes it with either.
    if let Some(others) = selection.ranks.take() {
        ranks = match selection.kind.is_of_arrows() {
            true => others,
            false => ranks.intersection(&others).copied().collect(),
        };
    }
    selection.ranks = Some(ranks);
    true
}

fn narrow_names(selection: &mut RowSelection, values: &[&ScalarValue]) -> bool {
    let found: Option<BTreeSet<String>> = values
        .iter()
        .map(|value| value.try_as_str().flatten().map(str::to_owned))
        .collect();
    let Some(mut names) = found else { return false };
    if let Some(others) = selection.names.take() {
        names.retain(|name| others.contains(name));
    }
    selection.names = Some(names);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{cast, col, lit};
    use tables::TableKind;

    fn narrowed(kind: TableKind, condition: Expr) -> (RowSelection, bool) {
        let mut selection = RowSelection::all(kind);
        let is_known = narrow(&mut selection, &condition);
        (selection, is_known)
    }

    #[test]
    fn conditions_leave_what_may_meet_them() {
        let condition = col("enter_ns")
            .gt_eq(lit(1_000_000_000_i64))
            .and(lit(3_000_000_000_i64).gt(col("leave_ns")))
            .and(col("rank").eq(lit(1)).or(col("rank").eq(lit(-5))))
            .and(col("function").in_list(vec![lit("MPI_Send"), lit("MPI_Recv")], false));
        let (selection, is_known) = narrowed(TableKind::Calls, condition);
        assert!(is_known);
        let window = selection.window.expect("a window");
        assert!((window.earliest - (1.0 - 1e-9)).abs() < 1e-12);
        assert!((window.latest - (3.0 + 1e-9)).abs() < 1e-12);
        assert_eq!(selection.ranks, Some(BTreeSet::from([1])));
        let names = ["MPI_Recv", "MPI_Send"].map(str::to_owned);
        assert_eq!(selection.names, Some(BTreeSet::from(names)));
    }

    #[test]
    fn wider_types_have_the_same_values() {
        let wide = |name| cast(col(name), DataType::Int64);
        let (selection, is_known) = narrowed(TableKind::Calls, wide("rank").eq(lit(1_i64)));
        assert_eq!(
            (selection.ranks, is_known),
            (Some(BTreeSet::from([1])), true)
        );
        let name = cast(col("function"), DataType::Utf8);
        let (selection, is_known) = narrowed(TableKind::Calls, name.eq(lit("MPI_Send")));
        let names = BTreeSet::from(["MPI_Send".to_owned()]);
        assert_eq!((selection.names, is_known), (Some(names), true));
    }

    #[test]
    fn a_message_of_two_ranks_is_found_with_either() {
        let condition = col("source_rank")
            .eq(lit(1))
            .and(col("dest_rank").eq(lit(2)));
        let (selection, _) = narrowed(TableKind::Messages, condition);
        assert_eq!(selection.ranks, Some(BTreeSet::from([1])));
    }

    /// Values in infos are columns, and a program may call them as columns of other tables are called.
    #[test]
    fn columns_of_other_tables_are_other_values() {
        for (kind, condition) in [
            (TableKind::Regions, col("dest_rank").eq(lit(7))),
            (
                TableKind::Regions,
                col("start_ns").gt(lit(5_000_000_000_i64)),
            ),
            (TableKind::Calls, col("time_ns").lt_eq(lit(5_i64))),
            (TableKind::Events, col("enter_ns").eq(lit(5_i64))),
            (TableKind::Messages, col("rank").eq(lit(0))),
            (TableKind::Arrows, col("send_ns").lt(lit(0_i64))),
        ] {
            let (selection, is_known) = narrowed(kind, condition.clone());
            assert!(!is_known, "{condition}");
            assert!(selection.ranks.is_none() && selection.window.is_none());
        }
    }

    /// Seconds since 1970 have steps of 238 ns.
    #[test]
    fn late_times_are_in_their_own_windows() {
        for ns in (0..1000).map(|nth| 1_700_000_000_332_418_560 + nth * 7_919) {
            let (selection, _) = narrowed(TableKind::Calls, col("enter_ns").eq(lit(ns)));
            let window = selection.window.expect("a window");
            let nearest = ns as f64 / 1e9;
            for seconds in [nearest.next_down(), nearest, nearest.next_up()] {
                let is_this = (seconds * 1e9).round() as i64 == ns;
                assert!(!is_this || window.earliest <= seconds && seconds <= window.latest);
            }
            assert!(window.earliest <= nearest && nearest <= window.latest);
        }
    }

    #[test]
    fn other_conditions_leave_everything() {
        for condition in [
            col("rank").gt(lit(3)),
            col("rank").eq(lit(1)).or(col("bytes").eq(lit(7_i64))),
            col("function").not_eq(lit("MPI_Send")),
            col("enter_ns").eq(col("leave_ns")),
            col("function").in_list(vec![lit("MPI_Send")], true),
            col("region").eq(lit("solve")),
            cast(cast(col("rank"), DataType::Boolean), DataType::Int32).eq(lit(1)),
            cast(cast(col("enter_ns"), DataType::Float32), DataType::Int64).eq(lit(5_i64)),
        ] {
            let (selection, is_known) = narrowed(TableKind::Calls, condition.clone());
            assert!(!is_known, "{condition}");
            let RowSelection {
                ranks,
                window,
                names,
                ..
            } = selection;
            assert!(
                ranks.is_none() && window.is_none() && names.is_none(),
                "{condition}"
            );
        }
    }
}
