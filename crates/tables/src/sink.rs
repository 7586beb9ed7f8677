//! Takes drawables and puts each into its table.

use crate::category_plan::{self, CategoryPlan};
use crate::column::ColumnType;
use crate::dataset::{self, DATASET};
use crate::error::{TablesError, TablesErrorKind};
use crate::kind::TableKind;
use crate::table::{FixedColumn, TableLayout, TableWriter};
use crate::timelines::{self, LineColumns};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace_model::hash::Map;
use trace_model::{
    Definitions, Drawable, DrawableOrder, Fault, Losses, PendingFolder, Stop, info_values, message,
};

/// Ranks whose rows are in the same files.
const GROUP_RANKS: u32 = 64;
/// Rows that all tables of a kind may have in memory.
const ROWS_IN_MEMORY: usize = 1 << 22;
/// Least and largest number of rows in a group.
const GROUP_ROWS: [usize; 2] = [1 << 16, 1 << 20];
/// Number in place of that of a group of ranks, for what is of no rank.
const NO_RANK: i64 = -1;

/// A dataset in the making. In memory are categories, timelines, and of each table the rows that are not in a file yet, some 4 million.
pub struct TablesSink {
    folder: PendingFolder,
    path: PathBuf,
    program: String,
    plans: Map<i32, CategoryPlan>,
    lines: Map<i32, LineColumns>,
    layouts: BTreeMap<TableKind, TableLayout>,
    tables: BTreeMap<(TableKind, i64), TableWriter>,
    losses: Losses,
}

impl TablesSink {
    /// Starts the dataset at `path`, a folder that gets its name when it is complete. A dataset that has the name is replaced then.
    ///
    /// # Errors
    /// When the folder cannot be created, or something that is no dataset has the name.
    pub fn create(path: impl AsRef<Path>, definitions: &Definitions) -> Result<Self, TablesError> {
        let path = path.as_ref();
        let failed = |kind: TablesErrorKind| Fault::new(0, kind).in_file(path);
        let folder = PendingFolder::create(path, DATASET).map_err(|error| failed(error.into()))?;
        let names = |kind| fixed(kind).iter().map(|column| column.name).collect();
        let (plans, tables) = category_plan::plan(definitions, names);
        let lines = timelines::columns(definitions);
        let last = lines.values().filter_map(|line| line.rank).max();
        let groups = last.map_or(1, |last| last / GROUP_RANKS + 1) as usize;
        let group_rows = (ROWS_IN_MEMORY / groups).clamp(GROUP_ROWS[0], GROUP_ROWS[1]);
        let mut layouts = BTreeMap::new();
        for (kind, table) in &tables {
            let layout = TableLayout::new(&fixed(*kind), &table.columns, &table.names, group_rows);
            layouts.insert(*kind, layout.map_err(failed)?);
        }
        timelines::write(folder.current_path(), definitions).map_err(failed)?;
        let mut losses = Losses::default();
        losses.add("colour of a category", definitions.categories.len() as u64);
        Ok(TablesSink {
            path: path.to_path_buf(),
            program: definitions.program.clone(),
            plans,
            lines,
            layouts,
            tables: BTreeMap::new(),
            losses,
            folder,
        })
    }

    fn failed(&self, kind: TablesErrorKind) -> Stop {
        Fault::new(0, kind).in_file(&self.path).into()
    }

    /// Puts a drawable into its table. What has no table is counted as lost.
    fn put_row(&mut self, drawable: &Drawable<'_>) -> Result<(), TablesErrorKind> {
        let (Some(plan), Some(first), Some(last)) = (
            self.plans.get(&drawable.category),
            drawable.vertices.first(),
            drawable.vertices.last(),
        ) else {
            self.losses.add("drawable that stands for others", 1);
            return Ok(());
        };
        let (Some(from), Some(to)) = (self.lines.get(&first.line), self.lines.get(&last.line))
        else {
            self.losses.add("drawable on an unknown timeline", 1);
            return Ok(());
        };
        let (kind, category) = (plan.kind, &plan.category);
        let Some(layout) = self.layouts.get(&kind) else {
            return Ok(());
        };
        let group = from
            .rank
            .map_or(NO_RANK, |rank| (rank / GROUP_RANKS).into());
        let folder = self.folder.current_path();
        let table = self.tables.entry((kind, group)).or_insert_with(|| {
            let folder = folder.join(kind.name()).join(format!("rank_group={group}"));
            TableWriter::new(folder, layout)
        });
        let mut columns = table.columns.iter_mut();
        let mut next = |value: Option<i64>| {
            if let Some(column) = columns.next() {
                column.push_optional(value);
            }
        };
        next(from.rank.map(i64::from));
        if kind.is_of_arrows() {
            next(to.rank.map(i64::from));
            next(Some(first.line.into()));
            next(Some(last.line.into()));
        } else {
            next(Some(from.thread.into()));
            next(Some(first.line.into()));
        }
        next(Some(from.communicator.into()));
        next(Some(plan.name.into()));
        next(Some(ns(first.time)));
        if !kind.is_of_events() {
            next(Some(ns(last.time)));
        }
        if kind == TableKind::Messages {
            let message = message(category, drawable.info);
            next(message.map(|message| message.tag.into()));
            next(message.map(|message| message.size));
        }
        let of_infos = columns.into_slice();
        for ((_, value), place) in info_values(category, drawable.info).zip(&plan.values) {
            if let Some(column) = place.and_then(|place| of_infos.get_mut(place)) {
                column.push_value(value);
            }
        }
        table.end_row(layout)
    }
}

impl trace_model::Sink for TablesSink {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.put_row(drawable).map_err(|kind| self.failed(kind))
    }

    fn finish(mut self: Box<Self>) -> Result<Losses, Stop> {
        let mut rows: BTreeMap<TableKind, u64> = BTreeMap::new();
        let mut ended = Ok(());
        for ((kind, _), table) in &mut self.tables {
            if let Some(layout) = self.layouts.get(kind) {
                ended = ended.and_then(|()| table.finish(layout));
            }
            *rows.entry(*kind).or_default() += table.rows;
        }
        ended.map_err(|kind| self.failed(kind))?;
        let rows: Vec<(TableKind, u64)> = rows.into_iter().collect();
        let described = dataset::describe(self.folder.current_path(), &self.program, &rows);
        described.map_err(|error| self.failed(error.into()))?;
        let TablesSink {
            folder,
            path,
            losses,
            ..
        } = *self;
        folder
            .persist()
            .map_err(|error| Stop::from(TablesError::io(0, error).in_file(path)))?;
        Ok(losses)
    }
}

/// A time in ns.
fn ns(seconds: f64) -> i64 {
    (seconds * 1e9).round() as i64
}

/// The columns that every table of a kind has, in the order in which rows are filled.
fn fixed(kind: TableKind) -> Vec<FixedColumn> {
    let column = |name, kind, is_optional| FixedColumn {
        name,
        kind: Some(kind),
        is_optional,
    };
    let (small, integer) = (ColumnType::Small, ColumnType::Integer);
    let mut columns = match kind.is_of_arrows() {
        true => vec![
            column("source_rank", small, true),
            column("dest_rank", small, true),
            column("source_line", small, false),
            column("dest_line", small, false),
        ],
        false => vec![
            column("rank", small, true),
            column("thread", small, false),
            column("line", small, false),
        ],
    };
    columns.push(column("communicator", small, false));
    columns.push(FixedColumn {
        name: kind.name_column(),
        kind: None,
        is_optional: false,
    });
    let times: &[&str] = match kind {
        TableKind::Messages => &["send_ns", "receive_ns"],
        _ if kind.is_of_arrows() => &["start_ns", "end_ns"],
        _ if kind.is_of_events() => &["time_ns"],
        _ => &["enter_ns", "leave_ns"],
    };
    columns.extend(times.iter().map(|&name| column(name, integer, false)));
    if kind == TableKind::Messages {
        columns.push(column("tag", small, true));
        columns.push(column("bytes", integer, true));
    }
    columns
}
