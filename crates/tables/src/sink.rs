//! Takes drawables and puts each into its table.

use crate::dataset::{self, DATASET};
use crate::definition_table::DefinitionTable;
use crate::encoders::{Encoders, TablePlace};
use crate::error::{TablesError, TablesErrorKind};
use crate::gathered::{BATCH_ROWS, GatheredRows};
use crate::kind::TableKind;
use crate::rows::{TableSchema, TraceTables};
use crate::table::{TableFiles, TableFormat, TableLayout};
use crate::waits::{WAITS, WaitTable, WaitingCalls};
use analysis::performance::{CallWait, WaitsOfCalls};
use arrow_array::RecordBatch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use trace_model::{
    CommNames, Definitions, Drawable, DrawableOrder, Fault, Losses, PendingFolder, Stop,
};

/// Rows that all tables of a kind may have in memory.
const ROWS_IN_MEMORY: usize = 1 << 22;
/// Least and largest number of rows in a group.
const GROUP_ROWS: [usize; 2] = [1 << 16, 1 << 20];

/// Rows of a table that are not on their way into a file.
struct OpenTable {
    place: Arc<TablePlace>,
    schema: TableSchema,
    gathered: GatheredRows,
    /// Number of all rows so far.
    rows: u64,
}

/// A dataset in the making. In memory are categories, timelines, and of each table the rows that are not in a file yet, some 4 million.
pub struct TablesSink {
    /// Before the folder, which is removed if the dataset is given up.
    encoders: Encoders,
    folder: PendingFolder,
    path: PathBuf,
    definitions: Definitions,
    format: TableFormat,
    names: CommNames,
    rows: TraceTables,
    layouts: BTreeMap<TableKind, Arc<TableLayout>>,
    /// By kind, the table of each group of ranks, which comes with its first row.
    tables: [Vec<Option<OpenTable>>; TableKind::ALL.len()],
    /// Number of tables that have come.
    started: usize,
    /// Tables that are written already, and their numbers of rows: that of waits.
    whole_tables: Vec<(&'static str, u64)>,
    losses: Losses,
}

impl TablesSink {
    /// Starts the dataset at `path`, a folder that gets its name when it is complete. A dataset that has the name is replaced then.
    /// `waits` are those of the trace, in any order; without them no table says anything about waiting.
    ///
    /// # Errors
    /// When the folder cannot be created, or something that is no dataset has the name.
    pub fn create(
        path: impl AsRef<Path>,
        format: TableFormat,
        definitions: &Definitions,
        waits: Option<&WaitsOfCalls>,
    ) -> Result<Self, TablesError> {
        let path = path.as_ref();
        let failed = |kind: TablesErrorKind| Fault::new(0, kind).in_file(path);
        let folder = PendingFolder::create(path, DATASET).map_err(|error| failed(error.into()))?;
        let rows = TraceTables::new(
            definitions,
            waits.map(|waits| Arc::new(WaitingCalls::new(waits))),
        );
        let groups = rows.groups().max(1);
        let group_rows = (ROWS_IN_MEMORY / groups).clamp(GROUP_ROWS[0], GROUP_ROWS[1]);
        let mut layouts = BTreeMap::new();
        for (kind, schema) in rows.schemas() {
            let layout = TableLayout::new(format, schema.schema.clone(), group_rows);
            layouts.insert(*kind, Arc::new(layout.map_err(failed)?));
        }
        let at = folder.current_path();
        let mut whole_tables = Vec::new();
        let waits = waits.map_or(&[][..], |found| &found.waits);
        write_waits(at, format, definitions, waits).map_err(failed)?;
        if !waits.is_empty() {
            whole_tables.push((WAITS, waits.len() as u64));
        }
        let encoders = Encoders::start().map_err(|error| failed(error.into()))?;
        let mut losses = Losses::default();
        losses.add("colour of a category", definitions.categories.len() as u64);
        Ok(TablesSink {
            encoders,
            path: path.to_path_buf(),
            definitions: definitions.clone(),
            format,
            names: CommNames::new(definitions),
            rows,
            layouts,
            tables: Default::default(),
            started: 0,
            whole_tables,
            losses,
            folder,
        })
    }

    fn failed(&self, kind: TablesErrorKind) -> Stop {
        Fault::new(0, kind).in_file(&self.path).into()
    }

    /// Puts a drawable into its table. What has no table is counted as lost.
    fn put_row(&mut self, drawable: &Drawable<'_>) -> Result<(), TablesErrorKind> {
        let plan = self.rows.plan(drawable.category);
        let row = match plan.and_then(|plan| self.rows.row(plan, drawable)) {
            Ok(row) => row,
            Err(what) => {
                self.losses.add(what, 1);
                return Ok(());
            }
        };
        let kind = row.plan.kind;
        let place = row.from.group as usize;
        let of_kind = &mut self.tables[kind as usize];
        let table = match of_kind.get_mut(place) {
            Some(Some(table)) => table,
            _ => {
                let (Some(layout), Some(schema)) =
                    (self.layouts.get(&kind), self.rows.schemas().get(&kind))
                else {
                    return Ok(());
                };
                let group = row.from.group_number();
                let folder = self.folder.current_path().join(kind.name());
                let folder = folder.join(format!("rank_group={group}"));
                of_kind.resize_with(of_kind.len().max(place + 1), || None);
                let number = self.started;
                self.started += 1;
                of_kind[place].insert(OpenTable {
                    gathered: GatheredRows::new(schema),
                    schema: schema.clone(),
                    place: Arc::new(TablePlace {
                        number,
                        folder,
                        layout: layout.clone(),
                    }),
                    rows: 0,
                })
            }
        };
        table.gathered.push(&row);
        table.rows += 1;
        match table.gathered.len() < BATCH_ROWS {
            true => Ok(()),
            false => table.pass_on(&mut self.encoders),
        }
    }
}

impl OpenTable {
    /// Has the gathered rows written.
    fn pass_on(&mut self, encoders: &mut Encoders) -> Result<(), TablesErrorKind> {
        let batch = self.gathered.take(&self.schema);
        encoders.write(&self.place, batch?)
    }
}

impl trace_model::Sink for TablesSink {
    fn order(&self) -> DrawableOrder {
        DrawableOrder::Start
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        self.names.take(drawable);
        self.put_row(drawable).map_err(|kind| self.failed(kind))
    }

    fn finish(mut self: Box<Self>) -> Result<Losses, Stop> {
        let mut rows: BTreeMap<TableKind, u64> = BTreeMap::new();
        let mut ended = Ok(());
        let tables = TableKind::ALL.into_iter().zip(&mut self.tables);
        let tables = tables
            .flat_map(|(kind, tables)| tables.iter_mut().flatten().map(move |table| (kind, table)));
        for (kind, table) in tables {
            if table.gathered.len() > 0 {
                ended = ended.and_then(|()| table.pass_on(&mut self.encoders));
            }
            *rows.entry(kind).or_default() += table.rows;
        }
        ended = ended.and_then(|()| self.encoders.end());
        ended.map_err(|kind| self.failed(kind))?;
        let at = self.folder.current_path();
        let whole = write_definitions(at, self.format, &self.definitions, &self.names);
        let mut whole = whole.map_err(|kind| self.failed(kind))?;
        let mut rows: Vec<(&str, u64)> = rows
            .into_iter()
            .map(|(kind, rows)| (kind.name(), rows))
            .collect();
        rows.append(&mut whole);
        rows.append(&mut self.whole_tables);
        let program = &self.definitions.program;
        let described = dataset::describe(self.folder.current_path(), program, &rows);
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

/// Writes what the definitions tell into the dataset's `folder`. Gives the tables that it has, and their numbers of rows.
fn write_definitions(
    folder: &Path,
    format: TableFormat,
    definitions: &Definitions,
    names: &CommNames,
) -> Result<Vec<(&'static str, u64)>, TablesErrorKind> {
    let mut rows = Vec::new();
    for table in DefinitionTable::ALL {
        let batch = table.batch(definitions, names)?;
        if batch.num_rows() > 0 {
            write_whole(folder.join(table.name()), format, &batch)?;
            rows.push((table.name(), batch.num_rows() as u64));
        }
    }
    Ok(rows)
}

/// Writes the table of waits into the dataset's `folder`, by the begin of the wait. Without waits there is none.
fn write_waits(
    folder: &Path,
    format: TableFormat,
    definitions: &Definitions,
    waits: &[CallWait],
) -> Result<(), TablesErrorKind> {
    if waits.is_empty() {
        return Ok(());
    }
    let mut waits = waits.to_vec();
    waits.sort_by(|a, b| a.from.total_cmp(&b.from));
    let batch = WaitTable::new(definitions).batch(&waits)?;
    write_whole(folder.join(WAITS), format, &batch)
}

/// Writes a table whose rows are all there into its folder.
fn write_whole(
    folder: PathBuf,
    format: TableFormat,
    batch: &RecordBatch,
) -> Result<(), TablesErrorKind> {
    let layout = TableLayout::new(format, batch.schema(), GROUP_ROWS[1])?;
    let mut files = TableFiles::new(folder, Arc::new(layout));
    files.write(batch)?;
    files.end()
}
