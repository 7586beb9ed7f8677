//! `mpitrace draw`: calls, windows, files of other formats, and what comes out as pixels.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn data(name: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../trace-formats/tests/data");
    data.join(name)
}

fn draw(arguments: &[&str]) -> Output {
    let mut mpitrace = Command::new(env!("CARGO_BIN_EXE_mpitrace"));
    mpitrace.arg("draw").args(arguments).output().unwrap()
}

fn sample() -> String {
    data("slog2/sample.slog2").to_str().unwrap().to_owned()
}

/// Runs the command, which must fail. Gives exit code and stderr.
fn refused(arguments: &[&str]) -> (i32, String) {
    let output = draw(arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

#[test]
fn svg_on_stdout_is_what_the_file_has() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.svg");
    let to_file = draw(&[&sample(), path.to_str().unwrap()]);
    assert!(to_file.status.success(), "{to_file:?}");
    let to_stdout = draw(&[&sample(), "-"]);
    assert!(to_stdout.status.success(), "{to_stdout:?}");
    let svg = fs::read(&path).unwrap();
    assert_eq!(svg, to_stdout.stdout);
    let svg = String::from_utf8(svg).unwrap();
    for text in [
        "<svg ",
        ">sample.slog2</text>",
        ">rank 0</text>",
        ">MPI_Comm_rank</text>",
    ] {
        assert!(svg.contains(text), "{text} is not in {svg}");
    }
}

#[test]
fn png_has_the_size_and_the_colours_that_were_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.PNG");
    let name = path.to_str().unwrap();
    let output = draw(&[
        &sample(),
        name,
        "--size",
        "640x300",
        "--theme",
        "dark",
        "-q",
    ]);
    assert!(output.status.success(), "{output:?}");
    let png = resvg::tiny_skia::Pixmap::load_png(&path).unwrap();
    assert_eq!((png.width(), png.height()), (640, 300));
    let corner = png.pixel(1, 1).unwrap();
    assert_eq!(
        (corner.red(), corner.green(), corner.blue()),
        (0x15, 0x18, 0x1d)
    );
    // The title is there as pixels, whatever fonts this machine has.
    let bright = (16..100).flat_map(|x| (12..30).map(move |y| (x, y)));
    let bright = bright.filter(|&(x, y)| png.pixel(x, y).unwrap().red() > 0x80);
    assert!(bright.count() > 100);
}

#[test]
fn windows_timelines_and_categories() {
    let text = |more: &[&str]| {
        let output = draw(&[&[sample().as_str(), "-", "-q"], more].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let part = text(&["--window", "25%", "30%"]);
    assert_ne!(part, text(&[]));
    assert!(part.len() < text(&[]).len());
    let timelines = text(&["--timelines", "1,rank 0"]);
    assert!(timelines.contains(">rank 0</text>") && !timelines.contains(">rank 2</text>"));
    let kinds = text(&["--categories", "step,MPI_Comm*"]);
    assert!(kinds.contains(">MPI_Comm_rank</text>") && !kinds.contains(">message</text>"));
    // The colour of the rest of MPI, a fifth of the way to white, in each theme, whichever categories are drawn.
    let colored = |more: &[&str], color: &str| text(more).contains(&format!("fill=\"{color}\""));
    let (light, dark) = ("#c6b47d", "#a89259");
    assert!(!colored(&[], light));
    assert!(colored(&["--colors", "class"], light));
    assert!(colored(
        &["--colors", "class", "--categories", "MPI_Comm_rank"],
        light
    ));
    assert!(colored(&["--colors", "class", "--theme", "dark"], dark));
}

#[test]
fn wrong_calls_say_what_is_wrong() {
    let refuse = |more: &[&str], expected: &str| {
        let (code, text) = refused(&[&[sample().as_str()], more].concat());
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(expected), "{text}");
    };
    refuse(&["a.jpg"], "a.jpg: pictures are .svg or .png");
    refuse(&["-", "--window", "100", "200"], "is outside the log");
    refuse(&["-", "--window", "2", "1"], "ends before that");
    refuse(&["-", "--timelines", "99"], "timelines is wanted");
    refuse(&["-", "--rows", "5-x"], "is no range of timelines");
    refuse(
        &["a.png", "--size", "20000x20000"],
        "at most 50000000 pixels",
    );
    refuse(&["-", "--size", "10x10"], "expected width and height");
    refuse(&["-", "--categories", "nothing"], "categories is wanted");
    let (code, text) = refused(&["/nowhere/a.slog2", "-"]);
    assert_eq!(code, 1);
    assert!(text.contains("/nowhere/a.slog2"), "{text}");
}

#[test]
fn other_formats_are_drawn_as_well() {
    for name in [
        "clog2/small.clog2",
        "paje/mixed.trace",
        "clog1/small.clog",
        "slog1/small.slog",
    ] {
        let output = draw(&[data(name).to_str().unwrap(), "-", "-q"]);
        assert!(output.status.success(), "{name}: {output:?}");
        let svg = String::from_utf8(output.stdout).unwrap();
        assert!(svg.contains("shape-rendering"), "{name}");
        assert!(!svg.contains("nothing in this window"), "{name}");
    }
}

#[test]
fn every_cut_of_a_file_is_drawn_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::read(sample()).unwrap();
    let path = folder.path().join("cut.slog2");
    for part in 1..16 {
        fs::write(&path, &file[..file.len() * part / 16]).unwrap();
        let (code, text) = refused(&[path.to_str().unwrap(), "-"]);
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("cut.slog2"), "{text}");
    }
}

/// Of a trace without I/O there is nothing to draw, which is said in words.
#[test]
fn a_focus_without_anything_in_it() {
    let (code, text) = refused(&[&sample(), "-", "--focus", "io"]);
    assert_eq!(code, 1);
    assert!(
        text.contains("no call of MPI-IO and no file operation to draw"),
        "{text}"
    );
}
