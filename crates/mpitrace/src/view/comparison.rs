//! What became slower or faster from one of the traces that are shown to another, as `mpitrace compare` tells it.

use super::opened::OpenedTrace;
use crate::compare::changes::TraceChanges;
use crate::terminal::table::TextTable;
use analysis::performance::{PerformanceOptions, PerformanceReport, analyse_in_order};
use serde_json::Value;
use std::sync::Arc;
use trace_formats::slog2::Slog2Source;
use trace_model::{DrawableOrder, Source, for_each_in_order};
use viewer_core::{Answer, ApiError, ApiQuery, ComparedRow, ComparedTable, ComparisonAnswer};

/// Drawables between two looks at whether somebody still waits.
const DRAWABLES_PER_CHECK: u32 = 1 << 12;

/// Whether a question is for a comparison.
pub fn is_comparison(question: &str) -> bool {
    question.split('?').next() == Some("compare")
}

/// Compares trace number `before` with the one that `with` names.
pub fn comparison(
    traces: &[Arc<OpenedTrace>],
    before: &OpenedTrace,
    question: &str,
    cancel: &dyn Fn() -> bool,
) -> Result<Answer, ApiError> {
    let query = ApiQuery::parse(question)?;
    let number: usize = query.number("with", usize::MAX)?;
    let Some(after) = traces.get(number) else {
        let message = format!(
            "with: traces have the numbers from 0 to {}",
            traces.len().saturating_sub(1)
        );
        return Err(ApiError::not_found(message));
    };
    let changes = TraceChanges::between(
        (&before.name, report(before, cancel)?),
        (&after.name, report(after, cancel)?),
    );
    let tables = changes.shown();
    let answer = ComparisonAnswer {
        tables: tables
            .map(|shown| compared(shown.title, &shown.table))
            .collect(),
        words: changes.words,
    };
    Answer::json(&answer, true)
}

/// A table of changes as the page has it.
fn compared(title: &'static str, table: &TextTable) -> ComparedTable {
    let rows = table.json();
    let rows = rows.as_array().map_or(&[][..], Vec::as_slice);
    let row = |row: &Value| {
        let number = |name: &str| row[name].as_f64();
        let first = table
            .columns
            .first()
            .map_or(&Value::Null, |name| &row[*name]);
        ComparedRow {
            name: match first {
                Value::String(name) => viewer_core::visible(name),
                Value::Number(rank) => format!("rank {rank}"),
                _ => String::new(),
            },
            before: number("before_s").unwrap_or(0.0),
            after: number("after_s").unwrap_or(0.0),
            change: number("change_s").unwrap_or(0.0),
            ratio: number("ratio"),
            beyond_noise: row["beyond_noise"].as_str().map(|word| word == "yes"),
        }
    };
    ComparedTable {
        title,
        rows: rows.iter().map(row).collect(),
    }
}

fn report<'t>(
    trace: &'t OpenedTrace,
    cancel: &dyn Fn() -> bool,
) -> Result<&'t PerformanceReport, ApiError> {
    if let Some(report) = trace.report.get() {
        return Ok(report);
    }
    let name = &trace.name;
    if !trace.viewer.is_small() {
        return Err(ApiError::too_large(format!(
            "{name} is too large to be compared while somebody waits: mpitrace compare does it"
        )));
    }
    let source = Slog2Source::new(trace.mapped)?;
    let options = PerformanceOptions::default();
    let report = analyse_in_order(source.definitions(), &options, |put| {
        let (mut seen, mut is_cancelled) = (0_u32, false);
        let given = for_each_in_order(&source, DrawableOrder::Start, &mut |drawable| {
            seen = seen.wrapping_add(1);
            if seen.is_multiple_of(DRAWABLES_PER_CHECK) && cancel() {
                is_cancelled = true;
                return Err("nobody waits for it".into());
            }
            put(drawable);
            Ok(())
        });
        match given {
            _ if is_cancelled => Err(ApiError::cancelled()),
            Ok(_) => Ok(()),
            Err(_) => Err(ApiError::bad_request(format!("{name} cannot be read"))),
        }
    })?;
    if report.ranks == 0 || report.focus.seconds <= 0.0 {
        return Err(ApiError::bad_request(format!(
            "{name} has no time between MPI_Init and MPI_Finalize that could be compared"
        )));
    }
    Ok(trace.report.get_or_init(|| report))
}
