//! The files made from the merged stream: CLOG2 and SLOG2, in one pass. If one of them fails, the other goes on.

use super::forward::{Corrected, Forwarding};
use super::operations::Drawn;
use io_attribution::draw::{Base, CATEGORIES};
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use trace_formats::clog2;
use trace_formats::clog2::counters;
use trace_formats::clog2::{
    Body, CommTable, ConstDef, Endian, FixedText, Preamble, Record, RecordHeader, comm_etype,
    constdef_etype, late_messages_name, peek_rectype, peek_time, rectype,
};
use trace_formats::slog2;
use trace_formats::slog2::{ConvertOptions, FromClog2, LineIdMap, Options, PendingFile};
use trace_model::Sorted;

type Slog2 = FromClog2<BufWriter<PendingFile>>;

/// What to write.
pub struct Plan {
    /// Path without ending.
    pub base: PathBuf,
    /// Whether files of that name are replaced; else a number is put behind it.
    pub replace: bool,
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
    /// Number of the program of each rank.
    pub program_of: Vec<i32>,
    /// Names of the programs by number.
    pub programs: Vec<String>,
    /// Names of the program's functions, sorted.
    pub functions: Vec<String>,
    /// Names of performance counters.
    pub counters: Vec<String>,
    /// Whether messages that arrive before they were sent are put right.
    pub forward: bool,
}

impl Plan {
    /// Begins a file that is to be called `path`, or, where nothing is replaced, by the next name that is free.
    fn begin(&self, path: &Path) -> io::Result<PendingFile> {
        match self.replace {
            true => PendingFile::create_regular(path),
            false => PendingFile::beside(path),
        }
    }
}

/// Numbers names in the order in which they first come: the names, and for each of `ranks` ranks the number of its own.
pub fn numbered<'n>(
    names: impl IntoIterator<Item = (u32, &'n str)>,
    ranks: u32,
) -> (Vec<String>, Vec<i32>) {
    let mut list: Vec<String> = Vec::new();
    let mut numbers = vec![0; ranks as usize];
    for (rank, name) in names {
        let number = list.iter().position(|known| known == name);
        let number = number.unwrap_or_else(|| {
            list.push(name.to_owned());
            list.len() - 1
        });
        if let Some(place) = numbers.get_mut(rank as usize) {
            *place = number as i32;
        }
    }
    (list, numbers)
}

/// A finished file.
pub struct Finished {
    /// Where.
    pub path: PathBuf,
    /// Bytes.
    pub size: u64,
}

impl Finished {
    fn of(path: PathBuf) -> Finished {
        let size = std::fs::metadata(&path).map_or(0, |m| m.len());
        Finished { path, size }
    }
}

/// What came of the files.
pub struct Ended {
    /// Path of the files without ending.
    pub base: PathBuf,
    /// The files that are complete.
    pub files: Vec<Finished>,
    /// Why other files are not complete, a line for each.
    pub failures: Vec<String>,
    /// What was put right, where that was asked for.
    pub corrected: Option<Corrected>,
}

impl Ended {
    /// Where nothing is to be written.
    pub fn nothing(base: &Path) -> Ended {
        Ended {
            base: base.to_owned(),
            files: Vec::new(),
            failures: Vec::new(),
            corrected: None,
        }
    }
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
    /// Where times of messages are put right.
    forwarding: Option<Box<Forwarding>>,
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
    bases(base)
        .find(|base| ENDINGS.iter().all(|ending| is_free(base, ending)))
        .unwrap_or_else(|| base.to_owned())
}

/// Endings of the files.
const ENDINGS: [&str; 2] = [".slog2", ".clog2"];

/// `base`, then with numbers behind it.
fn bases(base: &Path) -> impl Iterator<Item = PathBuf> {
    let numbered = (2..u32::MAX).map(|n| with_ending(base, &format!(".{n}")));
    std::iter::once(base.to_owned()).chain(numbered)
}

fn is_free(base: &Path, ending: &str) -> bool {
    with_ending(base, ending).symlink_metadata().is_err()
}

/// Gives the files their names, with one number for all, so that they are seen to belong together. Gives the base of the names.
fn take_names(base: &Path, files: &mut [(&'static str, PendingFile)]) -> io::Result<PathBuf> {
    let others = |base: &Path, files: &[(&str, PendingFile)]| {
        let mut others = ENDINGS.iter();
        others.all(|ending| files.iter().any(|(own, _)| own == ending) || is_free(base, ending))
    };
    for base in bases(base) {
        if !others(&base, files) {
            continue;
        }
        let mut named = 0;
        let taken = files.iter_mut().try_for_each(|(ending, file)| {
            file.take_name(&with_ending(&base, ending))?;
            named += 1;
            Ok::<(), io::Error>(())
        });
        let Err(error) = taken else {
            return Ok(base);
        };
        for (_, file) in &mut files[..named] {
            file.give_name_back()?;
        }
        if error.kind() != io::ErrorKind::AlreadyExists {
            return Err(error);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

impl Outputs {
    /// Begins the files.
    pub fn new(plan: Plan) -> Outputs {
        let mut outputs = Outputs {
            clog2: None,
            slog2: None,
            drawn: None,
            lines: BTreeMap::new(),
            forwarding: plan.forward.then(Box::default),
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
            let path = with_ending(&plan.base, ".clog2");
            let begun = plan.begin(&path).map_err(|e| e.to_string());
            match begun
                .and_then(|out| clog2::Writer::new(out, &plan.preamble).map_err(|e| e.to_string()))
            {
                Ok(writer) => outputs.clog2 = Some(writer),
                Err(e) => outputs.failures.push(format!("{}: {e}", path.display())),
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
        let out = plan
            .begin(&path)
            .map_err(|e| format!("{}: {e}", path.display()))?;
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
        let mut slog2 = FromClog2::new(
            BufWriter::with_capacity(1 << 18, out),
            &plan.preamble,
            options,
        )
        .map_err(|e| format!("{}: {e}", path.display()))?;
        slog2.name_nested(&plan.functions);
        slog2.name_counters(&plan.counters);
        Ok(slog2)
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

    /// The view by program, where there are several: program, rank, thread.
    fn program_view(&self) -> Option<LineIdMap> {
        if self.plan.programs.len() < 2 {
            return None;
        }
        let mut view = slog2::program_view(&self.plan.programs);
        for (line, [_, rank, thread]) in &self.lines {
            let place = usize::try_from(*rank).ok();
            let program = place.and_then(|rank| self.plan.program_of.get(rank));
            view.push(*line, &[program.copied().unwrap_or(-1), *rank, *thread]);
        }
        for line in self.drawn.iter().flat_map(|drawn| &drawn.lines) {
            view.push(line.id, &[-1, line.rank, line.thread]);
        }
        Some(view)
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
        let Some(mut forwarding) = self.forwarding.take() else {
            return self.put(bytes);
        };
        if let Ok(record) = Record::decode(bytes, Endian::Big) {
            forwarding.push(record, |record| self.put_decoded(record));
        }
        self.forwarding = Some(forwarding);
    }

    fn put_decoded(&mut self, record: &Record) {
        let mut buffer = [0; 256];
        let size = record.encode(&mut buffer);
        self.put(&buffer[..size]);
    }

    /// Ends the correction of times. How far it went is said in the log.
    fn end_forwarding(&mut self) -> Option<Corrected> {
        let forwarding = self.forwarding.take()?;
        let corrected = forwarding.finish(|record| self.put_decoded(record));
        if corrected.violations > 0 {
            let header = RecordHeader {
                time: corrected.last,
                icomm: 0,
                rank: 0,
                thread: 0,
            };
            let body = Body::ConstDef(ConstDef {
                etype: constdef_etype::MPI_CONST,
                value: 0,
                name: FixedText::new(&late_messages_name((corrected.largest * 1e9) as u64)),
            });
            self.put_decoded(&Record { header, body });
        }
        Some(corrected)
    }

    fn put(&mut self, bytes: &[u8]) {
        if self.drawn.is_some() {
            // What ends together with a call is nested in it.
            self.draw_until(peek_time(bytes));
        }
        let has_counts = !self.plan.counters.is_empty();
        if let Some(clog2) = &mut self.clog2
            && !(has_counts && counters::is_counted(bytes))
            && let Err(e) = clog2.write_encoded(bytes)
        {
            let path = with_ending(&self.plan.base, ".clog2");
            self.failures.push(format!("{}: {e}", path.display()));
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

    /// Ends the files and gives them their names. What was there before stays, unless it is to be replaced.
    pub fn finish(mut self, table: &CommTable) -> Ended {
        let corrected = self.end_forwarding();
        self.draw_until(f64::INFINITY);
        let mut files: Vec<(&'static str, PendingFile)> = Vec::new();
        let failed = |ending, e: &dyn std::fmt::Display| {
            format!("{}: {e}", with_ending(&self.plan.base, ending).display())
        };
        let views = [Some(self.node_view()), self.program_view()];
        if let Some(mut slog2) = self.slog2.take() {
            views
                .into_iter()
                .flatten()
                .for_each(|view| slog2.add_line_map(view));
            if let Some(drawn) = self.drawn.take() {
                slog2.describe(drawn.categories, drawn.lines);
            }
            let ended = slog2
                .finish()
                .map_err(|e| e.to_string())
                .and_then(|(mut out, _)| {
                    out.flush().map_err(|e| e.to_string())?;
                    out.into_inner().map_err(|e| e.to_string())
                });
            match ended {
                Ok(file) => files.push((".slog2", file)),
                Err(e) => self.failures.push(failed(".slog2", &e)),
            }
        }
        if let Some(clog2) = self.clog2.take() {
            match clog2.finish(table, &self.plan.preamble) {
                Ok(file) => files.push((".clog2", file)),
                Err(e) => self.failures.push(failed(".clog2", &e)),
            }
        }
        let mut ended = Ended {
            base: self.plan.base,
            files: Vec::new(),
            corrected,
            failures: self.failures,
        };
        if self.plan.replace {
            for (ending, mut file) in files {
                let path = with_ending(&ended.base, ending);
                match file.complete() {
                    Ok(()) => ended.files.push(Finished::of(path)),
                    Err(e) => ended.failures.push(format!("{}: {e}", path.display())),
                }
            }
            return ended;
        }
        match take_names(&ended.base, &mut files) {
            Ok(base) => {
                let paths = files.iter().map(|(ending, _)| with_ending(&base, ending));
                ended.files = paths.map(Finished::of).collect();
                ended.base = base;
            }
            Err(e) => {
                let paths = files
                    .iter()
                    .map(|(ending, _)| with_ending(&ended.base, ending));
                let said = paths.map(|path| format!("{}: {e}", path.display()));
                ended.failures.extend(said);
            }
        }
        ended
    }
}
