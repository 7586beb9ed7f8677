//! Tables as aligned text, CSV, JSON and part of a page.

use crate::failure::Failure;
use crate::terminal::{self, units};
use maud::{Markup, html};
use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::io::Write;

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableCell {
    Text(String),
    Count(u64),
    /// A number that may be negative, such as a rank.
    Number(i64),
    /// A duration, for people in units that suit it.
    Seconds(f64),
    /// A part of 1.
    Share(f64),
    /// Bytes, for people in units that suit them.
    Bytes(u64),
    /// A time in ns, for people in units that suit it, for programs in seconds.
    Time(u64),
    /// A number with decimals.
    Real(f64),
    /// There is no such value.
    None,
}

impl TableCell {
    /// `make` of a value that may not be there.
    pub fn optional(value: Option<f64>, make: fn(f64) -> TableCell) -> TableCell {
        value.map_or(TableCell::None, make)
    }

    /// For people: three digits and a unit, shares in percent.
    fn shown(&self) -> String {
        match self {
            TableCell::Text(text) => terminal::one_line(text),
            TableCell::Count(count) => count.to_string(),
            TableCell::Number(number) => number.to_string(),
            TableCell::Seconds(seconds) => units::seconds(*seconds),
            TableCell::Share(share) => share_shown(*share),
            TableCell::Real(number) => decimals_shown(*number),
            TableCell::Bytes(bytes) => units::bytes(*bytes),
            TableCell::Time(ns) => units::time(*ns),
            TableCell::None => "-".to_owned(),
        }
    }

    /// For programs: every digit.
    fn exact(&self) -> String {
        match self {
            TableCell::Seconds(number) | TableCell::Share(number) | TableCell::Real(number) => {
                number.to_string()
            }
            TableCell::Bytes(bytes) => bytes.to_string(),
            TableCell::Time(ns) => seconds(*ns).to_string(),
            TableCell::None => String::new(),
            TableCell::Text(text) => text.clone(),
            _ => self.shown(),
        }
    }

    fn json(&self) -> Value {
        match self {
            TableCell::Text(text) => Value::from(text.as_str()),
            TableCell::Count(count) | TableCell::Bytes(count) => Value::from(*count),
            TableCell::Time(ns) => Value::from(seconds(*ns)),
            TableCell::Number(number) => Value::from(*number),
            // JSON has no infinities and no NaN; they become null.
            TableCell::Seconds(number) | TableCell::Share(number) | TableCell::Real(number) => {
                Value::from(*number)
            }
            TableCell::None => Value::Null,
        }
    }
}

/// A share in percent with two decimals. What is too little for these is not nothing: `<0.01%`.
pub fn share_shown(share: f64) -> String {
    decimals_shown(100.0 * share) + "%"
}

/// A number with two decimals. What is too little for these is not nothing, but for what is below 0.
fn decimals_shown(number: f64) -> String {
    match number {
        _ if number > 0.0 && number < 0.005 => "<0.01".to_owned(),
        _ if number.abs() < 0.005 => "0.00".to_owned(),
        _ => format!("{number:.2}"),
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Maximum number of characters of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(pub usize);

impl Width {
    /// Width of stdout: that of a terminal, or `COLUMNS` of the environment; no limit for a file or a pipe, or with `wide`.
    pub fn of_stdout(wide: bool) -> Width {
        let environment = || {
            let columns = std::env::var("COLUMNS").ok()?.parse().ok();
            columns.filter(|&columns| columns > 0)
        };
        let terminal = || {
            let size = rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok()?;
            (size.ws_col > 0).then_some(usize::from(size.ws_col))
        };
        let known = (!wide).then(|| terminal().or_else(environment)).flatten();
        Width(known.unwrap_or(usize::MAX))
    }
}

/// Form of the cells of CSV.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct CellStyle {
    /// Leave CSV texts that begin with = + - @ as they are. By default they get a leading apostrophe, so that no
    /// spreadsheet takes a name for a formula
    #[arg(long)]
    raw_cells: bool,
}

impl CellStyle {
    fn of(self, cell: &TableCell) -> String {
        let text = cell.exact();
        match cell {
            TableCell::Text(_) => self.text(text),
            _ => text,
        }
    }

    /// A cell with a text.
    pub fn text(self, text: String) -> String {
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        match is_formula && !self.raw_cells {
            true => format!("'{text}"),
            false => text,
        }
    }
}

/// Rows of values under named columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    /// A word for it, its key in JSON.
    pub name: &'static str,
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<TableCell>>,
    /// Columns that are left out where there is no room for all, the first of them first.
    pub rare: Vec<&'static str>,
}

impl TextTable {
    pub fn new(name: &'static str, columns: &[&'static str]) -> Self {
        TextTable {
            name,
            columns: columns.to_vec(),
            rows: Vec::new(),
            rare: Vec::new(),
        }
    }

    /// A copy of the table with only these columns, which it must have.
    pub fn select(&self, columns: &[&'static str]) -> TextTable {
        let place = |name: &&str| self.columns.iter().position(|column| column == name);
        let places: Vec<usize> = columns.iter().filter_map(place).collect();
        let row = |row: &Vec<TableCell>| places.iter().map(|&nth| row[nth].clone()).collect();
        TextTable {
            name: self.name,
            columns: places.iter().map(|&nth| self.columns[nth]).collect(),
            rows: self.rows.iter().map(row).collect(),
            rare: self.rare.clone(),
        }
    }

    /// A copy of the table without those of `columns` that are empty: no value, or zeros only.
    pub fn without_empty(&self, columns: &[&str]) -> TextTable {
        let is_nothing = |cell: &TableCell| match cell {
            TableCell::Count(count) | TableCell::Bytes(count) | TableCell::Time(count) => {
                *count == 0
            }
            TableCell::Seconds(number) | TableCell::Share(number) | TableCell::Real(number) => {
                *number == 0.0
            }
            TableCell::Text(text) => text.is_empty(),
            TableCell::Number(number) => *number == 0,
            TableCell::None => true,
        };
        let is_empty = |nth: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(nth));
            cells.all(is_nothing)
        };
        let kept = self.columns.iter().enumerate();
        let kept = kept.filter(|&(nth, name)| !columns.contains(name) || !is_empty(nth));
        let kept: Vec<&'static str> = kept.map(|(_, name)| *name).collect();
        self.select(&kept)
    }

    /// The names of columns for people: without the units, where the values have them.
    fn titles(&self) -> Vec<String> {
        let title = |(nth, name): (usize, &&'static str)| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(nth));
            let has_units = cells.any(|cell| {
                matches!(
                    cell,
                    TableCell::Bytes(_) | TableCell::Time(_) | TableCell::Seconds(_)
                )
            });
            let plain = name.strip_suffix("_bytes").or(name.strip_suffix("_s"));
            let title = plain.filter(|_| has_units).unwrap_or(name);
            if has_units {
                title.replace('_', " ")
            } else {
                title.to_owned()
            }
        };
        let mut titles: Vec<String> = self.columns.iter().enumerate().map(title).collect();
        for nth in 1..titles.len() {
            // A time and its part of the whole.
            let plain = titles[nth].replace('_', " ");
            if titles[..nth].contains(&plain) {
                titles[nth] = format!("{plain} share");
            }
        }
        titles
    }

    /// The table as text of at most `width` characters, as far as leaving out columns that are [`TextTable::rare`] allows: a
    /// last
    /// line tells which.
    pub fn fitted(&self, width: Width) -> String {
        let mut shown = self.clone();
        let mut left_out = Vec::new();
        let mut text = shown.text();
        let fits = |text: &str| text.lines().all(|line| line.chars().count() <= width.0);
        for &rare in &self.rare {
            if fits(&text) {
                break;
            }
            let kept = shown.columns.iter().copied().filter(|&c| c != rare);
            let kept: Vec<&'static str> = kept.collect();
            if kept.len() < shown.columns.len() {
                shown = shown.select(&kept);
                text = shown.text();
                left_out.push(rare.strip_suffix("_s").unwrap_or(rare).replace('_', " "));
            }
        }
        if !left_out.is_empty() {
            let _ = writeln!(text, "(--wide also shows {})", left_out.join(", "));
        }
        text
    }

    /// Columns of texts to the left, of numbers to the right.
    pub fn text(&self) -> String {
        let titles = self.titles();
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| row.iter().map(TableCell::shown).collect())
            .collect();
        let width = |nth: usize| {
            let cells = rows.iter().filter_map(|row| row.get(nth));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            widest.max(titles[nth].chars().count())
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let columns = 0..self.columns.len();
        let left: Vec<bool> = columns.map(|nth| self.is_text(nth)).collect();
        let mut out = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut text = String::new();
            for ((cell, &width), &left) in cells.zip(&widths).zip(&left) {
                // Writing to a string cannot fail.
                let _ = match left {
                    true => write!(text, "{cell:<width$}  "),
                    false => write!(text, "{cell:>width$}  "),
                };
            }
            out.push_str(text.trim_end());
            out.push('\n');
        };
        line(&mut titles.iter().map(String::as_str));
        for row in &rows {
            line(&mut row.iter().map(String::as_str));
        }
        out
    }

    /// Writes it with its head; numbers in full, in seconds and parts of 1. A text that a spreadsheet would take for a formula has an
    /// apostrophe in front, unless cells are to be as they are.
    pub fn csv(&self, out: &mut impl Write, cells: CellStyle) -> Result<(), Failure> {
        let mut writer = csv::Writer::from_writer(out);
        // Names of counters are those of the trace.
        let head = self
            .columns
            .iter()
            .map(|name| cells.text((*name).to_owned()));
        writer.write_record(head).map_err(Failure::csv)?;
        for row in &self.rows {
            writer
                .write_record(row.iter().map(|cell| cells.of(cell)))
                .map_err(Failure::csv)?;
        }
        writer
            .flush()
            .map_err(|error| Failure::output("stdout", &error))
    }

    /// The table as part of a page, with all columns.
    pub fn html(&self) -> Markup {
        let titles = self.titles();
        html! {
            table {
                thead { tr { @for (nth, title) in titles.iter().enumerate() { th.number[!self.is_text(nth)] { (title.replace('_', " ")) } } } }
                tbody {
                    @for row in &self.rows {
                        tr { @for (nth, cell) in row.iter().enumerate() { td.number[!self.is_text(nth)].long[has_long_word(&cell.shown())] { (cell.shown()) } } }
                    }
                }
            }
        }
    }

    /// Whether a column has texts.
    fn is_text(&self, nth: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(nth));
        cells.any(|cell| matches!(cell, TableCell::Text(_)))
    }

    /// An array with an object for each row.
    pub fn json(&self) -> Value {
        let object = |row: &Vec<TableCell>| {
            let pairs = self.columns.iter().zip(row);
            let pairs = pairs.map(|(column, cell)| (column.to_string(), cell.json()));
            Value::Object(pairs.collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }
}

/// Letters of a word that a column of a page takes whole: the names of all functions of MPI.
const WHOLE_WORD: usize = 40;

/// Whether a text has a word that a table of a page must break, as it would be wider than the page otherwise.
pub fn has_long_word(text: &str) -> bool {
    text.split_whitespace()
        .any(|word| word.chars().count() > WHOLE_WORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_for_people() {
        let mut table = TextTable::new("things", &["name", "asked_bytes", "mean_s"]);
        let name = TableCell::Text("a".to_owned());
        table.rows.push(vec![
            name,
            TableCell::Bytes(1536),
            TableCell::Time(1_500_000),
        ]);
        assert_eq!(
            table.text(),
            "name     asked     mean\na     1.50 KiB  1.50 ms\n"
        );
        let some = table.select(&["mean_s", "asked_bytes"]);
        assert_eq!(
            some.json().to_string(),
            r#"[{"mean_s":0.0015,"asked_bytes":1536}]"#
        );
    }

    #[test]
    fn what_is_little_is_not_shown_as_nothing() {
        let shown = [0.0, 1e-9, 4.9e-5, 5e-5, 0.5].map(|share| TableCell::Share(share).shown());
        assert_eq!(shown, ["0.00%", "<0.01%", "<0.01%", "0.01%", "50.00%"]);
        let shown = [0.0, 0.004, 0.005, -1.0, -1e-17].map(|number| TableCell::Real(number).shown());
        assert_eq!(shown, ["0.00", "<0.01", "0.01", "-1.00", "0.00"]);
        assert_eq!(TableCell::Share(1e-9).exact(), "0.000000001");
    }

    #[test]
    fn names_are_no_formulas_and_no_lines() {
        let mut table = TextTable::new("things", &["name", "=number"]);
        for name in ["=1+1", "@x", "-a", "a=b", "two\nlines\x1b[2J"] {
            let cells = vec![TableCell::Text(name.to_owned()), TableCell::Number(-5)];
            table.rows.push(cells);
        }
        let csv = |raw_cells| {
            let mut out = Vec::new();
            table.csv(&mut out, CellStyle { raw_cells }).unwrap();
            String::from_utf8(out).unwrap()
        };
        let rest = "a=b,-5\n\"two\nlines\x1b[2J\",-5\n";
        assert_eq!(
            csv(false),
            format!("name,'=number\n'=1+1,-5\n'@x,-5\n'-a,-5\n{rest}")
        );
        assert_eq!(
            csv(true),
            format!("name,=number\n=1+1,-5\n@x,-5\n-a,-5\n{rest}")
        );
        assert_eq!(table.text().lines().count(), 6);
        assert!(!table.text().contains('\x1b'));
    }

    #[test]
    fn a_table_fits_by_what_is_left_out() {
        let mut table = TextTable::new("things", &["name", "mean_s", "p99_s", "max_s"]);
        table.rare = vec!["p99_s", "mean_s"];
        let times = [1, 2, 3].map(TableCell::Time);
        let row = [TableCell::Text("a name".to_owned())]
            .into_iter()
            .chain(times);
        table.rows.push(row.collect());
        let all = "name    mean   p99   max\na name  1 ns  2 ns  3 ns\n";
        assert_eq!(table.fitted(Width(usize::MAX)), all);
        assert_eq!(table.fitted(Width(24)), all);
        let some = "name    mean   max\na name  1 ns  3 ns\n(--wide also shows p99)\n";
        assert_eq!(table.fitted(Width(23)), some);
        let few = "name     max\na name  3 ns\n(--wide also shows p99, mean)\n";
        assert_eq!(table.fitted(Width(5)), few);
    }

    #[test]
    fn three_ways_to_show_a_table() {
        let mut table = TextTable::new("things", &["name", "count", "total_s", "share"]);
        let row = |name: &str, count, seconds| {
            let name = TableCell::Text(name.to_owned());
            vec![
                name,
                TableCell::Count(count),
                seconds,
                TableCell::Share(0.125),
            ]
        };
        table.rows.push(row("a, \"b\"", 7, TableCell::Seconds(0.1)));
        table.rows.push(row("long name", 12345, TableCell::None));
        assert_eq!(
            table.text(),
            "name       count   total   share\n\
             a, \"b\"         7  100 ms  12.50%\n\
             long name  12345       -  12.50%\n"
        );
        let mut csv = Vec::new();
        table.csv(&mut csv, CellStyle::default()).unwrap();
        assert_eq!(
            String::from_utf8(csv).unwrap(),
            "name,count,total_s,share\n\"a, \"\"b\"\"\",7,0.1,0.125\nlong name,12345,,0.125\n"
        );
        assert_eq!(
            table.json().to_string(),
            r#"[{"name":"a, \"b\"","count":7,"total_s":0.1,"share":0.125},{"name":"long name","count":12345,"total_s":null,"share":0.125}]"#
        );
    }

    #[test]
    fn pages_break_only_words_that_are_wider_than_a_column_may_be() {
        let mut table = TextTable::new("files", &["file", "calls"]);
        let path = format!("/scratch/{}", "x".repeat(60));
        for name in [
            "MPI_File_write_at_all",
            "a few words that are long together, but none alone",
            &path,
        ] {
            table
                .rows
                .push(vec![TableCell::Text(name.to_owned()), TableCell::Count(1)]);
        }
        let page = table.html().into_string();
        assert!(
            page.contains("<td class=\"\">MPI_File_write_at_all</td>"),
            "{page}"
        );
        assert!(page.contains("<td class=\"\">a few words"), "{page}");
        assert!(page.contains(&format!("long\">{path}")), "{page}");
    }
}
