//! The progress bar: on work that takes over a second, when a terminal is there and nobody asked for quiet.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// Time after which the progress of work is shown.
const SHOW_AFTER: Duration = Duration::from_secs(1);
/// Steps between two looks at the clock.
const STEPS_BETWEEN_CLOCK_READS: u64 = 1 << 12;

/// Progress of one piece of work. The bar goes when this is dropped.
pub struct TaskProgress {
    bar: ProgressBar,
    quiet: bool,
    begun: Instant,
    is_shown: Cell<bool>,
    steps: Cell<u64>,
}

impl TaskProgress {
    /// Progress of work that is done after `total` bytes.
    pub fn bytes(what: &str, total: u64, quiet: bool) -> Self {
        let style = "{msg} {wide_bar} {bytes}/{total_bytes} {eta}";
        TaskProgress::new(ProgressBar::new(total), style, what, quiet)
    }

    /// Progress of work whose end is not known.
    pub fn drawables(what: &str, quiet: bool) -> Self {
        let style = "{spinner} {msg}: {human_pos} drawables, {per_sec}";
        TaskProgress::new(ProgressBar::no_length(), style, what, quiet)
    }

    fn new(bar: ProgressBar, style: &str, what: &str, quiet: bool) -> Self {
        let bar = bar.with_message(super::one_line(what));
        bar.set_draw_target(ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        TaskProgress {
            bar,
            quiet,
            begun: Instant::now(),
            is_shown: Cell::new(false),
            steps: Cell::new(0),
        }
    }

    /// Shows that the work has reached `position`.
    pub fn at(&self, position: u64) {
        if self.is_visible() {
            self.bar.set_position(position);
        }
    }

    /// One more is done; cheap enough to be called for each drawable.
    #[inline]
    pub fn step(&self) {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        if steps.is_multiple_of(STEPS_BETWEEN_CLOCK_READS) {
            self.at(steps);
        }
    }

    fn is_visible(&self) -> bool {
        if !self.is_shown.get() && !self.quiet && self.begun.elapsed() > SHOW_AFTER {
            // Without a terminal this target draws nothing.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.is_shown.set(true);
        }
        self.is_shown.get()
    }
}

impl Drop for TaskProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
