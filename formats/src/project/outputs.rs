//! The files made from the merged stream: CLOG2 and SLOG2, in one pass. If one of them fails, the other goes on.

use super::operations::Drawn;
use crate::clog2::{
    self, Body, CommTable, Endian, Preamble, Record, comm_etype, peek_rectype, peek_time, rectype,
};
use crate::io::draw::{Base, CATEGORIES};
use crate::model::Sorted;
use crate::slog2::{self, ConvertOptions, FromClog2, LineIdMap, Options, PendingFile};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

type Slog2 = FromClog2<BufWriter<PendingFile>>;

/// What to write.
pub struct Plan {
    /// Path without ending.
    pub base: PathBuf,
    /// Whether to write CLOG2.
    pub clog2: bool,
    /// Whether to write SLOG2.
    pub slog2: bool,
    /// Preamble of the CLOG2 file.
    pub preamble: Preamble,
    /// Children of a node of the SLOG2 tree.
    pub children: u32,
    /// Bytes of a leaf of the SLOG2 tree; `None` for the rule.
    pub leaf: Option<u64>,
    /// Number of the host of each rank.
    pub nodes: Vec<i32>,
    /// Names of the hosts by number.
    pub hosts: Vec<String>,
}

/// A finished file.
pub struct Finished {
    /// Where.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
}

/// The files being written.
pub struct Outputs {
    plan: Plan,
    clog2: Option<clog2::Writer<PendingFile>>,
    slog2: Option<Box<Slog2>>,
    /// Drawables that are in no record.
    drawn: Option<Drawn>,
    /// World rank, communicator's rank and thread by line.
    lines: BTreeMap<i32, [i32; 3]>,
    failures: Vec<String>,
}

/// `base` with an ending added, whatever dots it has.
pub fn with_ending(base: &Path, ending: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// `base`, or with a number behind it the first for which none of the files exists.
pub fn free_base(base: &Path) -> PathBuf {
    let taken = |base: &Path| {
        [".slog2", ".clog2"]
            .iter()
            .any(|ending| with_ending(base, ending).exists())
    };
    (1..u32::MAX)
        .map(|n| {
            if n == 1 {
                base.to_owned()
            } else {
                with_ending(base, &format!(".{n}"))
            }
        })
        .find(|b| !taken(b))
        .unwrap_or_else(|| base.to_owned())
}

impl Outputs {
    /// Begins the files.
    pub fn new(plan: Plan) -> Outputs {
        let mut outputs = Outputs {
            clog2: None,
            slog2: None,
            drawn: None,
            lines: BTreeMap::new(),
            failures: Vec::new(),
            plan,
        };
        if let Some(directory) = outputs.plan.base.parent()
            && !directory.as_os_str().is_empty()
        {
            // A directory that cannot be made shows when the files are.
            drop(std::fs::create_dir_all(directory));
        }
        let plan = &outputs.plan;
        if plan.clog2 {
            match clog2::Writer::create(with_ending(&plan.base, ".clog2"), &plan.preamble) {
                Ok(writer) => outputs.clog2 = Some(writer),
                Err(e) => outputs.failures.push(e.to_string()),
            }
        }
        if outputs.plan.slog2 {
            match outputs.begin_slog2() {
                Ok(slog2) => outputs.slog2 = Some(Box::new(slog2)),
                Err(e) => outputs.failures.push(e),
            }
        }
        outputs
    }

    fn begin_slog2(&self) -> Result<Slog2, String> {
        let plan = &self.plan;
        let path = with_ending(&plan.base, ".slog2");
        let out = PendingFile::create(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let lines = u64::from(plan.preamble.max_comm_world_size)
            * u64::from(plan.preamble.max_thread_count);
        let leaf = match plan.leaf {
            Some(bytes) => i32::try_from(bytes).unwrap_or(i32::MAX),
            None => Options::leaf_for(lines),
        };
        let options = ConvertOptions {
            tree: Options {
                children_per_node: i16::try_from(plan.children).unwrap_or(i16::MAX),
                leaf_byte_size: leaf,
            },
            check_end_times: false,
        };
        FromClog2::new(
            BufWriter::with_capacity(1 << 18, out),
            &plan.preamble,
            options,
        )
        .map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Notes the lines that a communicator gives rise to.
    fn announce(&mut self, record: &Record) {
        let Body::Comm(event) = &record.body else {
            return;
        };
        let threads = i64::from(self.plan.preamble.max_thread_count);
        let world = i64::from(self.plan.preamble.max_comm_world_size);
        let made = event.etype != comm_etype::FREE;
        if !made || event.rank < 0 || event.icomm < 0 {
            return;
        }
        for thread in 0..threads {
            let line =
                i64::from(event.icomm) * world * threads + i64::from(event.rank) * threads + thread;
            let node = usize::try_from(event.wrank)
                .ok()
                .and_then(|r| self.plan.nodes.get(r));
            if let (Ok(line), Some(&node)) = (i32::try_from(line), node) {
                self.lines.insert(line, [node, event.wrank, thread as i32]);
            }
        }
    }

    /// The view by node: host, rank, thread.
    fn node_view(&self) -> LineIdMap {
        let mut view = slog2::node_view(&self.plan.hosts);
        for (line, columns) in &self.lines {
            view.cells.push(*line);
            view.cells.extend(columns);
        }
        for line in self.drawn.iter().flat_map(|drawn| &drawn.lines) {
            let rank = usize::try_from(line.rank).ok();
            let of_rank = rank.and_then(|rank| self.plan.nodes.get(rank).copied());
            let mut hosts = self.plan.hosts.iter();
            let named = hosts.position(|host| Some(host) == line.host.as_ref());
            let node = of_rank.or(named.map(|node| node as i32)).unwrap_or(-1);
            view.push(line.id, &[node, line.rank, line.thread]);
        }
        view
    }

    /// What operations are drawn into: `None` if no SLOG2 file is being written. `zero_ns` is the time zero of the records, `comms`
    /// the number of communicators. To be asked before the first record.
    pub fn base(&mut self, zero_ns: i64, comms: usize) -> Option<Base> {
        let slog2 = self.slog2.as_mut()?;
        let ranks = self.plan.preamble.max_comm_world_size;
        let threads = self.plan.preamble.max_thread_count;
        Some(Base {
            zero_ns,
            ranks,
            threads,
            first_line: Base::line_behind(ranks, threads, comms),
            first_category: slog2.reserve_categories(CATEGORIES),
        })
    }

    /// Adds operations to the SLOG2 file; before the first record.
    pub fn draw(&mut self, drawn: Drawn) {
        self.drawn = Some(drawn);
    }

    /// Draws operations that end at `time` or before.
    fn draw_until(&mut self, time: f64) {
        let (Some(drawn), Some(slog2)) = (&mut self.drawn, &mut self.slog2) else {
            return;
        };
        let why = match drawn.until(time, |drawable| slog2.add(drawable)) {
            Ok(Ok(())) => return,
            Ok(Err(e)) => {
                self.slog2 = None;
                e.to_string()
            }
            Err(e) => {
                drawn.drawables = Sorted::default();
                format!("operations below MPI are not all there: {e}")
            }
        };
        let path = with_ending(&self.plan.base, ".slog2");
        self.failures.push(format!("{}: {why}", path.display()));
    }

    /// Takes the next record of the stream, encoded.
    pub fn record(&mut self, bytes: &[u8]) {
        if self.drawn.is_some() {
            // What ends together with a call is nested in it.
            self.draw_until(peek_time(bytes));
        }
        if let Some(clog2) = &mut self.clog2
            && let Err(e) = clog2.write_encoded(bytes)
        {
            self.failures.push(e.to_string());
            self.clog2 = None;
        }
        if let Some(slog2) = &mut self.slog2 {
            if let Err(e) = slog2.push_encoded(bytes) {
                let path = with_ending(&self.plan.base, ".slog2");
                self.failures.push(format!("{}: {e}", path.display()));
                self.slog2 = None;
            }
            if peek_rectype(bytes) == rectype::COMMEVT
                && let Ok(record) = Record::decode(bytes, Endian::Big)
            {
                self.announce(&record);
            }
        }
    }

    /// Ends the files. Gives those that are complete, and why others are not.
    pub fn finish(mut self, table: &CommTable) -> (Vec<Finished>, Vec<String>) {
        self.draw_until(f64::INFINITY);
        let mut done = Vec::new();
        let mut note = |base: &Path, ending: &str| {
            let path = with_ending(base, ending);
            let size = std::fs::metadata(&path).map_or(0, |m| m.len());
            done.push(Finished { path, size });
        };
        let view = self.node_view();
        if let Some(mut slog2) = self.slog2.take() {
            slog2.add_line_map(view);
            if let Some(drawn) = self.drawn.take() {
                slog2.describe(drawn.categories, drawn.lines);
            }
            let ended = slog2
                .finish()
                .map_err(|e| e.to_string())
                .and_then(|(mut out, _)| {
                    out.flush().map_err(|e| e.to_string())?;
                    let file = out.into_inner().map_err(|e| e.to_string())?;
                    file.persist().map_err(|e| e.to_string())
                });
            match ended {
                Ok(()) => note(&self.plan.base, ".slog2"),
                Err(e) => self.failures.push(format!(
                    "{}: {e}",
                    with_ending(&self.plan.base, ".slog2").display()
                )),
            }
        }
        if let Some(clog2) = self.clog2.take() {
            match clog2.finish(table, &self.plan.preamble) {
                Ok(_) => note(&self.plan.base, ".clog2"),
                Err(e) => self.failures.push(e.to_string()),
            }
        }
        (done, self.failures)
    }
}
