//! Functions of the program (`-finstrument-functions`): which are open on a thread, what they are called, and which are left out.

use super::symbols::{self, Demangler};
use blockfile::define::Module;
use blockfile::function::FunctionStep;
use std::collections::BTreeMap;
use trace_formats::clog2::states::function_start;
use trace_model::glob;
use trace_model::hash::Map;

/// Modules and addresses that a process's records name.
#[derive(Clone, Debug, Default)]
pub struct RecordedFunctions {
    modules: Vec<Module>,
    addresses: Map<u64, ()>,
    /// Functions entered.
    pub entered: u64,
    /// Patterns of names that the settings of the run wanted to be shown, and not to be shown.
    choice: (Vec<String>, Vec<String>),
}

impl RecordedFunctions {
    /// Takes note of an object.
    pub fn module(&mut self, module: Module) {
        self.modules.push(module);
    }

    /// Takes note of what is shown.
    pub fn choose(&mut self, include: Vec<String>, exclude: Vec<String>) {
        self.choice = (include, exclude);
    }

    /// Takes note of a step.
    #[inline]
    pub fn step(&mut self, step: &FunctionStep) {
        if step.enters {
            self.entered += 1;
            self.addresses.insert(step.address, ());
        }
    }
}

/// Selection of the program functions that are shown (settings `functions-include` and `functions-exclude`), with the demangler
/// of their names.
#[derive(Clone, Debug, Default)]
pub struct FunctionSelection {
    /// Show only functions whose names match one of these patterns ([`glob`]); all functions if there is no pattern.
    pub include: Vec<String>,
    /// Do not show functions whose names match one of these patterns.
    pub exclude: Vec<String>,
    /// Makes C++ and Rust names readable.
    pub demangle: Option<Demangler>,
}

impl FunctionSelection {
    /// This selection, or where it takes all, what the settings of the run said.
    fn or_that_of(&self, found: &RecordedFunctions) -> FunctionSelection {
        let mut choice = self.clone();
        if choice.include.is_empty() && choice.exclude.is_empty() {
            (choice.include, choice.exclude) = found.choice.clone();
        }
        choice
    }

    fn takes(&self, name: &str) -> bool {
        let any = |patterns: &[String]| {
            let matched = |p: &String| glob::matches(p.as_bytes(), name.as_bytes());
            patterns.iter().any(matched)
        };
        (self.include.is_empty() || any(&self.include)) && !any(&self.exclude)
    }
}

/// Names of a process's functions.
#[derive(Clone, Debug, Default)]
pub struct FunctionNames {
    names: BTreeMap<u64, String>,
}

impl FunctionNames {
    /// Start events by address, given the names of all ranks' functions, sorted.
    pub fn start_events(&self, names: &[String]) -> Map<u64, i32> {
        let place = |name: &str| names.binary_search_by(|n| n.as_str().cmp(name)).ok();
        let start = |name: &str| function_start(i32::try_from(place(name)?).ok()?);
        self.iter()
            .filter_map(|(address, name)| Some((address, start(name)?)))
            .collect()
    }

    /// Looks up all addresses in the objects' files. What has no name there is called after its object and offset; so are functions
    /// of a file that is no longer the one that ran. Where `choice` takes all, that of the run's settings holds.
    pub fn new(found: &RecordedFunctions, choice: &FunctionSelection) -> FunctionNames {
        let addresses = found.addresses.keys().copied();
        let choice = &choice.or_that_of(found);
        let names = symbols::names(&found.modules, addresses.collect(), choice.demangle);
        FunctionNames {
            names: names
                .into_iter()
                .filter(|(_, name)| choice.takes(name))
                .collect(),
        }
    }

    /// Name of the function at this address; `None` if it is left out.
    pub fn name(&self, address: u64) -> Option<&str> {
        self.names.get(&address).map(String::as_str)
    }

    /// All names, by address.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.names.iter().map(|(&a, name)| (a, name.as_str()))
    }
}

/// The functions that a thread is in, outermost first.
#[derive(Clone, Debug, Default)]
pub struct FunctionStack(Vec<OpenFunction>);

/// A function that was entered and not left.
#[derive(Clone, Copy, Debug)]
pub struct OpenFunction {
    /// Address of the function.
    pub address: u64,
    /// Time of entry, in the seconds that [`FunctionStack::step`] was given.
    pub entered: f64,
    stack: u32,
}

/// Stacks are believed to be apart that are further away from each other, bytes.
const SAME_STACK: u32 = 8 << 20;

impl FunctionStack {
    /// Takes a step made at `time`, seconds. `left` gets the functions that have ended by it, innermost first: one that is left, and
    /// those that never will be, because longjmp has thrown them away. Gives whether the step enters a function.
    pub fn step(
        &mut self,
        step: &FunctionStep,
        time: f64,
        mut left: impl FnMut(OpenFunction),
    ) -> bool {
        if step.enters {
            while let Some(&open) = self.0.last() {
                // Bytes that the open function's frame is below what is entered now.
                let below = step.stack.wrapping_sub(open.stack);
                // A function that was inlined has its caller's frame.
                if below > SAME_STACK || below == 0 && step.is_inlined() {
                    break;
                }
                self.0.pop();
                left(open);
            }
            self.0.push(OpenFunction {
                address: step.address,
                entered: time,
                stack: step.stack,
            });
            return true;
        }
        if let Some(at) = self.0.iter().rposition(|open| open.address == step.address) {
            for open in self.0.drain(at..).rev() {
                left(open);
            }
        }
        false
    }

    /// The functions that are still open, innermost first; there are none then.
    pub fn close(&mut self) -> impl Iterator<Item = OpenFunction> + '_ {
        self.0.drain(..).rev()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(frames: &mut FunctionStack, steps: &[(bool, u64, u32)]) -> Vec<i64> {
        let mut seen = Vec::new();
        for &(enters, address, stack) in steps {
            let step = FunctionStep::new(enters, address, stack, false);
            let mut left = Vec::new();
            let entered = frames.step(&step, 0.0, |open| left.push(-(open.address as i64)));
            seen.append(&mut left);
            if entered {
                seen.push(address as i64);
            }
        }
        seen
    }

    #[test]
    fn calls_nest() {
        let mut frames = FunctionStack::default();
        let steps = [
            (true, 1, 1000),
            (true, 2, 900),
            (true, 2, 800),
            (false, 2, 800),
            (false, 2, 900),
            (true, 3, 900),
        ];
        assert_eq!(run(&mut frames, &steps), [1, 2, 2, -2, -2, 3]);
        assert!(frames.close().map(|open| open.address).eq([3, 1]));
        assert!(frames.is_empty());
    }

    #[test]
    fn frames_thrown_away_end_when_others_take_their_place() {
        let mut frames = FunctionStack::default();
        // 3 jumps back to 1, which calls 4, and again, and returns.
        let steps = [
            (true, 1, 1000),
            (true, 2, 900),
            (true, 3, 800),
            (true, 4, 950),
            (true, 4, 950),
            (false, 1, 1000),
            (false, 7, 1000),
        ];
        assert_eq!(
            run(&mut frames, &steps),
            [1, 2, 3, -3, -2, 4, -4, 4, -4, -1]
        );
        // Of a signal handler's stack nothing can be told.
        let steps = [
            (true, 1, 1000),
            (true, 2, 1 << 30),
            (false, 2, 0),
            (false, 1, 0),
        ];
        assert_eq!(run(&mut frames, &steps), [1, 2, -2, -1]);
    }

    #[test]
    fn inlined_functions_are_in_the_frame_of_their_caller() {
        let mut frames = FunctionStack::default();
        assert!(frames.step(&FunctionStep::new(true, 1, 1000, false), 0.0, |_| ()));
        let mut left = Vec::new();
        let mut leave = |open: OpenFunction| left.push(open.address);
        assert!(frames.step(&FunctionStep::new(true, 2, 1000, true), 0.0, &mut leave));
        assert!(frames.step(&FunctionStep::new(true, 3, 1000, false), 0.0, &mut leave));
        assert_eq!(left, [2, 1]);
    }

    #[test]
    fn patterns_choose() {
        let choice = |include: &[&str], exclude: &[&str]| FunctionSelection {
            include: include.iter().map(|s| (*s).to_owned()).collect(),
            exclude: exclude.iter().map(|s| (*s).to_owned()).collect(),
            demangle: None,
        };
        assert!(choice(&[], &[]).takes("f"));
        let some = choice(&["Solver::*", "ma?n"], &["*::get*"]);
        assert!(some.takes("Solver::step(int)") && some.takes("main"));
        assert!(!some.takes("Solver::get_x() const") && !some.takes("remain"));
        assert!(
            glob::matches(b"*a*b", b"xaaab")
                && !glob::matches(b"*a*b", b"xaaabc")
                && glob::matches(b"", b"")
        );
    }
}
