//! Iterations of a program, found from what one rank does again and again.
//!
//! What the rank does is a row of symbols: collective calls and regions, in order of their beginnings. A run of equal blocks is a loop, and
//! becomes one symbol, whatever the number of its iterations; short blocks first. Loops of loops are found when the inner ones are symbols.

use std::collections::{HashMap, HashSet};
use trace_model::TimeBBox;

/// Symbols that are kept; what comes later is not looked at.
const MAX_KEPT: usize = 1 << 20;
/// Longest block that is looked for, in symbols.
const MAX_BLOCK: usize = 128;
/// Lengths of blocks that are put into one symbol, one after the other.
const MAX_ROUNDS: usize = 64;
/// Iterations that a loop must have.
const MIN_ITERATIONS: usize = 4;
/// Share of the whole time that a loop must take.
const MIN_COVERED: f64 = 0.3;
/// Share of the iterations of a loop that must last about as long as the one before.
const MIN_REGULAR: f64 = 0.6;
/// Turns of a loop that may be one iteration, if they are alike only from one iteration to the next.
const MAX_TURNS: usize = 16;
/// Part of the mean turn below which a turn need not be like that of the iteration before.
const MIN_TURN: f64 = 0.3;
/// A loop is as good as another one if it takes this share of its time.
const NEARLY_ALL: f64 = 0.8;

/// Something that begins and ends.
#[derive(Clone, Copy, Debug)]
struct Happening {
    symbol: u32,
    from: f64,
    to: f64,
}

/// What one rank does.
#[derive(Clone, Debug, Default)]
pub(super) struct Repetition {
    happenings: Vec<Happening>,
    /// When the first thing began that is not kept.
    full_at: Option<f64>,
}

/// The iterations of a loop.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Iterations {
    /// What an iteration consists of, in order, each symbol once.
    pub symbols: Vec<u32>,
    /// Symbols in an iteration, each as often as it comes, on average.
    pub parts: f64,
    pub ranges: Vec<TimeBBox>,
    /// Where what is looked at ends, if that is before the end of the focus: too much is done in it.
    pub looked_until: Option<f64>,
}

/// A run of blocks.
struct Run {
    from: Vec<f64>,
    to: f64,
}

impl Repetition {
    /// Something begins. Gives its place, if it is kept.
    pub(super) fn begin(&mut self, symbol: u32, from: f64) -> Option<u32> {
        if self.happenings.len() == MAX_KEPT {
            self.full_at.get_or_insert(from);
            return None;
        }
        let to = from;
        self.happenings.push(Happening { symbol, from, to });
        Some(self.happenings.len() as u32 - 1)
    }

    /// What is at this place ends.
    pub(super) fn end(&mut self, place: u32, to: f64) {
        if let Some(happening) = self.happenings.get_mut(place as usize) {
            happening.to = to;
        }
    }

    pub(super) fn clear(&mut self) {
        self.happenings.clear();
        self.full_at = None;
    }

    /// The loops between two times, as far as what is done in between is kept.
    pub(super) fn loops(mut self, from: f64, to: f64) -> Loops {
        let looked_until = self.full_at.filter(|&full_at| full_at < to);
        let to = looked_until.unwrap_or(to);
        self.happenings
            .retain(|happening| happening.from >= from && happening.from < to);
        let begins = self.happenings.iter().map(|happening| happening.from);
        let begins = begins.collect();
        let symbols = self.happenings.iter().map(|happening| happening.symbol);
        let mut finder = LoopFinder {
            next: symbols.max().unwrap_or(0) + 1,
            row: self.happenings,
            names: HashMap::new(),
            runs: HashMap::new(),
        };
        finder.find();
        Loops {
            finder,
            begins,
            from,
            to,
            looked_until,
        }
    }
}

/// The loops in what one rank does.
pub(super) struct Loops {
    finder: LoopFinder,
    /// When all that is looked at begins, in order.
    begins: Vec<f64>,
    /// The time that is looked at.
    from: f64,
    to: f64,
    /// The end of that time, if it is before that of the focus.
    looked_until: Option<f64>,
}

impl Loops {
    /// The loop that tells most: it takes a good part of the time, its iterations are alike, and it is in no other such loop. With `grouped`,
    /// several turns of a loop may be one iteration.
    pub(super) fn iterations(&self, grouped: bool) -> Option<Iterations> {
        let (finder, to) = (&self.finder, self.to);
        let whole = (to - self.from).max(f64::MIN_POSITIVE);
        let loops = finder.runs.iter().map(|(body, runs)| {
            let mut ranges = ranges_of(runs, to);
            if grouped
                && regularity(&ranges) < MIN_REGULAR
                && let Some(grouped) = in_groups(runs)
            {
                ranges = ranges_of(&grouped, to);
            }
            let covered: f64 = ranges.iter().map(length).sum();
            (body, covered / whole, regularity(&ranges), ranges)
        });
        let loops: Vec<_> = loops
            .filter(|(_, covered, regular, ranges)| {
                ranges.len() >= MIN_ITERATIONS && *covered >= MIN_COVERED && *regular >= MIN_REGULAR
            })
            .collect();
        let best = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
        let covered = best(&mut loops.iter().map(|found| found.1));
        let covering = |found: &&(_, f64, f64, Vec<TimeBBox>)| found.1 >= NEARLY_ALL * covered;
        let regular = best(&mut loops.iter().filter(covering).map(|found| found.2));
        let outermost = (loops.iter().filter(covering))
            .filter(|found| found.2 >= NEARLY_ALL * regular)
            .min_by(|a, b| a.3.len().cmp(&b.3.len()).then_with(|| a.0.cmp(b.0)))?;
        let ranges = outermost.3.clone();
        let before = |time: f64| self.begins.partition_point(|&begin| begin < time);
        let parts = ranges
            .iter()
            .map(|range| before(range.latest) - before(range.earliest));
        Some(Iterations {
            symbols: finder.leaves(outermost.0),
            parts: parts.sum::<usize>() as f64 / ranges.len() as f64,
            ranges,
            looked_until: self.looked_until,
        })
    }
}

fn length(range: &TimeBBox) -> f64 {
    range.latest - range.earliest
}

/// The iterations of all runs of a loop in order. The last one of a run ends when what belongs to it ends.
fn ranges_of(runs: &[Run], end: f64) -> Vec<TimeBBox> {
    let mut ranges = Vec::new();
    for run in runs {
        let ends = run.from[1..].iter().copied().chain([run.to]);
        for (&earliest, latest) in run.from.iter().zip(ends) {
            let latest = latest.min(end);
            if latest > earliest {
                ranges.push(TimeBBox { earliest, latest });
            }
        }
    }
    ranges.sort_by(|a, b| a.earliest.total_cmp(&b.earliest));
    for nth in 1..ranges.len() {
        let next = ranges[nth].earliest;
        let before = &mut ranges[nth - 1];
        before.latest = before.latest.min(next);
    }
    ranges
}

/// Share of the iterations that last between half as long and twice as long as the one before. The length of an iteration may change in the course
/// of a run, and some may be out of the ordinary; two that are different things do not make a loop.
fn regularity(ranges: &[TimeBBox]) -> f64 {
    alike(&ranges.iter().map(length).collect::<Vec<_>>())
}

/// The part of lengths that are at least half and at most twice the one before.
fn alike(lengths: &[f64]) -> f64 {
    let pairs = lengths.windows(2);
    let number = pairs.len().max(1) as f64;
    let is_alike = |pair: &&[f64]| pair[1] >= 0.5 * pair[0] && pair[1] <= 2.0 * pair[0];
    pairs.filter(is_alike).count() as f64 / number
}

/// Turns of a loop put together to iterations, as few as can be to one: a loop with the same call twice in it is found as one of twice as many turns,
/// a long and a short one after the other. `None` if that does not make them regular.
fn in_groups(runs: &[Run]) -> Option<Vec<Run>> {
    (2..=MAX_TURNS).find_map(|turns| {
        let long = runs.iter();
        let long = long.filter(|run| run.from.len() >= MIN_ITERATIONS * turns);
        let grouped: Vec<Run> = long.map(|run| run.in_groups(turns)).collect();
        (!grouped.is_empty() && is_periodic(runs, turns)).then_some(grouped)
    })
}

/// Whether each turn of a loop is like the one that is so many turns before it.
fn is_periodic(runs: &[Run], turns: usize) -> bool {
    let mut lengths = vec![Vec::new(); turns];
    for run in runs {
        if run.from.len() >= MIN_ITERATIONS * turns {
            let ends = run.from[1..].iter().chain([&run.to]);
            for (nth, (from, to)) in run.from.iter().zip(ends).enumerate() {
                lengths[nth % turns].push(to - from);
            }
        }
    }
    let medians: Vec<f64> = lengths
        .iter()
        .map(|of_turn| median(&mut of_turn.clone()))
        .collect();
    let mean = medians.iter().sum::<f64>() / turns as f64;
    let mut long = medians.iter().zip(&lengths);
    long.all(|(&median, of_turn)| median < MIN_TURN * mean || alike(of_turn) >= MIN_REGULAR)
}

impl Run {
    /// With so many turns in one.
    fn in_groups(&self, turns: usize) -> Run {
        let whole = self.from.len() / turns * turns;
        Run {
            from: self.from[..whole].iter().copied().step_by(turns).collect(),
            to: self.from.get(whole).copied().unwrap_or(self.to),
        }
    }
}

/// The median of values, which it sorts; 0 of none. Of an even number the mean of the two in the middle.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match (values.len() % 2, half.checked_sub(1), values.get(half)) {
        (0, Some(lower), Some(upper)) => 0.5 * (values[lower] + upper),
        (_, _, middle) => middle.copied().unwrap_or(0.0),
    }
}

/// Finds the loops in a row, and puts symbols in their place.
struct LoopFinder {
    row: Vec<Happening>,
    /// Symbols of blocks.
    names: HashMap<Vec<u32>, u32>,
    next: u32,
    /// Runs by block.
    runs: HashMap<Vec<u32>, Vec<Run>>,
}

impl LoopFinder {
    fn find(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let blocks = 1..=MAX_BLOCK.min(self.row.len() / 2);
            let mut found = blocks.map(|block| (block, self.repeated(block)));
            let Some((block, bodies)) = found.find(|(_, bodies)| !bodies.is_empty()) else {
                break;
            };
            // What is one symbol now may be part of a shorter block than the next one.
            self.replace(block, &bodies);
        }
    }

    /// Blocks of this length that follow themselves.
    fn repeated(&self, block: usize) -> HashSet<Vec<u32>> {
        let mut bodies = HashSet::new();
        let mut equal = 0;
        for at in 0..self.row.len() - block {
            if self.row[at].symbol == self.row[at + block].symbol {
                equal += 1;
                if equal == block {
                    let body = &self.row[at + 1 - block..=at];
                    bodies.insert(body.iter().map(|happening| happening.symbol).collect());
                }
            } else {
                equal = 0;
            }
        }
        bodies
    }

    /// Puts a symbol in the place of each run of these blocks, and of each one that stands alone.
    fn replace(&mut self, block: usize, bodies: &HashSet<Vec<u32>>) {
        let firsts: HashSet<u32> = bodies.iter().map(|body| body[0]).collect();
        let row = std::mem::take(&mut self.row);
        let mut body: Vec<u32> = Vec::with_capacity(block);
        let mut at = 0;
        while at < row.len() {
            body.clear();
            if firsts.contains(&row[at].symbol) && at + block <= row.len() {
                let symbols = row[at..at + block].iter().map(|happening| happening.symbol);
                body.extend(symbols);
            }
            if !bodies.contains(&body) {
                self.row.push(row[at]);
                at += 1;
                continue;
            }
            let before = before_turns(&row, at, block);
            if before > 0 {
                self.row.extend_from_slice(&row[at..at + before]);
                at += before;
                let symbols = row[at..at + block].iter().map(|happening| happening.symbol);
                body.clear();
                body.extend(symbols);
            }
            let is_body = |from: usize| {
                let symbols = row.get(from..from + block);
                symbols.is_some_and(|row| row.iter().map(|h| h.symbol).eq(body.iter().copied()))
            };
            let mut from = Vec::new();
            let mut to = f64::NEG_INFINITY;
            while is_body(at) {
                let ends = row[at..at + block].iter().map(|happening| happening.to);
                to = ends.fold(to, f64::max);
                from.push(row[at].from);
                at += block;
            }
            let symbol = self.name(&body);
            self.row.push(Happening {
                symbol,
                from: from[0],
                to,
            });
            if from.len() > 1 {
                self.runs
                    .entry(body.clone())
                    .or_default()
                    .push(Run { from, to });
            }
        }
    }

    /// The symbol of a block. One that stands for itself any number of times keeps its own.
    fn name(&mut self, body: &[u32]) -> u32 {
        if let [symbol] = body {
            return *symbol;
        }
        if let Some(&name) = self.names.get(body) {
            return name;
        }
        let name = self.next;
        self.next += 1;
        self.names.insert(body.to_vec(), name);
        name
    }

    /// The symbols of the row that a block consists of in the end, each once, in their order.
    fn leaves(&self, body: &[u32]) -> Vec<u32> {
        let blocks: HashMap<u32, &Vec<u32>> = self
            .names
            .iter()
            .map(|(body, &name)| (name, body))
            .collect();
        let mut leaves = Vec::new();
        let mut open: Vec<u32> = body.iter().rev().copied().collect();
        while let Some(symbol) = open.pop() {
            match blocks.get(&symbol) {
                Some(block) => open.extend(block.iter().rev()),
                None if leaves.contains(&symbol) => {}
                None => leaves.push(symbol),
            }
        }
        leaves
    }
}

/// Symbols at this place that are before a loop of blocks of this length, though its turns could begin with them: a call before the loop may be the one at
/// the end of each turn. Turns begin so that none begins within something of the turn before, if they can.
fn before_turns(row: &[Happening], at: usize, block: usize) -> usize {
    let behind = row.len().saturating_sub(block);
    let repeated = (at..behind)
        .take_while(|&nth| row[nth].symbol == row[nth + block].symbol)
        .count();
    let turns = (repeated / block).min(MAX_TURNS);
    let is_cut = |before: usize| {
        (1..=turns).any(|turn| {
            let begin = at + before + turn * block;
            let from = row[begin].from;
            let of_turn = &row[begin - block..begin];
            of_turn
                .iter()
                .any(|other| other.from < from && other.to > from)
        })
    };
    let starts = 0..=repeated % block;
    starts
        .into_iter()
        .find(|&before| !is_cut(before))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of letters, one a second, each half a second long.
    fn of(row: &str) -> Option<Iterations> {
        let mut repetition = Repetition::default();
        for (nth, letter) in row.bytes().enumerate() {
            let place = repetition.begin(u32::from(letter), nth as f64);
            repetition.end(place.expect("room"), nth as f64 + 0.5);
        }
        repetition.loops(0.0, row.len() as f64).iterations(false)
    }

    fn starts(row: &str) -> Vec<f64> {
        let iterations = of(row).unwrap_or_else(|| panic!("{row}: no loop"));
        iterations
            .ranges
            .iter()
            .map(|range| range.earliest)
            .collect()
    }

    #[test]
    fn loops_are_found() {
        assert_eq!(starts("xabcabcabcabcy"), [1.0, 4.0, 7.0, 10.0]);
        let found = of("xabcabcabcabcy").expect("a loop");
        assert_eq!(found.symbols, [97, 98, 99]);
        assert_eq!(found.ranges[3].latest, 12.5);
        assert_eq!(starts("aaaaaa").len(), 6);
        assert_eq!(of("abcdefgh"), None);
        assert_eq!(of("abab"), None);
        assert_eq!(of(""), None);
    }

    /// Each turn is a region with two calls in it, and the second of them is made before the loop, too.
    #[test]
    fn a_turn_does_not_begin_within_a_region() {
        for calls_before in [0, 1] {
            let mut repetition = Repetition::default();
            let mut put = |symbol: u32, from: f64, to: f64| {
                let place = repetition.begin(symbol, from).expect("room");
                repetition.end(place, to);
            };
            for nth in 0..calls_before {
                put(3, f64::from(nth) / 2.0, f64::from(nth) / 2.0 + 0.25);
            }
            for turn in 0..12 {
                let from = 1.0 + 4.0 * f64::from(turn);
                put(1, from, from + 3.75);
                put(2, from + 1.0, from + 1.5);
                put(3, from + 3.0, from + 3.5);
            }
            let found = repetition.loops(0.0, 49.0).iterations(false);
            let found = found.expect("a loop");
            let starts: Vec<f64> = found.ranges.iter().map(|range| range.earliest).collect();
            let expected: Vec<f64> = (0..12).map(|turn| 1.0 + 4.0 * f64::from(turn)).collect();
            assert_eq!(starts, expected, "{calls_before}");
        }
    }

    #[test]
    fn inner_loops_may_take_any_number_of_turns() {
        // An outer loop of four, with 3, 5, 4 and 3 turns of an inner one.
        let row = "sccccecccccceccccceccccce".replace('e', "es");
        let found = of(&row[..row.len() - 1]).expect("a loop");
        assert_eq!(found.ranges.len(), 4);
        assert!(found.symbols.contains(&u32::from(b'e')));
        // Once, a turn does not repeat.
        let starts = starts("sabesababesababesabesababe");
        assert_eq!(starts, [0.0, 4.0, 10.0, 16.0, 20.0]);
    }

    /// The lengths of turns in units of a second, each of which begins with the same call.
    fn of_turns(lengths: impl Iterator<Item = u32>) -> Option<Iterations> {
        let mut repetition = Repetition::default();
        let mut now = 0.0;
        for length in lengths {
            let place = repetition.begin(7, now);
            repetition.end(place.expect("room"), now + 0.5);
            now += f64::from(length);
        }
        let loops = repetition.loops(0.0, now);
        assert_eq!(loops.iterations(false), None);
        loops.iterations(true)
    }

    #[test]
    fn a_call_may_be_made_several_times_in_an_iteration() {
        let found = of_turns((0..21).map(|nth| [1, 99][nth % 2])).expect("a loop");
        assert_eq!(found.ranges.len(), 10);
        let lengths = found.ranges.iter().map(length);
        assert_eq!(lengths.collect::<Vec<_>>(), [100.0; 10]);
        let found = of_turns((0..30).map(|nth| [5, 1, 50][nth % 3])).expect("a loop");
        assert_eq!(found.ranges.len(), 10);
        // Short and long ones as it comes are no iterations of one loop.
        let mut state = 1_u32;
        let by_chance = (0..200).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            3_u32.pow(state >> 29)
        });
        assert_eq!(of_turns(by_chance), None);
    }

    #[test]
    fn a_median_has_as_much_below_it_as_above_it() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(median(&mut [3.0]), 3.0);
        assert_eq!(median(&mut [4.0, 1.0]), 2.5);
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&mut [9.0, 1.0, 5.0, 2.0]), 3.5);
    }

    #[test]
    fn what_takes_little_time_is_no_phase() {
        let row = "aaaa".to_owned() + "bcdefghijklmnopqrstuvwxyz";
        assert_eq!(of(&row), None);
    }
}
