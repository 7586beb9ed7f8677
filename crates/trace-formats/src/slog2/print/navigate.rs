//! A walk through the tree, as text, led by lines of commands: slog2navigator (`spec/slog2-tools.md` section 6).

use std::io::Write;

use super::super::error::Slog2Error;
use super::super::read::Slog2Reader;
use super::flush;
use super::parts::TextBuffer;
use super::trunk::{Moved, Trunk};
use trace_model::TimeBBox;

/// A walk through a file. It begins with the whole log and the root.
pub struct Navigator<'r, 'a> {
    trunk: Trunk<'r, 'a>,
    printer: TextBuffer,
    window: TimeBBox,
    /// Depth that was asked for last; it counts when the walk begins.
    depth: i16,
    /// All drawables, or only the stubs of nodes.
    prints_all: bool,
    /// Since the text was last printed after a move, it was asked for in another form.
    other_form: bool,
    has_begun: bool,
}

/// Command on one line.
#[derive(Clone, Copy, Debug)]
struct NavigateRequest {
    window: TimeBBox,
    depth: i16,
    prints_all: Option<bool>,
}

impl<'r, 'a> Navigator<'r, 'a> {
    /// Prompt of the original before each line, with its line end.
    pub const PROMPT: &'static str =
        "Enter TimeWindow: [s|a] [d=I] [[ts=D] [tf=D]] [-[=D]] [+[=D]] [<[=F]] [>[=F]] ?\n";

    /// Begins at the root; `prints_all` as with the command `a`.
    ///
    /// # Errors
    /// The root cannot be read.
    pub fn new(reader: &'r Slog2Reader<'a>, prints_all: bool) -> Result<Self, Slog2Error> {
        let trunk = Trunk::new(reader)?;
        Ok(Navigator {
            window: trunk.bounds(),
            depth: i16::try_from(trunk.depth()).unwrap_or(i16::MAX),
            printer: TextBuffer::new(reader),
            prints_all,
            other_form: false,
            has_begun: false,
            trunk,
        })
    }

    /// Writes the first line: bounds and depth of the tree.
    ///
    /// # Errors
    /// `out` fails.
    pub fn greet(&mut self, out: &mut impl Write) -> Result<(), Slog2Error> {
        self.print_window(self.window, "dmax", self.depth);
        flush(&mut self.printer, out)
    }

    /// Does what a line asks for and writes what there is to see. Gives what is wrong with the line, if it cannot be
    /// obeyed; the window is as it was then.
    ///
    /// # Errors
    /// A node is damaged, or `out` fails.
    pub fn obey(
        &mut self,
        line: &str,
        out: &mut impl Write,
    ) -> Result<Result<(), String>, Slog2Error> {
        let mut request = NavigateRequest {
            window: self.window,
            depth: self.depth,
            prints_all: None,
        };
        let understood = request.read(self.window, line);
        let NavigateRequest { window, depth, .. } = request;
        // As in the original, what is said of form and depth counts even if the rest of the line is wrong. A depth that the tree does not have
        // counts for this line only.
        let deepest = self.trunk.depth();
        let has_depth = usize::try_from(depth).is_ok_and(|depth| depth <= deepest);
        if has_depth {
            self.depth = depth;
        }
        self.other_form |= request.prints_all.is_some();
        self.prints_all = request.prints_all.unwrap_or(self.prints_all);
        if let Err(message) = understood {
            return Ok(Err(message));
        }
        if !has_depth {
            return Ok(Err(format!("depth {depth}, expected 0 to {deepest}")));
        }
        self.print_window(window, "d", depth);
        let moved = if !self.has_begun {
            self.has_begun = true;
            self.trunk.begin(window, i64::from(depth))?;
            Moved::There
        } else if self.other_form {
            // As in the original: the nodes that are there, in that form.
            self.other_form = false;
            Moved::There
        } else {
            self.trunk.go(self.window, window)?
        };
        if moved == Moved::There {
            self.window = window;
            if self.prints_all {
                let printer = &mut self.printer;
                self.trunk.print_window(window, printer, out)?;
            } else {
                self.trunk.print_stubs(&mut self.printer);
            }
            self.printer.text("\n");
        }
        flush(&mut self.printer, out)?;
        Ok(Ok(()))
    }

    fn print_window(&mut self, window: TimeBBox, what: &str, depth: i16) {
        self.printer.text("TimeWindow = ");
        self.printer.time_bbox(window);
        self.printer.text(" @ ");
        self.printer.text(what);
        self.printer.text(" = ");
        self.printer.number(depth);
        self.printer.text("\n");
    }
}

impl NavigateRequest {
    /// Zooming in or out changes the length of the window by this factor.
    const ZOOM: f64 = 2.0;

    /// Reads a line; each command starts from the window as it was before the line.
    fn read(&mut self, old: TimeBBox, line: &str) -> Result<(), String> {
        for (word, nth) in line.split_whitespace().zip(1..) {
            let wrong = || format!("{word:?}, command {nth} of the line");
            let (command, value) = match word.split_once('=') {
                Some((command, value)) => (command, Some(value)),
                None => (word, None),
            };
            let number = |value: &str| {
                let parsed = value.parse::<f64>().ok();
                let finite = parsed.filter(|number| number.is_finite());
                finite.ok_or_else(|| format!("{}: {value:?} is not a finite number", wrong()))
            };
            match (command, value) {
                ("d", Some(value)) => {
                    let parsed = value.parse();
                    self.depth = parsed.map_err(|_| format!("{}: not a depth", wrong()))?;
                }
                ("ts", Some(value)) => self.window.earliest = number(value)?,
                ("tf", Some(value)) => self.window.latest = number(value)?,
                ("+" | "-", Some(value)) => self.zoom(old, command, number(value)?),
                ("<" | ">", Some(value)) => self.scroll(old, command, number(value)?),
                (_, Some(_)) => return Err(format!("{}: not known", wrong())),
                // As in the original, the first letter tells.
                (_, None) => match word.chars().next() {
                    Some('+') => self.zoom(old, "+", (old.earliest + old.latest) / 2.0),
                    Some('-') => self.zoom(old, "-", (old.earliest + old.latest) / 2.0),
                    Some('<') => self.scroll(old, "<", 1.0),
                    Some('>') => self.scroll(old, ">", 1.0),
                    Some('s') => self.prints_all = Some(false),
                    Some('a') => self.prints_all = Some(true),
                    _ => return Err(format!("{}: not known", wrong())),
                },
            }
        }
        Ok(())
    }

    fn zoom(&mut self, old: TimeBBox, sign: &str, centre: f64) {
        let half = old.duration() / 2.0;
        let half = if sign == "+" {
            half / Self::ZOOM
        } else {
            half * Self::ZOOM
        };
        self.window = TimeBBox {
            earliest: centre - half,
            latest: centre + half,
        };
    }

    fn scroll(&mut self, old: TimeBBox, sign: &str, windows: f64) {
        let windows = if sign == "<" { -windows } else { windows };
        let earliest = windows * old.duration() + old.earliest;
        self.window = TimeBBox {
            earliest,
            latest: old.duration() + earliest,
        };
    }
}
