//! Traces as the commands see them, whatever their format: opened to be read as drawables, created to be filled with them.

use crate::failure::Failure;
use crate::format::Format;
use crate::found;
use crate::input::{Input, shown};
use crate::output::is_stdout;
use crate::per_format::dumpi;
use crate::per_format::mpe1;
use crate::per_format::slog1::FrameArguments;
use crate::progress::Progress;
use crate::tree::TreeArguments;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use trace_formats::clog2;
use trace_formats::model::{self, Definitions, Drawable, Losses, Order, Sink, Source, Stop};
use trace_formats::project;
use trace_formats::{Fault, FaultKind, PendingFile, alog, clog1, paje, slog1, slog2};

/// One or more files that make up a trace.
pub struct Trace {
    /// Their names and bytes.
    pub files: Vec<(PathBuf, Input)>,
    /// Of the first one, which all share.
    pub format: Format,
    /// Number of processes of the run, where something tells; else 0.
    pub processes: u32,
}

impl Trace {
    /// Opens a file; `-` is stdin.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        Trace::open_all(std::slice::from_ref(&path.to_path_buf()))
    }

    /// Opens the files of one trace: several block files, or the .bin files of a run; of other formats only one.
    pub fn open_all(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut files = Vec::new();
        let mut format = None;
        let mut processes = 0;
        for path in &with_folders(paths)? {
            let input = Input::open(path)?;
            let found = Format::known(&input, path)?;
            let first = *format.get_or_insert(found);
            if found != first {
                let (name, other) = (shown(path).display(), shown(&paths[0]).display());
                return Err(Failure::Call(format!(
                    "{name} is a {found} file and {other} a {first} file: one trace has one format"
                )));
            }
            if found == Format::Dumpi && !dumpi::is_file(&input) {
                // The metafile of a run stands for the files of its ranks.
                let (ranks, size) = dumpi::files_of_meta(path, &input)?;
                processes = processes.max(size);
                for path in ranks {
                    let input = Input::open_regular(&path)?;
                    files.push((path, input));
                }
                continue;
            }
            files.push((path.clone(), input));
        }
        let Some(format) = format else {
            return Err(Failure::Call("no input file".into()));
        };
        if files.len() > 1 && !matches!(format, Format::Blocks | Format::Dumpi) {
            let names: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
            return Err(Failure::Call(format!(
                "{} are {} traces; mpitrace merge and mpitrace join put traces together",
                names.join(" and "),
                files.len()
            )));
        }
        Ok(Trace {
            files,
            format,
            processes,
        })
    }

    /// Name of the trace for messages: that of its first file.
    pub fn name(&self) -> &Path {
        shown(self.files.first().map_or(Path::new(""), |(path, _)| path))
    }

    /// Bytes of the first file.
    pub fn bytes(&self) -> &[u8] {
        self.files.first().map_or(&[], |(_, input)| input)
    }

    /// The trace as drawables.
    pub fn source(&self) -> Result<Box<dyn Source + '_>, Failure> {
        let (bytes, name) = (self.bytes(), self.name());
        match self.format {
            Format::Slog2 => opened(slog2::Source::new(bytes), name),
            Format::Paje => opened(
                paje::Source::new(crate::per_format::paje::trace(bytes, name)),
                name,
            ),
            Format::Alog => opened(alog::Source::new(bytes), name),
            Format::Clog1 => Ok(Box::new(mpe1::source(bytes, name)?)),
            Format::Clog2 => opened(clog2::Source::new(bytes), name),
            Format::Slog1 => opened(slog1::Source::new(bytes), name),
            Format::Dumpi => dumpi::source(self),
            Format::DumpiText => dumpi::text_source(self),
            Format::Blocks => blocks_source(self),
        }
    }
}

/// A source that was opened, or what is wrong with the file of this name.
fn opened<'a, K: FaultKind>(
    source: Result<impl Source + 'a, Fault<K>>,
    name: &Path,
) -> Result<Box<dyn Source + 'a>, Failure> {
    match source {
        Ok(source) => Ok(Box::new(source)),
        Err(error) => Err(Failure::Data(error.in_file(name).to_string())),
    }
}

/// A sink that was created, or why it could not be. Whatever goes wrong with it says of which file.
fn created<K: FaultKind + Send + Sync + 'static>(
    sink: Result<impl Sink + 'static, Fault<K>>,
    path: &Path,
) -> Result<Box<dyn Sink>, Failure> {
    let path = path.to_path_buf();
    match sink {
        Ok(sink) => Ok(Box::new(Named { sink, path })),
        Err(error) => Err(failure(named(error.into(), &path))),
    }
}

/// A sink whose errors name its file.
struct Named<S> {
    sink: S,
    path: PathBuf,
}

impl<S: Sink> Sink for Named<S> {
    fn order(&self) -> Order {
        self.sink.order()
    }

    fn put(&mut self, drawable: &Drawable<'_>) -> Result<(), Stop> {
        let done = self.sink.put(drawable);
        done.map_err(|stop| named(stop, &self.path))
    }

    fn finish(self: Box<Self>) -> Result<Losses, Stop> {
        let Named { sink, path } = *self;
        Box::new(sink).finish().map_err(|stop| named(stop, &path))
    }
}

/// The error with the name of the file it is about, unless that is told already.
fn named(stop: Stop, path: &Path) -> Stop {
    let name = path.display().to_string();
    if stop.to_string().starts_with(&name) {
        return stop;
    }
    Box::new(OfFile { name, stop })
}

/// An error and the name of the file it is about.
#[derive(Debug)]
struct OfFile {
    name: String,
    stop: Stop,
}

impl fmt::Display for OfFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.stop)
    }
}

impl std::error::Error for OfFile {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(self.stop.as_ref())
    }
}

/// The paths, with the block files in a folder in its place.
fn with_folders(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut found = found::block_files(path, false)?;
        if found.is_empty() {
            let message = format!("{}: no block files in this folder", path.display());
            return Err(Failure::Data(message));
        }
        files.append(&mut found);
    }
    Ok(files)
}

/// The block files of a run as drawables.
fn blocks_source(trace: &Trace) -> Result<Box<dyn Source + '_>, Failure> {
    let mut files = Vec::new();
    for (path, input) in &trace.files {
        let file = input.blocks();
        let named = |error| Failure::Data(format!("{}: {error}", shown(path).display()));
        files.push(file.map_err(named)?);
    }
    let table = wrappers::table().map_err(|error| Failure::Data(error.to_string()))?;
    let options = project::merge::Options {
        recover: true,
        ..project::merge::Options::default()
    };
    let source = project::Source::new(files, table, options);
    match source {
        Ok(source) => Ok(Box::new(source)),
        Err(error) => {
            let name = trace.name().display();
            Err(Failure::Data(format!("{name}: {error}")))
        }
    }
}

/// Bytes that are written at once: enough for the file system, and little enough to stay in the processor's cache.
const BUFFER: usize = 1 << 18;

/// A file that is being written.
pub type Output = BufWriter<PendingFile>;

/// How to write what.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name of the file; `-` is stdout.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Shape of an SLOG2 tree.
    pub tree: TreeArguments,
    /// Bytes of a block of a CLOG2 file, if asked for.
    pub block_size: Option<u32>,
    /// ALOG as MPE writes it.
    pub mpe: bool,
    /// Names of fields in a Pajé trace.
    pub dialect: paje::Dialect,
    /// Frames of an SLOG-1 file.
    pub frames: FrameArguments,
}

impl Target {
    /// The target of this name: in the format asked for, or else in that of the name's ending.
    pub fn new(path: &Path, to: Option<Format>, tree: &TreeArguments) -> Result<Self, Failure> {
        let Some(format) = to.or_else(|| Format::of_name(path)) else {
            let message = "its name does not tell its format: use --to";
            return Err(Failure::Call(format!("{}: {message}", path.display())));
        };
        let target = Target {
            path: path.to_path_buf(),
            format,
            tree: tree.clone(),
            block_size: None,
            mpe: false,
            dialect: paje::Dialect::New,
            frames: FrameArguments::default(),
        };
        target.allow(tree.given(), Format::Slog2)?;
        Ok(target)
    }

    /// Refuses an option that means something only for another format than the target's.
    pub fn allow(&self, option: Option<&str>, only: Format) -> Result<(), Failure> {
        match option.filter(|_| self.format != only) {
            None => Ok(()),
            Some(option) => Err(Failure::Call(format!(
                "{option} has no meaning for {}, which will be a {} file",
                self.path.display(),
                self.format
            ))),
        }
    }

    /// A sink that makes the file.
    fn sink(&self, path: &Path, definitions: &Definitions) -> Result<Box<dyn Sink>, Failure> {
        match self.format {
            Format::Slog2 => {
                let lines = definitions.lines.len() as u64;
                let options = self.tree.options(lines, slog2::Options::default());
                created(slog2::Sink::create(path, definitions, options), path)
            }
            Format::Paje => {
                let dialect = self.dialect;
                let options = paje::WriteOptions { dialect };
                created(paje::Sink::create(path, definitions, options), path)
            }
            Format::Alog => {
                let (is_mpe, creator) = (self.mpe, None);
                let options = alog::Options { is_mpe, creator };
                created(alog::Sink::create(path, definitions, options), path)
            }
            Format::Clog1 => created(clog1::Sink::create(path, definitions), path),
            Format::Clog2 => {
                let mut options = clog2::SinkOptions::default();
                options.block_size = self.block_size.unwrap_or(options.block_size);
                created(clog2::Sink::create(path, definitions, options), path)
            }
            Format::Slog1 => {
                let options = self.frames.options();
                created(slog1::Sink::create(path, definitions, options), path)
            }
            Format::Dumpi | Format::DumpiText | Format::Blocks => Err(Failure::Call(format!(
                "{}: a {} file holds the calls with all their arguments, which drawables do not have",
                self.path.display(),
                self.format
            ))),
        }
    }

    /// Makes the file of `source`, and says what was lost.
    pub fn write(&self, source: &dyn Source, quiet: bool) -> Result<Losses, Failure> {
        let progress = Progress::drawables(&self.path.display().to_string(), quiet);
        let counted = Counted {
            source,
            progress: &progress,
        };
        self.place(|path| {
            let sink = self.sink(path, source.definitions())?;
            model::convert(&counted, sink).map_err(failure)
        })
    }

    /// Has `write` fill the file through a buffer, which it gives back with what it has to tell.
    pub fn fill<T>(
        &self,
        write: impl FnOnce(Output) -> Result<(Output, T), Failure>,
    ) -> Result<T, Failure> {
        self.place(|path| {
            let failed = |error: io::Error| Failure::output(self.path.display(), &error);
            let file = PendingFile::create(path).map_err(failed)?;
            let (out, told) = write(BufWriter::with_capacity(BUFFER, file))?;
            PendingFile::persist_buffered(out).map_err(failed)?;
            Ok(told)
        })
    }

    /// Has `make` write the file: at its own path, or, where that is stdout or a device, beside it to be copied there.
    pub fn place<T>(&self, make: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
        let to_stdout = is_stdout(&self.path);
        let is_device = fs::metadata(&self.path).is_ok_and(|found| !found.is_file());
        if !to_stdout && !is_device {
            return make(&self.path);
        }
        let failed = |error: io::Error| Failure::output(self.path.display(), &error);
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("trace");
        let made = make(&path)?;
        let mut file = File::open(&path).map_err(failed)?;
        if to_stdout {
            io::copy(&mut file, &mut io::stdout().lock()).map_err(failed)?;
        } else {
            let mut device = File::options()
                .write(true)
                .open(&self.path)
                .map_err(failed)?;
            io::copy(&mut file, &mut device).map_err(failed)?;
        }
        Ok(made)
    }
}

/// A source whose drawables are counted on the way.
pub struct Counted<'a> {
    /// The source.
    pub source: &'a dyn Source,
    /// Where they are counted.
    pub progress: &'a Progress,
}

impl Source for Counted<'_> {
    fn definitions(&self) -> &Definitions {
        self.source.definitions()
    }

    fn order(&self) -> Order {
        self.source.order()
    }

    fn for_each(
        &self,
        put: &mut dyn FnMut(&Drawable<'_>) -> Result<(), Stop>,
    ) -> Result<Losses, Stop> {
        self.source.for_each(&mut |drawable| {
            self.progress.step();
            put(drawable)
        })
    }
}

/// What stopped a conversion, as the failure of a command.
pub fn failure(stop: Stop) -> Failure {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(stop.as_ref());
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<io::Error>()
            && io.kind() == io::ErrorKind::BrokenPipe
        {
            return Failure::ClosedPipe;
        }
        cause = error.source();
    }
    Failure::Data(stop.to_string())
}

/// Says on stderr what a conversion could not carry over.
pub fn tell_losses(losses: &Losses, name: &Path) {
    for (what, count) in losses.iter() {
        eprintln!("mpitrace: warning: {}: {count} x {what}", name.display());
    }
}

/// The same of what is only looked at: MPI's constants, of which every CLOG2 file has three, are in no picture.
pub fn tell_losses_of_picture(mut losses: Losses, name: &Path) {
    losses.forget("constant of MPI");
    tell_losses(&losses, name);
}
