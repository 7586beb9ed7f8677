//! The command line of `mpitrace print`.

use crate::trace_files::format::Format;
use std::path::PathBuf;

/// Print a trace as text
///
/// What the file is, its content decides. The text is that of clog2_print, slog2print, dumpi2ascii, clog_print, slog_print
/// or pj_dump; of an ALOG file, which is text, the file itself, checked; of a block file (libtrace.*.blocks), a line for
/// each record.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace print run.clog2 | less
  mpitrace print -c run.slog2                     only the categories
  mpitrace print -ie -ts 0.5 run.slog2            by end time, the second half
  mpitrace print -a dumpi-2026.11.20-0000.bin     all sections, not only the calls")]
pub struct Arguments {
    /// The file; - is stdin
    pub file: PathBuf,
    /// The text of the Java clog2print
    #[arg(long, help_heading = CLOG2)]
    pub java: bool,
    /// Header and categories only, unless -s, -a or an order is given
    #[arg(short, long, help_heading = SLOG2, overrides_with_all = ["directory", "ycoordmap"])]
    pub category: bool,
    /// Header and tree directory only, likewise
    #[arg(short, long, help_heading = SLOG2, overrides_with_all = ["category", "ycoordmap"])]
    pub directory: bool,
    /// Header and line maps only, likewise
    #[arg(short, long, help_heading = SLOG2, overrides_with_all = ["category", "directory"])]
    pub ycoordmap: bool,
    /// Only states
    #[arg(short, long, help_heading = SLOG2, overrides_with = "a")]
    pub state: bool,
    /// SLOG2: only arrows and events. DUMPI: all sections
    #[arg(short, long = "arrow", visible_alias = "all", help_heading = BOTH, overrides_with = "state")]
    pub a: bool,
    /// In order of increasing start time, the default; also -is
    #[arg(long = "is", help_heading = SLOG2, overrides_with_all = ["ds", "ie", "de"])]
    pub is: bool,
    /// In order of decreasing start time; also -ds
    #[arg(long = "ds", help_heading = SLOG2, overrides_with_all = ["is", "ie", "de"])]
    pub ds: bool,
    /// In order of increasing end time; also -ie
    #[arg(long = "ie", help_heading = SLOG2, overrides_with_all = ["is", "ds", "de"])]
    pub ie: bool,
    /// In order of decreasing end time; also -de
    #[arg(long = "de", help_heading = SLOG2, overrides_with_all = ["is", "ds", "ie"])]
    pub de: bool,
    /// Begin here, as a factor 0 to 1 of the time axis; also -ts
    #[arg(long, value_name = "FACTOR", value_parser = factor, help_heading = SLOG2)]
    pub ts: Option<f64>,
    /// End here, as a factor 0 to 1 of the time axis; also -tf
    #[arg(long, value_name = "FACTOR", value_parser = factor, help_heading = SLOG2)]
    pub tf: Option<f64>,
    /// Node by node with previews, the text of PrintRecursively
    #[arg(long, help_heading = SLOG2)]
    pub recursive: bool,
    /// With --recursive: one list of the drawables in the window, as PrintRecursively -time
    #[arg(long, requires = "recursive", help_heading = SLOG2)]
    pub merged: bool,
    /// With --recursive: the lowest level of the tree to print
    #[arg(long, value_name = "LEVEL", requires = "recursive", help_heading = SLOG2)]
    pub depth: Option<i16>,
    /// DUMPI: the header record. Pajé: begin with the names of the columns
    #[arg(short = 'H', long, help_heading = DUMPI_PAJE)]
    pub header: bool,
    /// The stream of calls; the default
    #[arg(short = 'S', long, help_heading = DUMPI)]
    pub stream: bool,
    /// The keyval records
    #[arg(short = 'K', long, help_heading = DUMPI)]
    pub keyvals: bool,
    /// The footer's counters
    #[arg(short = 'F', long, help_heading = DUMPI)]
    pub footer: bool,
    /// The labels of performance counters
    #[arg(short = 'P', long, help_heading = DUMPI)]
    pub perf: bool,
    /// The labels of function addresses
    #[arg(short = 'A', long, help_heading = DUMPI)]
    pub addresses: bool,
    /// The sizes of datatypes
    #[arg(short = 'X', long, help_heading = DUMPI)]
    pub sizes: bool,
    /// The fields of the user's own behind each line
    #[arg(short, long, help_heading = PAJE)]
    pub user_defined: bool,
    /// Links without their other end are no error
    #[arg(short = 'z', long, help_heading = PAJE)]
    pub ignore_incomplete_links: bool,
    /// Decimals of times and values
    #[arg(short = 'l', long, value_name = "DECIMALS", help_heading = PAJE)]
    pub float_precision: Option<u16>,
    /// Take old field names, too, as is always done
    #[arg(short, long, hide = true, help_heading = PAJE)]
    pub no_strict: bool,
}

const CLOG2: &str = "CLOG2";
const SLOG2: &str = "SLOG2";
const DUMPI: &str = "DUMPI";
const BOTH: &str = "SLOG2 and DUMPI";
const PAJE: &str = "Pajé";
const DUMPI_PAJE: &str = "DUMPI and Pajé";

impl Arguments {
    /// The first option given that means nothing for a format.
    pub fn misplaced(&self, format: Format) -> Option<&'static str> {
        use Format::{Clog2, Dumpi, Paje, Slog2};
        let options: [(bool, &'static str, &[Format]); 24] = [
            (self.java, "--java", &[Clog2]),
            (self.category, "-c", &[Slog2]),
            (self.directory, "-d", &[Slog2]),
            (self.ycoordmap, "-y", &[Slog2]),
            (self.state, "-s", &[Slog2]),
            (self.a, "-a", &[Slog2, Dumpi]),
            (self.is, "-is", &[Slog2]),
            (self.ds, "-ds", &[Slog2]),
            (self.ie, "-ie", &[Slog2]),
            (self.de, "-de", &[Slog2]),
            (self.ts.is_some(), "-ts", &[Slog2]),
            (self.tf.is_some(), "-tf", &[Slog2]),
            (self.recursive, "--recursive", &[Slog2]),
            (self.header, "-H", &[Dumpi, Paje]),
            (self.stream, "-S", &[Dumpi]),
            (self.keyvals, "-K", &[Dumpi]),
            (self.footer, "-F", &[Dumpi]),
            (self.perf, "-P", &[Dumpi]),
            (self.addresses, "-A", &[Dumpi]),
            (self.sizes, "-X", &[Dumpi]),
            (self.user_defined, "-u", &[Paje]),
            (self.ignore_incomplete_links, "-z", &[Paje]),
            (self.float_precision.is_some(), "-l", &[Paje]),
            (self.no_strict, "-n", &[Paje]),
        ];
        let found = options
            .iter()
            .find(|(given, _, formats)| *given && !formats.contains(&format));
        found.map(|(_, name, _)| *name)
    }
}

/// A number for `-ts` and `-tf`.
fn factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".into()),
    }
}
