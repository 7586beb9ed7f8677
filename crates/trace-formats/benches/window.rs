//! SLOG2 by window: milliseconds to open a file and read what is in a window, drawables per second of reading, of a source
//! and of text; on a synthetic log, which is made if the file does not exist yet.
//!
//! `cargo bench -p trace-formats --bench window -- FILE.slog2 [DRAWABLES [RANKS [LEAF BYTES]]]` (10 GB are about 200 million drawables)

use std::hint::black_box;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use trace_formats::slog2::{
    Category, Color, Depth, LineIdMap, NewDrawable, NodeDrawable, NodeShadow, Slog2PrintOptions,
    Slog2Reader, Slog2Source, TimeBBox, Topology, TreeBuilder, TreeOptions, Vertex, Visit, print,
};
use trace_model::PendingFile;
use trace_model::Source as _;

/// Pseudo-random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A log of steps: in each every rank is in a state, in which it calls, sends to its neighbour and receives.
fn make(path: &Path, drawables: u64, ranks: i32, leaf_byte_size: i32) -> io::Result<()> {
    const PER_STEP: u64 = 8;
    let steps = drawables.div_ceil(PER_STEP * ranks as u64);
    let failed = |error| io::Error::other(format!("{error}"));
    let out = BufWriter::with_capacity(1 << 20, PendingFile::create(path)?);
    let options = TreeOptions {
        leaf_byte_size,
        ..TreeOptions::default()
    };
    let mut builder = TreeBuilder::new(out, options).map_err(failed)?;
    let mut random = Random(88172645463325252);
    let mut batch: Vec<(Topology, i32, [Vertex; 2])> = Vec::new();
    for step in 0..steps {
        batch.clear();
        for rank in 0..ranks {
            let mut time = step as f64 * 1e-3 + random.below(1000) as f64 * 1e-8;
            let mut tick = |longest: u64| {
                time += (1 + random.below(longest)) as f64 * 1e-8;
                Vertex { time, line: rank }
            };
            let begin = tick(200);
            let mut state = |category, batch: &mut Vec<_>| {
                let ends = [tick(200), tick(20_000)];
                batch.push((Topology::State, category, ends));
                ends
            };
            for category in 2..6 {
                state(category, &mut batch);
            }
            let send = state(6, &mut batch)[0];
            let receive = state(7, &mut batch)[1];
            let end = tick(200);
            batch.push((Topology::State, 1, [begin, end]));
            let neighbour = Vertex {
                line: (rank + 1) % ranks,
                ..receive
            };
            batch.push((Topology::Arrow, 0, [send, neighbour]));
        }
        batch.sort_by(|a, b| a.2[1].time.total_cmp(&b.2[1].time));
        for (topology, category, vertices) in &batch {
            let info: &[u8] = match topology {
                Topology::Arrow => &[0, 0, 0, 7, 0, 0, 0, 64],
                _ => &[],
            };
            let drawable = NewDrawable {
                topology: *topology,
                category: *category,
                info,
                vertices,
            };
            builder.add(&drawable).map_err(failed)?;
        }
    }
    let tree = builder.close().map_err(failed)?;
    let mut categories = [Topology::Event, Topology::State, Topology::Arrow]
        .map(Category::preview)
        .to_vec();
    categories.push(Category::message());
    let names = [
        "step",
        "MPI_Comm_rank",
        "compute",
        "MPI_Wait",
        "write",
        "MPI_Send",
        "MPI_Recv",
    ];
    for (name, index) in names.into_iter().zip(1..) {
        let color = Color::rgb(0x102030 * index as u32);
        categories.push(Category::new(index, name.into(), Topology::State, color));
    }
    let map = LineIdMap::identity(tree.lines());
    let (out, _) = tree.finish(&categories, &[map]).map_err(failed)?;
    out.into_inner()?.persist()
}

/// Counts.
#[derive(Default)]
struct Counted {
    drawables: u64,
    shadows: u64,
    sum: f64,
}

impl<'a> Visit<'a> for Counted {
    fn drawable(&mut self, drawable: NodeDrawable<'a>) {
        self.drawables += 1;
        self.sum += drawable.bounds().earliest;
    }

    fn shadow(&mut self, shadow: NodeShadow<'a>) {
        self.shadows += 1;
        self.sum += shadow.bounds.earliest;
    }
}

/// The median of some times, in milliseconds.
fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Opens windows of this share of the log at places all over it, several times each.
fn windows(
    file: &[u8],
    share: f64,
    depth: Option<i16>,
) -> Result<(), trace_formats::slog2::Slog2Error> {
    let bounds = Slog2Reader::new(file)?
        .root()
        .map_or(TimeBBox::EMPTY, |root| root.bounds);
    let (mut opened, mut visited, mut collected) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    for nth in 0..60 {
        let place = 0.015 + 0.97 * f64::from(nth % 20) / 20.0;
        let earliest = bounds.earliest + (place * (1.0 - share)) * bounds.duration();
        let window = TimeBBox {
            earliest,
            latest: earliest + share * bounds.duration(),
        };
        let start = Instant::now();
        let reader = Slog2Reader::new(file)?;
        opened.push(start.elapsed().as_secs_f64() * 1e3);
        let depth = depth.map_or(Depth::screenful(reader.header()), Depth::Lowest);
        let mut counted = Counted::default();
        let reading = reader.visit_window(window, depth, &mut counted)?;
        visited.push(start.elapsed().as_secs_f64() * 1e3);
        black_box(counted.sum);
        let start = Instant::now();
        let reader = Slog2Reader::new(file)?;
        black_box(reader.window(window, depth)?.drawables.len());
        collected.push(start.elapsed().as_secs_f64() * 1e3);
        last = Some((reading, counted));
    }
    let most = |times: &[f64]| times.iter().copied().fold(0.0, f64::max);
    let Some((reading, counted)) = last else {
        return Ok(());
    };
    println!(
        "window {share:.1e}: open {:.3} ms, and visit {:.3} (most {:.3}), sorted {:.3} (most {:.3}); depth {}, \
         {} nodes, {} bytes, {} drawables, {} shadows",
        median(opened),
        median(visited.clone()),
        most(&visited),
        median(collected.clone()),
        most(&collected),
        reading.depth,
        reading.nodes,
        reading.bytes,
        counted.drawables,
        counted.shadows
    );
    Ok(())
}

/// A sink that only counts.
struct Null(u64);

impl Write for Null {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// CPU time of this thread in seconds, so that other work on the machine shows little.
fn cpu_time() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes one timespec, which is there.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn rate(what: &str, count: u64, start: f64) {
    let seconds = cpu_time() - start;
    let millions = count as f64 / seconds / 1e6;
    println!("{what}: {millions:.2} million drawables/s ({seconds:.2} s)");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench");
    let Some(path) = arguments.next() else {
        println!("no file named, nothing to do");
        return Ok(());
    };
    let drawables = arguments.next().map_or(Ok(4_000_000), |n| n.parse())?;
    let ranks: i32 = arguments.next().map_or(Ok(64), |n| n.parse())?;
    let leaf = TreeOptions::leaf_for(ranks.unsigned_abs().into());
    let leaf = arguments.next().map_or(Ok(leaf), |n| n.parse())?;
    let path = Path::new(&path);
    if !path.exists() {
        let start = cpu_time();
        make(path, drawables, ranks, leaf)?;
        rate("made", drawables, start);
    }
    let opened = std::fs::File::open(path)?;
    // SAFETY: the map is only read, and nobody else knows the file.
    let file = unsafe { memmap2::Mmap::map(&opened) }?;
    let reader = Slog2Reader::new(&file)?;
    println!(
        "{} bytes, {} nodes, depth {}",
        file.len(),
        reader.directory().len(),
        reader.header().max_depth
    );
    for share in [1.0, 0.1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6] {
        windows(&file, share, None)?;
    }
    if file.len() > 2 << 30 {
        return Ok(());
    }
    let start = cpu_time();
    let mut count = 0;
    for entry in reader.whole_directory()? {
        let node = reader.node(entry.ptr)?;
        count += (node.nestable.len() + node.nestless.len()) as u64;
    }
    rate("nodes", count, start);
    let start = cpu_time();
    let mut counted = Counted::default();
    let whole = TimeBBox {
        earliest: f64::NEG_INFINITY,
        latest: f64::INFINITY,
    };
    reader.visit_window(whole, Depth::Lowest(0), &mut counted)?;
    rate("visit", counted.drawables, start);
    let start = cpu_time();
    let source = Slog2Source::new(&file)?;
    rate("survey", count, start);
    let start = cpu_time();
    let mut sum = 0.0;
    let put = &mut |drawable: &NewDrawable<'_>| {
        sum += drawable.vertices[0].time;
        Ok(())
    };
    let losses = source.for_each(put);
    losses.map_err(|stop| stop.to_string())?;
    black_box(sum);
    rate("source", count, start);
    let start = cpu_time();
    let mut out = Null(0);
    print(&reader, &Slog2PrintOptions::default(), &mut out)?;
    rate("print", count, start);
    println!("{} bytes of text", out.0);
    Ok(())
}
