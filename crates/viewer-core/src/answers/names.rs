//! The file and the communicator that a drawable is about. Files are told by their numbers and by the handles of calls of MPI-IO; their names are looked
//! up when one is first asked for.

use std::collections::HashMap;
use std::sync::PoisonError;
use trace_formats::slog2::{TimeBBox, Topology};
use trace_model::{InfoValue, info_values};

use super::viewer::Viewer;
use crate::base::parallel::Cancel;
use crate::base::text::visible;
use crate::details::CallCommunicator;
use crate::search::files::for_each_file;
use crate::search::language::{Comparison, Condition, LineNumber, SearchTerm, SearchTerms};
use crate::search::plan::SearchPlan;
use crate::search::walk::{SearchPosition, find};
use crate::trace::class::ActivityClass;
use crate::trace::info::{callid, file_number, name_of_key};
use crate::trace::names::{NamedFile, TraceNames};
use crate::trace::nearby::collect;
use crate::trace::reference::DrawableReference;
use crate::trace::{OpenTrace, TraceItem};

/// Most events that name files.
const MAX_NAMED_FILES: u64 = 1 << 16;
/// Calls with a handle, of which so many are looked at for the file that it stands for.
const MAX_CALLS_OF_HANDLE: usize = 16;
/// The divisor of the read budget for the operations of a call: its file is one fact of several.
const PART_OF_BUDGET: u64 = 8;

/// What the info of a call of MPI-IO says about its file.
#[derive(Clone, Copy, Debug, Default)]
struct CallValues {
    callid: Option<u64>,
    handle: Option<i64>,
}

/// Numbers of the files that a call of MPI-IO tells of.
#[derive(Clone, Debug, Default)]
struct CallFiles {
    /// Number of the file that the call accesses.
    accessed: Option<i64>,
    /// Numbers of the files of the operations in the call, in order.
    of_operations: Vec<i64>,
}

impl CallValues {
    fn of(trace: &OpenTrace<'_>, item: &TraceItem<'_>) -> CallValues {
        let mut found = CallValues::default();
        for (key, value) in info_values(&trace.kinds()[item.kind as usize].category, item.info) {
            let text = key.to_str();
            found.callid = found.callid.or_else(|| callid(&text, value));
            if let InfoValue::Integer(handle @ 0..) = value
                && name_of_key(&key.0) == "handle"
            {
                found.handle = Some(handle);
            }
        }
        found
    }
}

impl Viewer<'_> {
    /// The communicator that a line is about. Not told of that of MPI_COMM_WORLD: calls on communicators without a line are on that, too.
    pub(crate) fn communicator(&self, line: u32) -> Option<CallCommunicator> {
        let number = self.trace().lines().get(line as usize)?.line.comm;
        if number <= 0 {
            return None;
        }
        let name = self.comm_names.get(number).map(visible);
        Some(CallCommunicator { number, name })
    }

    /// The names that the trace tells, for a part of it.
    pub fn names(&self, cancel: Cancel<'_>) -> TraceNames {
        let budget = self.budget(self.trace().bounds(), cancel);
        let mut files = Vec::new();
        let read = for_each_file(self.trace(), MAX_NAMED_FILES, budget, |file| {
            files.push(file);
        });
        let communicators = self.comm_names.iter();
        TraceNames {
            communicators: communicators
                .map(|(comm, _, name)| (comm, name.to_owned()))
                .collect(),
            files: read.is_ok().then_some(files),
        }
    }

    /// The path of the file that a drawable is about, if the trace tells. A call of MPI-IO is about the file that it accesses, else about that of
    /// its handle, else about that of its first operation.
    pub(crate) fn file_of(&self, item: &TraceItem<'_>, cancel: Cancel<'_>) -> Option<String> {
        let kind = &self.trace().kinds()[item.kind as usize];
        for (key, value) in info_values(&kind.category, item.info) {
            if let Some(number) = file_number(&key.to_str(), value) {
                return self.file_name(number, cancel);
            }
            if let InfoValue::Text(text @ [_, ..]) = value
                && name_of_key(&key.0) == "filename"
            {
                return Some(visible(&String::from_utf8_lossy(text)));
            }
        }
        if kind.class != ActivityClass::Io || item.topology != Topology::State {
            return None;
        }
        let values = CallValues::of(self.trace(), item);
        let files = self.files_at(item, values, cancel);
        let number = match (files.accessed, values.handle) {
            (Some(file), _) => Some(file),
            (None, Some(handle)) => self.file_of_handle(item.line, handle, cancel),
            (None, None) => files.of_operations.first().copied(),
        };
        self.file_name(number?, cancel)
    }

    /// The files that a call tells of.
    fn files_at(&self, item: &TraceItem<'_>, values: CallValues, cancel: Cancel<'_>) -> CallFiles {
        let mut found = CallFiles::default();
        let Some(id) = values.callid else {
            return found;
        };
        let trace = self.trace();
        let is_own = |other: &TraceItem<'_>| {
            let class = trace.kinds()[other.kind as usize].class;
            let is_of_files = match other.topology {
                Topology::Event => [ActivityClass::Io, ActivityClass::Disk].contains(&class),
                Topology::State => class == ActivityClass::Disk,
                Topology::Arrow => false,
            };
            is_of_files && CallValues::of(trace, other).callid == Some(id)
        };
        let number = |other: &TraceItem<'_>| {
            let category = &trace.kinds()[other.kind as usize].category;
            let mut pairs = info_values(category, other.info);
            pairs.find_map(|(key, value)| file_number(&key.to_str(), value))
        };
        // The event that tells the access is where the call begins; operations may be anywhere in it.
        for (latest, part) in [(item.start, 1), (item.end, PART_OF_BUDGET)] {
            let window = TimeBBox {
                earliest: item.start,
                latest,
            };
            let mut budget = self.budget(window, cancel);
            budget.bytes /= part;
            let Ok((mut items, _)) = collect(trace, budget, &is_own) else {
                break;
            };
            items.sort_by(|a, b| a.start.total_cmp(&b.start));
            let of = |topology: Topology| {
                let items = items.iter().filter(move |other| other.topology == topology);
                items.filter_map(number)
            };
            found.accessed = of(Topology::Event).next();
            found.of_operations = of(Topology::State).collect();
            if found.accessed.is_some() {
                break;
            }
        }
        found
    }

    /// The file that a rank's number for an open file stands for: of those that calls with it access or whose operations are in them, the first one
    /// with data of the program.
    fn file_of_handle(&self, line: u32, handle: i64, cancel: Cancel<'_>) -> Option<i64> {
        let trace = self.trace();
        let rank = trace.lines().get(line as usize)?.line.rank;
        let kept = || (self.file_names.handles.lock()).unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept().get(&(rank, handle)) {
            return *found;
        }
        let term = |condition| SearchTerm {
            not: false,
            condition,
        };
        let conditions = [
            Condition::ActivityClass(ActivityClass::Io),
            Condition::Is(Topology::State),
            Condition::Line(LineNumber::Rank, vec![(rank.into(), rank.into())]),
            Condition::Number("handle".into(), Comparison::Equal, handle as f64),
        ];
        let terms = SearchTerms(conditions.map(term).into());
        let plan = SearchPlan::new(trace, &|_| true, &terms);
        let budget = self.budget(trace.bounds(), cancel);
        let mut from = SearchPosition::at(f64::NEG_INFINITY);
        let mut file = None;
        for _ in 0..MAX_CALLS_OF_HANDLE {
            let Ok(found) = find(trace, &plan, from, true, budget) else {
                break;
            };
            let Some(call) = found.item else {
                break;
            };
            let files = self.files_at(&call, CallValues::of(trace, &call), cancel);
            let mut files = files.accessed.into_iter().chain(files.of_operations);
            file = files.find(|&number| self.has_data(number, cancel));
            if file.is_some() {
                break;
            }
            from = SearchPosition::of(&DrawableReference::of(trace, &call, 0));
        }
        if !cancel() {
            kept().insert((rank, handle), file);
        }
        file
    }

    /// The path of the file of this number, if an event of the trace names it.
    pub(crate) fn file_name(&self, number: i64, cancel: Cancel<'_>) -> Option<String> {
        let path = self.file(number, cancel)?.path;
        Some(path).filter(|path| !path.is_empty())
    }

    fn has_data(&self, number: i64, cancel: Cancel<'_>) -> bool {
        (self.file(number, cancel)).is_some_and(|file| file.has_data)
    }

    fn file(&self, number: i64, cancel: Cancel<'_>) -> Option<NamedFile> {
        if let Some(files) = self.file_names.files.get() {
            return files.get(&number).cloned();
        }
        let mut files = HashMap::new();
        let budget = self.budget(self.trace().bounds(), cancel);
        // Those of a trace in which they cannot be looked up are not known.
        let _ = for_each_file(self.trace(), MAX_NAMED_FILES, budget, |file| {
            let path = visible(&file.path);
            files.insert(file.number, NamedFile { path, ..file });
        });
        let found = files.get(&number).cloned();
        // What was given up is tried again.
        if !cancel() {
            self.file_names.files.get_or_init(|| files);
        }
        found
    }
}
