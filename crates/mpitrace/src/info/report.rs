//! Report about a file: named values, nested and in tables, as JSON or as text.

use crate::terminal;
use serde_json::{Map, Value};
use std::fmt::Write;

/// Facts about a file, and its problems.
#[derive(Debug, Default)]
pub struct InfoReport {
    pub facts: Map<String, Value>,
    /// Descriptions of what is missing or cannot be read.
    pub problems: Vec<String>,
    /// Whether progress is not to be shown.
    pub quiet: bool,
}

impl InfoReport {
    /// Puts a fact. A later value of the same name replaces the earlier one.
    pub fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    /// Puts a fact if there is a value.
    pub fn maybe<T: Into<Value>>(&mut self, name: &str, value: Option<T>) {
        if let Some(value) = value {
            self.put(name, value);
        }
    }

    /// Says what is wrong.
    pub fn problem(&mut self, what: impl std::fmt::Display) {
        self.problems.push(what.to_string());
    }

    /// The span of time of what the file holds, in seconds.
    pub fn span(&mut self, from: f64, to: f64) {
        if from <= to {
            self.put("from_s", from);
            self.put("to_s", to);
            self.put("span_s", to - from);
        }
    }

    /// Everything as an object.
    pub fn into_json(mut self) -> Value {
        self.put_problems();
        Value::Object(self.facts)
    }

    /// Everything as lines, a table where there are many of a kind.
    pub fn into_text(mut self) -> String {
        self.put_problems();
        let mut text = String::new();
        lines(&self.facts, 0, &mut text);
        text
    }

    fn put_problems(&mut self) {
        if !self.problems.is_empty() {
            let problems = std::mem::take(&mut self.problems);
            self.put("problems", problems);
        }
    }
}

/// An object with these members.
pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    let members = members.map(|(name, value)| (name.to_owned(), value));
    Value::Object(members.into_iter().collect())
}

/// Rows of a table in text, beyond which only their number is told.
const MAX_TABLE_ROWS: usize = 200;

fn lines(object: &Map<String, Value>, indent: usize, out: &mut String) {
    let width = object
        .keys()
        .map(|key| key.chars().count())
        .max()
        .unwrap_or(0);
    for (key, value) in object {
        let name = key.replace('_', " ");
        match value {
            Value::Object(members) => {
                let _ = writeln!(out, "{:indent$}{name}", "");
                lines(members, indent + 2, out);
            }
            Value::Array(rows) if rows.iter().any(Value::is_object) => {
                let _ = writeln!(out, "{:indent$}{name}", "");
                table(rows, indent + 2, out);
            }
            Value::Array(values)
                if values
                    .iter()
                    .any(|v| v.as_str().is_some_and(|s| s.contains(' '))) =>
            {
                let _ = writeln!(out, "{:indent$}{name}", "");
                for value in values {
                    let _ = writeln!(out, "{:indent$}  {}", "", shown(key, value));
                }
            }
            _ => {
                let _ = writeln!(out, "{:indent$}{name:<width$}  {}", "", shown(key, value));
            }
        }
    }
}

fn table(rows: &[Value], indent: usize, out: &mut String) {
    let mut columns: Vec<&String> = Vec::new();
    for row in rows.iter().filter_map(Value::as_object) {
        for key in row.keys() {
            if !columns.contains(&key) {
                columns.push(key);
            }
        }
    }
    let cells = |row: &Value| -> Vec<String> {
        let cell = |key: &&String| {
            row.get(key.as_str())
                .map_or(String::new(), |v| shown(key, v))
        };
        columns.iter().map(cell).collect()
    };
    let head: Vec<String> = columns.iter().map(|key| key.replace('_', " ")).collect();
    let body: Vec<Vec<String>> = rows.iter().take(MAX_TABLE_ROWS).map(cells).collect();
    let widths: Vec<usize> = (0..columns.len())
        .map(|nth| {
            let cells = body.iter().map(|row| &row[nth]).chain([&head[nth]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let is_text: Vec<bool> = columns
        .iter()
        .map(|key| {
            rows.iter()
                .any(|row| row.get(key.as_str()).is_some_and(Value::is_string))
        })
        .collect();
    for row in std::iter::once(&head).chain(&body) {
        let mut line = format!("{:indent$}", "");
        for ((cell, &width), &left) in row.iter().zip(&widths).zip(&is_text) {
            let _ = match left {
                true => write!(line, "{cell:<width$}  "),
                false => write!(line, "{cell:>width$}  "),
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if rows.len() > MAX_TABLE_ROWS {
        let _ = writeln!(
            out,
            "{:indent$}and {} more",
            "",
            rows.len() - MAX_TABLE_ROWS
        );
    }
}

/// A value for people; the name tells what it is.
fn shown(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) => terminal::one_line(text),
        Value::Null => "-".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => match number.as_f64() {
            Some(seconds) if number.is_f64() && name.ends_with("_s") => format!("{seconds:.9}"),
            Some(real) if number.is_f64() => format!("{real:.6}"),
            _ => number.to_string(),
        },
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(|value| shown(name, value)).collect();
            values.join(", ")
        }
        Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_text_and_as_json() {
        let mut report = InfoReport::default();
        report.put("format", "X");
        report.put("is_whole", true);
        report.span(0.5, 2.0);
        report.put("hosts", vec!["a", "b"]);
        let row = |name: &str, count: u64| object([("name", name.into()), ("count", count.into())]);
        report.put("categories", vec![row("Send", 3), row("Receive", 12)]);
        report.problem("byte 7: the end is missing");
        report.maybe("nothing", None::<u64>);
        let json = InfoReport {
            facts: report.facts.clone(),
            problems: report.problems.clone(),
            quiet: true,
        };
        assert_eq!(json.into_json()["categories"][1]["count"], 12);
        assert_eq!(
            report.into_text(),
            "format      X
is whole    yes
from s      0.500000000
to s        2.000000000
span s      1.500000000
hosts       a, b
categories
  name     count
  Send         3
  Receive     12
problems
  byte 7: the end is missing
"
        );
    }
    #[test]
    fn a_name_of_a_trace_makes_no_line() {
        let mut report = InfoReport::default();
        report.put("program", "a\nranks  7");
        report.put("categories", vec![object([("name", "b\n\tc".into())])]);
        let text = report.into_text();
        assert_eq!(
            text,
            "program     a\\nranks  7\ncategories\n  name\n  b\\n c\n"
        );
    }
}
