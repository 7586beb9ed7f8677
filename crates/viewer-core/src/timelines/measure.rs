//! Measures of each line over the whole trace, by which timelines are sorted and clustered.

use trace_formats::slog2::{TimeBBox, Topology};

use crate::base::columns::{COLUMN, WindowColumns};
use crate::base::error::ApiError;
use crate::base::parallel::Cancel;
use crate::trace::scan::{DrawableSink, ReadBudget, StatePreview, scan};
use crate::trace::states::{StatesByUnit, TraceState, for_each_shown};
use crate::trace::{OpenTrace, TraceItem};

/// Stretches of the trace in which behaviours are compared.
const BEHAVIOUR_STRETCHES: usize = 64;
/// Kinds that behaviours are made of: those that take most time.
const BEHAVIOUR_KINDS: usize = 6;

/// Numbers that are kept at most.
const MAX_MEASURES: usize = 1 << 26;

/// Measures of each line over the whole trace, by line number.
#[derive(Clone, Debug, Default)]
pub struct LineMeasures {
    /// Seconds in states, nested ones once.
    pub busy: Vec<f64>,
    /// Start of the first state; infinite where there is none.
    pub first: Vec<f64>,
    /// End of the last state; minus infinity where there is none.
    pub end: Vec<f64>,
    /// Exclusive seconds, by line and kind.
    pub exclusive: Vec<f32>,
    /// Number of kinds.
    pub kinds: usize,
    /// Behaviour of each line: shares of the most important kinds in stretches of the trace.
    pub behaviour: Vec<f32>,
    /// Numbers that describe the behaviour of a line.
    pub dimensions: usize,
}

/// Measures all lines, as exactly as what may be read allows.
///
/// # Errors
/// The file is damaged, or the answer is not wanted any more.
pub fn measure(
    trace: &OpenTrace<'_>,
    bytes: u64,
    cancel: Cancel<'_>,
) -> Result<LineMeasures, ApiError> {
    let (lines, kinds) = (trace.lines().len(), trace.kinds().len());
    if lines.saturating_mul(kinds.max(BEHAVIOUR_STRETCHES * BEHAVIOUR_KINDS)) > MAX_MEASURES {
        let message =
            format!("{lines} lines of {kinds} kinds are too many to be sorted by what they do");
        return Err(ApiError::too_large(message));
    }
    let mut measures = LineMeasures {
        busy: vec![0.0; lines],
        first: vec![f64::INFINITY; lines],
        end: vec![f64::NEG_INFINITY; lines],
        exclusive: vec![0.0; lines * kinds],
        kinds,
        behaviour: Vec::new(),
        dimensions: BEHAVIOUR_STRETCHES * BEHAVIOUR_KINDS,
    };
    let mut found = AllStates::default();
    let budget = ReadBudget {
        window: trace.bounds(),
        bytes,
        cancel,
    };
    if scan(trace, budget, &mut found)?.cancelled {
        return Err(ApiError::cancelled());
    }
    let states = StatesByUnit::new(&[found.states], trace.kinds(), 0..lines as u32, Some);
    let mut running = Vec::new();
    for line in 0..lines {
        let of_line = states.of(line as u32);
        let shown = |nth: usize, from: f64, to: f64| {
            measures.busy[line] += to - from;
            measures.exclusive[line * kinds + of_line[nth].kind as usize] += (to - from) as f32;
        };
        for_each_shown(of_line, &mut running, shown, |_, _| {});
        for state in of_line {
            measures.first[line] = measures.first[line].min(state.start);
            measures.end[line] = measures.end[line].max(state.end);
        }
    }
    for StatePreview {
        line,
        bounds,
        shares,
        ..
    } in &found.previews
    {
        let line = *line as usize;
        measures.first[line] = measures.first[line].min(bounds.earliest);
        measures.end[line] = measures.end[line].max(bounds.latest);
        for &(kind, ratios) in shares {
            let seconds = f64::from(ratios.exclusive) * bounds.duration();
            if seconds.is_finite() {
                measures.busy[line] += seconds;
                measures.exclusive[line * kinds + kind as usize] += seconds as f32;
            }
        }
    }
    measures.behaviour = behaviour(trace, &measures, &states, &found.previews);
    Ok(measures)
}

#[derive(Default)]
struct AllStates {
    states: Vec<TraceState>,
    previews: Vec<StatePreview>,
}

impl<'a> DrawableSink<'a> for AllStates {
    fn item(&mut self, item: TraceItem<'a>) {
        if item.topology == Topology::State {
            self.states.push(TraceState {
                start: item.start,
                end: item.end,
                line: item.line,
                kind: item.kind,
            });
        }
    }

    fn preview(&mut self, preview: StatePreview) {
        self.previews.push(preview);
    }
}

/// By line, stretch and kind the share of the stretch.
fn behaviour(
    trace: &OpenTrace<'_>,
    measures: &LineMeasures,
    states: &StatesByUnit,
    previews: &[StatePreview],
) -> Vec<f32> {
    let mut totals: Vec<(f32, usize)> = (0..measures.kinds).map(|kind| (0.0, kind)).collect();
    for line in measures.exclusive.chunks_exact(measures.kinds.max(1)) {
        line.iter()
            .zip(&mut totals)
            .for_each(|(seconds, total)| total.0 += seconds);
    }
    totals.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut place = vec![None; measures.kinds];
    for (nth, &(_, kind)) in totals.iter().take(BEHAVIOUR_KINDS).enumerate() {
        place[kind] = Some(nth);
    }
    let columns = WindowColumns::new(trace.bounds(), BEHAVIOUR_STRETCHES as u32);
    let mut shares = vec![0.0f32; trace.lines().len() * measures.dimensions];
    let mut add = |line: usize, kind: u32, bounds: TimeBBox, share: f32| {
        let Some(nth) = place[kind as usize] else {
            return;
        };
        let (mut from, to) = (columns.at(bounds.earliest), columns.at(bounds.latest));
        while from < to {
            let column = from / COLUMN;
            let border = to.min((column + 1) * COLUMN);
            let at = line * measures.dimensions + column as usize * BEHAVIOUR_KINDS + nth;
            shares[at] += (border - from) as f32 / COLUMN as f32 * share;
            from = border;
        }
    };
    let mut running = Vec::new();
    for line in 0..trace.lines().len() {
        let of_line = states.of(line as u32);
        let shown = |nth: usize, earliest: f64, latest: f64| {
            add(line, of_line[nth].kind, TimeBBox { earliest, latest }, 1.0);
        };
        for_each_shown(of_line, &mut running, shown, |_, _| {});
    }
    for preview in previews {
        for &(kind, ratios) in &preview.shares {
            if ratios.exclusive.is_finite() {
                add(
                    preview.line as usize,
                    kind,
                    preview.bounds,
                    ratios.exclusive,
                );
            }
        }
    }
    shares
}
