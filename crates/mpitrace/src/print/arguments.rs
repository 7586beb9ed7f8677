//! The command line of `mpitrace print`.

use crate::terminal::table::CellStyle;
use crate::trace_files::format::Format;
use std::path::PathBuf;

/// Print a trace as text
///
/// The input format is detected from content. The text is that of clog2_print, slog2print, dumpi2ascii, clog_print,
/// slog_print or pj_dump. An ALOG file is text already: it is checked and copied. An OTF2 archive is printed as the
/// SLOG2 file that it is converted to. A block file (libtrace.*.blocks) gives one line per record. --json and --csv
/// print one row per call from every format; docs/user/rows.md describes them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace print run.clog2 | less
  mpitrace print -c run.slog2                     only the categories
  mpitrace print -ie -ts 0.5 run.slog2            by end time, the second half
  mpitrace print -a lmp-2026.11.20.08.15.00-0000.bin     all sections, not only the calls
  mpitrace print --json lmp-2026.11.20.08.15.00-0000.bin | jq 'select(.function == \"MPI_Send\") | .arguments.count'
  mpitrace print --csv libtrace.app.0.4711.blocks >calls.csv")]
pub struct Arguments {
    /// The file to read; - is stdin
    pub file: PathBuf,
    /// Print the text of the Java clog2print
    #[arg(long, help_heading = CLOG2)]
    pub java: bool,
    /// Print only header and categories; -s, -a or an order adds drawables
    #[arg(short, long, help_heading = SLOG2, overrides_with_all = ["directory", "ycoordmap"])]
    pub category: bool,
    /// Print only header and tree directory; -s, -a or an order adds drawables
    #[arg(short, long, help_heading = SLOG2, overrides_with_all = ["category", "ycoordmap"])]
    pub directory: bool,
    /// Print only header and line ID maps; -s, -a or an order adds drawables
    #[arg(short, long, help_heading = SLOG2, overrides_with_all = ["category", "directory"])]
    pub ycoordmap: bool,
    /// Print only states
    #[arg(short, long, help_heading = SLOG2, overrides_with = "a")]
    pub state: bool,
    /// SLOG2: print only arrows and events. DUMPI: print all sections
    #[arg(short, long = "arrow", visible_alias = "all", help_heading = BOTH, overrides_with = "state")]
    pub a: bool,
    /// Order by increasing start time (the default); also -is
    #[arg(long = "is", help_heading = SLOG2, overrides_with_all = ["ds", "ie", "de"])]
    pub is: bool,
    /// Order by decreasing start time; also -ds
    #[arg(long = "ds", help_heading = SLOG2, overrides_with_all = ["is", "ie", "de"])]
    pub ds: bool,
    /// Order by increasing end time; also -ie
    #[arg(long = "ie", help_heading = SLOG2, overrides_with_all = ["is", "ds", "de"])]
    pub ie: bool,
    /// Order by decreasing end time; also -de
    #[arg(long = "de", help_heading = SLOG2, overrides_with_all = ["is", "ds", "ie"])]
    pub de: bool,
    /// Start at this part of the time axis, 0 to 1; also -ts
    #[arg(long, value_name = "FACTOR", value_parser = factor, help_heading = SLOG2)]
    pub ts: Option<f64>,
    /// End at this part of the time axis, 0 to 1; also -tf
    #[arg(long, value_name = "FACTOR", value_parser = factor, help_heading = SLOG2)]
    pub tf: Option<f64>,
    /// Print node by node with previews, as PrintRecursively does
    #[arg(long, help_heading = SLOG2)]
    pub recursive: bool,
    /// With --recursive: print one list of the drawables in the window, as PrintRecursively -time does
    #[arg(long, requires = "recursive", help_heading = SLOG2)]
    pub merged: bool,
    /// With --recursive: lowest level of the tree to print
    #[arg(long, value_name = "LEVEL", requires = "recursive", help_heading = SLOG2)]
    pub depth: Option<i16>,
    /// DUMPI: print the header record. Pajé: print the names of the columns first
    #[arg(short = 'H', long, help_heading = DUMPI_PAJE)]
    pub header: bool,
    /// Print the stream of calls (the default)
    #[arg(short = 'S', long, help_heading = DUMPI)]
    pub stream: bool,
    /// Print the keyval records
    #[arg(short = 'K', long, help_heading = DUMPI)]
    pub keyvals: bool,
    /// Print the counters of the footer
    #[arg(short = 'F', long, help_heading = DUMPI)]
    pub footer: bool,
    /// Print the labels of performance counters
    #[arg(short = 'P', long, help_heading = DUMPI)]
    pub perf: bool,
    /// Print the labels of function addresses
    #[arg(short = 'A', long, help_heading = DUMPI)]
    pub addresses: bool,
    /// Print the sizes of datatypes
    #[arg(short = 'X', long, help_heading = DUMPI)]
    pub sizes: bool,
    /// Print user-defined fields at the end of each line
    #[arg(short, long, help_heading = PAJE)]
    pub user_defined: bool,
    /// Accept links without their other end
    #[arg(short = 'z', long, help_heading = PAJE)]
    pub ignore_incomplete_links: bool,
    /// Number of decimals of times and values
    #[arg(short = 'l', long, value_name = "DECIMALS", help_heading = PAJE)]
    pub float_precision: Option<u16>,
    /// Accept old field names. They are always accepted; the option exists because pj_dump has it
    #[arg(short, long, hide = true, help_heading = PAJE)]
    pub no_strict: bool,
    /// Print one JSON object per call and line: rank, thread, call_id, function, start_ns, duration_ns, error and arguments
    #[arg(long, conflicts_with = "csv", help_heading = ROWS)]
    pub json: bool,
    /// Print a CSV table with the same columns; the arguments of a call are one JSON object
    #[arg(long, help_heading = ROWS)]
    pub csv: bool,
    #[command(flatten)]
    pub cells: CellStyle,
}

const CLOG2: &str = "CLOG2";
const SLOG2: &str = "SLOG2";
const DUMPI: &str = "DUMPI";
const BOTH: &str = "SLOG2 and DUMPI";
const PAJE: &str = "Pajé";
const DUMPI_PAJE: &str = "DUMPI and Pajé";
const ROWS: &str = "One row per call, from every format";

impl Arguments {
    /// The first option given that means nothing for a format, or for rows of calls.
    pub fn misplaced(&self, format: Format) -> Option<&'static str> {
        // An archive is printed as the SLOG2 file that it is converted to.
        let format = match format {
            Format::Otf2 => Format::Slog2,
            format => format,
        };
        let is_misplaced = |formats: &[Format]| self.has_rows() || !formats.contains(&format);
        let mut options = self.options().into_iter();
        let found = options.find(|(given, _, formats)| *given && is_misplaced(formats));
        found.map(|(_, name, _)| name)
    }

    /// Whether rows of calls are to be printed in place of a text.
    pub fn has_rows(&self) -> bool {
        self.json || self.csv
    }

    /// The options of texts: whether each is given, its name, and the formats whose text it is about.
    fn options(&self) -> [(bool, &'static str, &'static [Format]); 24] {
        use Format::{Clog2, Dumpi, Paje, Slog2};
        [
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
        ]
    }
}

/// A number for `-ts` and `-tf`.
fn factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".into()),
    }
}
