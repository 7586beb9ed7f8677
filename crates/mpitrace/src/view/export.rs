//! What is taken away from the viewer: a window as a picture, as `mpitrace draw` makes it, or as a page of its own.

use super::assets::Assets;
use super::opened::Opened;
use super::page;
use crate::draw::png;
use crate::failure::Failure;
use parking_lot::{Mutex, MutexGuard};
use std::time::Duration;
use viewer_core::{Answer, Body, Content, Look, Picture, Query, Refusal, Rows, Theme, Wanted};

/// How the names of exports begin.
const PREFIX: &str = "export.";
/// Pixels of a PNG, which take four bytes each while it is made.
const MOST_PIXELS: f64 = 16e6;
/// How often somebody who waits for his turn looks whether he is still waited for.
const LOOK: Duration = Duration::from_millis(50);
/// One export is made at a time: they take more memory than answers do.
static TURN: Mutex<()> = Mutex::new(());

/// Whether a question is for an export.
pub fn is_export(question: &str) -> bool {
    question.starts_with(PREFIX)
}

/// Makes an export: `export.svg`, `export.png` or `export.html`, of the window `t0` to `t1` and the rows `y0` to `y1` of the
/// layout `rows`, without the kinds `hide`; pictures `w` pixels wide and `h` high, `theme=dark` or light.
pub fn export(
    trace: &Opened,
    question: &str,
    assets: &Assets,
    stop: &dyn Fn() -> bool,
) -> Result<Answer, Refusal> {
    let query = Query::parse(question)?;
    let _turn = turn(stop)?;
    match query.route.strip_prefix(PREFIX) {
        Some("svg") => {
            let (svg, _) = svg(trace, &query, stop)?;
            Ok(file("image/svg+xml", svg.into_bytes()))
        }
        Some("png") => {
            let (svg, size) = svg(trace, &query, stop)?;
            if size.0 * size.1 > MOST_PIXELS {
                return Err(Refusal::too_much(format!(
                    "a PNG has at most {MOST_PIXELS} pixels, not {} x {}; an SVG has none to count",
                    size.0, size.1
                )));
            }
            let png = png::render(&svg).map_err(failed)?;
            Ok(file("image/png", png))
        }
        Some("html") => page::page(trace, &query, assets, stop).map(|page| file("text/html", page)),
        _ => Err(Refusal::missing(
            "exports are export.svg, export.png and export.html",
        )),
    }
}

fn file(mime: &'static str, body: Vec<u8>) -> Answer {
    Answer {
        kind: Body::Text(mime),
        body,
        exact: true,
    }
}

fn turn(stop: &dyn Fn() -> bool) -> Result<MutexGuard<'static, ()>, Refusal> {
    loop {
        if let Some(turn) = TURN.try_lock_for(LOOK) {
            return Ok(turn);
        }
        if stop() {
            return Err(Refusal::stopped());
        }
    }
}

fn failed(failure: Failure) -> Refusal {
    Refusal {
        status: 500,
        message: match failure {
            Failure::Data(message) | Failure::Call(message) => message,
            Failure::ClosedPipe => String::new(),
        },
    }
}

/// The picture as text, and its size in pixels.
fn svg(
    trace: &Opened,
    query: &Query,
    stop: &dyn Fn() -> bool,
) -> Result<(String, (f64, f64)), Refusal> {
    let viewer = &trace.viewer;
    let window = viewer.window(query)?;
    let size = size(query)?;
    let wanted = Wanted {
        categories: visible(trace, query)?,
        width: size.0,
        bytes: viewer.limits().tree_bytes,
    };
    let rows = rows(trace, query, stop)?;
    let content = Content::read(viewer.trace().reader(), rows, window, &wanted)?;
    if stop() {
        return Err(Refusal::stopped());
    }
    let look = Look {
        width: size.0,
        height: size.1,
        theme: match query.text("theme") {
            "dark" => Theme::Dark,
            _ => Theme::Light,
        },
        title: trace.name.clone(),
    };
    let picture = Picture::new(&content, &look);
    Ok((
        viewer_core::svg::write(&picture),
        (picture.width, picture.height),
    ))
}

fn size(query: &Query) -> Result<(u32, Option<u32>), Refusal> {
    let width = query.number("w", 1600)?;
    let height = query.number("h", 0_u32)?;
    let (least, most) = (Look::LEAST, Look::MOST);
    let fits = (least.0..=most.0).contains(&width)
        && (height == 0 || (least.1..=most.1).contains(&height));
    match fits {
        true => Ok((width, Some(height).filter(|&height| height > 0))),
        false => Err(Refusal::wrong(format!(
            "w={width}&h={height}: expected {} to {} and {} to {} pixels",
            least.0, most.0, least.1, most.1
        ))),
    }
}

/// Names of the kinds that are shown; none for all.
fn visible(trace: &Opened, query: &Query) -> Result<Vec<String>, Refusal> {
    let hidden = trace.viewer.hidden(query)?;
    if !hidden.contains(&true) {
        return Ok(Vec::new());
    }
    let kinds = trace.viewer.trace().kinds().iter().zip(hidden);
    let names: Vec<String> = kinds
        .filter(|(_, is_hidden)| !is_hidden)
        .map(|(kind, _)| kind.category.name.to_str().into_owned())
        .collect();
    match names.is_empty() {
        true => Err(Refusal::wrong("hide: nothing is left")),
        false => Ok(names),
    }
}

/// The rows of the page's layout that are on the screen.
fn rows(trace: &Opened, query: &Query, stop: &dyn Fn() -> bool) -> Result<Rows, Refusal> {
    let layout = trace.viewer.layout(query, stop)?;
    let lines = trace.viewer.trace().lines();
    let behind = query
        .number("y1", layout.rows.len())?
        .min(layout.rows.len());
    let first = query.number("y0", 0_usize)?.min(behind);
    let rows = layout.rows.iter().enumerate().take(behind).skip(first);
    let rows = rows.map(|(position, row)| {
        let on = layout.lines_of(position).iter();
        let ids = on.filter_map(|&line| Some(lines.get(line as usize)?.line.id));
        (row.label.clone(), ids.collect())
    });
    Ok(Rows::named(rows))
}
