//! `mpitrace draw`: a window of a trace as a picture, for papers, logs and documentation.

pub mod converted;
mod focus;
pub mod png;

use crate::failure::Failure;
use crate::terminal::tell;
use crate::trace_files::format::Format;
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::target::write_bytes;
use crate::trace_files::time_window::{TimePosition, in_log, time_position};
use crate::trace_files::trace::TraceInput;
use clap::ValueEnum;
use converted::ConvertedTrace;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use trace_formats::slog2::{Slog2Error, Slog2Reader};
use trace_model::Line;
use viewer_core::{
    CategoryColors, ContentRequest, NamedTimelines, PictureLayout, PictureStyle, Theme,
    TimelineSelection, WindowContent,
};

/// Draw a picture of a trace
///
/// Each rank, thread, server and device has a timeline. States are boxes; nested ones are drawn below the name of the
/// state around them. Arrows show messages, and lead from MPI-IO calls to the disk operations they caused. A pixel with
/// several states has the colour of the category that takes most of its time. Where timelines are too many, neighbours
/// are drawn as one, and what at most one in fifty of all does is shown where it is. Of an SLOG2 file only the shown part
/// is read; other formats are converted first. The legend counts the drawables in the window.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace draw run.slog2 run.svg
  mpitrace draw run.slog2 run.png --window 80% 80.1%
  mpitrace draw run.slog2 io.svg --focus io
  mpitrace draw run.slog2 io.svg --categories 'MPI_File_*,pwrite*,carries *'
  mpitrace draw run.slog2 first.png --timelines 0-63 --size 2400x1200 --theme dark --colors class
  mpitrace draw run.slog2 servers.svg --timelines 'server*,device*'")]
pub struct Arguments {
    /// The trace, in any format; - is stdin
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// The picture: a name that ends in .svg or .png; - is SVG on stdout
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Time window to draw: seconds, or parts of the log such as 25% [default: the whole log]
    #[arg(long, num_args = 2, value_names = ["T0", "T1"], allow_negative_numbers = true, value_parser = time_position)]
    window: Option<Vec<TimePosition>>,
    /// Timelines to draw: numbers from 0 on (top to bottom in the whole picture) or names, in which * matches any text.
    /// A ! leaves timelines out
    #[arg(long, alias = "rows", value_name = "0-63,!5,server*", value_parser = TimelineSelection::parse)]
    timelines: Option<TimelineSelection>,
    /// Draw only this: the window and the timelines in which it happens. A --window that is given counts more
    #[arg(long, value_enum, value_name = "WHAT")]
    focus: Option<PictureSubject>,
    /// Size in pixels [default: 1600 wide, as high as needed]
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Draw only these categories, by name; * matches any text
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    categories: Vec<String>,
    /// Colours of everything except the categories
    #[arg(long, value_enum, default_value_t = ThemeName::Light)]
    theme: ThemeName,
    /// Colours of the categories
    #[arg(long, value_enum, default_value_t = ColorsName::File)]
    colors: ColorsName,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print nothing if all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// The colours that categories can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ColorsName {
    /// Colours that the trace gives its categories
    File,
    /// By class of calls, as the viewer has them: told apart by colour-blind eyes, and the same for a name in every trace
    Class,
}

/// What a picture can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PictureSubject {
    /// Calls of MPI-IO, file operations, servers and devices
    Io,
}

/// The themes there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ThemeName {
    /// Dark on white
    Light,
    /// Light on black
    Dark,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let size = text.split_once(['x', 'X']).and_then(|(width, height)| {
        let size: (u32, u32) = (width.trim().parse().ok()?, height.trim().parse().ok()?);
        Some(size)
    });
    match size {
        Some((width, height)) if PictureStyle::allows(width, Some(height)) => Ok((width, height)),
        _ => Err(expected_size()),
    }
}

fn expected_size() -> String {
    let (least, most) = (PictureStyle::MIN_SIZE, PictureStyle::MAX_SIZE);
    format!(
        "expected width and height such as 1600x900, from {}x{} to {}x{}",
        least.0, least.1, most.0, most.1
    )
}

/// Pixels of a PNG, which take four bytes each while it is made.
const MAX_PIXELS: u64 = 50_000_000;

/// Format of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PictureFormat {
    Svg,
    Png,
}

fn kind(output: &Path) -> Result<PictureFormat, Failure> {
    let ending = output.extension().map(OsStr::to_ascii_lowercase);
    match ending.as_deref().and_then(OsStr::to_str) {
        Some("svg") => Ok(PictureFormat::Svg),
        Some("png") => Ok(PictureFormat::Png),
        None if output == OsStr::new("-") => Ok(PictureFormat::Svg),
        _ => Err(Failure::Call(format!(
            "{}: pictures are .svg or .png",
            output.display()
        ))),
    }
}

/// What a picture shows, and how it looks.
#[derive(Clone, Debug)]
pub struct PictureRequest {
    /// The window; `None` for the whole log.
    pub window: Option<[TimePosition; 2]>,
    /// Timelines to draw; `None` for all.
    pub timelines: Option<TimelineSelection>,
    /// Whether to draw I/O only: the timelines in which it happens, and without a `window` the time in which it does.
    pub only_io: bool,
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom; `None` for as many as needed.
    pub height: Option<u32>,
    /// Names of the categories to draw, in which `*` matches any text; empty for all.
    pub categories: Vec<String>,
    /// Colours of everything except the categories.
    pub theme: Theme,
    /// Colours of the categories.
    pub colors: CategoryColors,
}

impl Default for PictureRequest {
    fn default() -> Self {
        PictureRequest {
            window: None,
            timelines: None,
            only_io: false,
            width: 1600,
            height: None,
            categories: Vec::new(),
            theme: Theme::Light,
            colors: CategoryColors::File,
        }
    }
}

/// A picture that was drawn.
#[derive(Clone, Debug)]
pub struct DrawnPicture {
    /// The picture as SVG.
    pub svg: String,
    /// What the picture does not show, in words.
    pub notes: Vec<String>,
}

/// A file for a picture.
pub struct PictureFile<'p> {
    path: &'p Path,
    format: PictureFormat,
}

impl<'p> PictureFile<'p> {
    /// The file for a picture of this size, in the format of its name; `-` is SVG on stdout.
    ///
    /// # Errors
    /// The name is that of no picture, or the picture has too many pixels for the format.
    pub fn new(path: &'p Path, wanted: &PictureRequest) -> Result<PictureFile<'p>, Failure> {
        let format = kind(path)?;
        let pixels = (wanted.height).map(|height| u64::from(wanted.width) * u64::from(height));
        if format == PictureFormat::Png && pixels > Some(MAX_PIXELS) {
            return Err(Failure::Call(format!(
                "a PNG has at most {MAX_PIXELS} pixels; SVG has none to count"
            )));
        }
        Ok(PictureFile { path, format })
    }

    /// Writes the picture, whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written, or the picture becomes no pixels.
    pub fn write(&self, picture: &DrawnPicture) -> Result<(), Failure> {
        match self.format {
            PictureFormat::Svg => write_bytes(self.path, picture.svg.as_bytes()),
            PictureFormat::Png => write_bytes(self.path, &png::render(&picture.svg)?),
        }
    }
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let whole = PictureRequest::default();
    let theme = match arguments.theme {
        ThemeName::Light => Theme::Light,
        ThemeName::Dark => Theme::Dark,
    };
    let wanted = PictureRequest {
        window: match arguments.window.as_deref() {
            Some(&[from, to]) => Some([from, to]),
            _ => None,
        },
        timelines: arguments.timelines.clone(),
        only_io: arguments.focus == Some(PictureSubject::Io),
        width: arguments.size.map_or(whole.width, |(width, _)| width),
        height: arguments.size.map(|(_, height)| height),
        categories: arguments.categories.clone(),
        theme,
        colors: match arguments.colors {
            ColorsName::File => CategoryColors::File,
            ColorsName::Class => CategoryColors::Class(theme),
        },
    };
    let file = PictureFile::new(&arguments.output, &wanted)?;
    let inputs = [&arguments.trace];
    arguments.overwrite.allow(&arguments.output, &inputs)?;
    let trace = TraceInput::open(&arguments.trace)?;
    let picture = picture(&trace, &wanted, arguments.quiet)?;
    if !arguments.quiet {
        for note in &picture.notes {
            tell!("mpitrace: {}: {note}", arguments.output.display());
        }
    }
    file.write(&picture)
}

/// Draws a trace of any format.
///
/// # Errors
/// There are no pictures of the size; the trace cannot be read, or has nothing of what is wanted.
pub fn picture(
    trace: &TraceInput,
    wanted: &PictureRequest,
    quiet: bool,
) -> Result<DrawnPicture, Failure> {
    if !PictureStyle::allows(wanted.width, wanted.height) {
        let height = wanted
            .height
            .map_or(String::new(), |height| format!("x{height}"));
        let expected = expected_size();
        return Err(Failure::Call(format!(
            "a picture of {}{height} pixels: {expected}",
            wanted.width
        )));
    }
    if trace.format == Format::Slog2 {
        return draw(wanted, trace.name(), trace.bytes(), None);
    }
    let converted = ConvertedTrace::of(trace, quiet)?;
    let lines = Some(converted.lines);
    draw(wanted, trace.name(), &converted.input, lines)
}

/// Draws an SLOG2 file, with what else is known of its lines.
fn draw(
    wanted: &PictureRequest,
    name: &Path,
    bytes: &[u8],
    lines: Option<Vec<Line>>,
) -> Result<DrawnPicture, Failure> {
    let failed = |error: Slog2Error| Failure::in_file(error, name);
    let reader = Slog2Reader::new(bytes).map_err(failed)?;
    let log = reader.root().map_or(viewer_core::EMPTY, |root| root.bounds);
    let mut window = match wanted.window {
        Some([from, to]) => in_log(from, to, log)?,
        None => log,
    };
    let mut timelines = match &lines {
        Some(lines) => NamedTimelines::new(lines.iter()),
        None => NamedTimelines::new(reader.lines().values()),
    };
    if wanted.only_io {
        let asked = wanted.window.is_some().then_some(window);
        let found = focus::io(bytes, name, asked)?;
        timelines = timelines.with_lines(&found.lines);
        window = asked.unwrap_or(found.window);
    }
    if let Some(selection) = &wanted.timelines {
        let total = timelines.total();
        timelines = timelines.selected(selection);
        if timelines.timelines().is_empty() {
            return Err(Failure::Call(format!(
                "{}: none of its {total} timelines is wanted",
                name.display()
            )));
        }
    }
    let contents = ContentRequest {
        categories: wanted.categories.clone(),
        width: wanted.width,
        colors: wanted.colors,
        ..ContentRequest::default()
    };
    let content = WindowContent::read(&reader, timelines, window, &contents).map_err(failed)?;
    if content.kinds.is_empty() && !wanted.categories.is_empty() {
        return Err(Failure::Call(format!(
            "{}: none of its {} categories is wanted",
            name.display(),
            reader.categories().iter().filter(|c| c.index >= 0).count(),
        )));
    }
    let title = name.file_name().unwrap_or(name.as_os_str());
    let look = PictureStyle {
        width: wanted.width,
        height: wanted.height,
        theme: wanted.theme,
        title: title.to_string_lossy().into_owned(),
        waits: Vec::new(),
    };
    let layout = PictureLayout::new(&content, &look);
    Ok(DrawnPicture {
        svg: viewer_core::svg::write(&layout),
        notes: layout.notes,
    })
}
