//! Exports of the viewer: a window as a picture, as `mpitrace draw` makes it, or as a page of its own.

use super::assets::Assets;
use super::opened::OpenedTrace;
use super::page;
use crate::draw::png;
use crate::failure::Failure;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use viewer_core::{
    Answer, AnswerBody, ApiError, ApiQuery, CategoryColors, ContentRequest, NamedTimelines,
    OpenTrace, PictureLayout, PictureStyle, Rgb, Theme, TimelineWait, WindowContent,
};

/// Prefix of the names of exports.
const PREFIX: &str = "export.";
/// Pixels of a PNG, which take four bytes each while it is made.
const MAX_PIXELS: f64 = 16e6;
/// Interval at which a waiting request looks whether its client is still there.
const LOOK: Duration = Duration::from_millis(50);
/// One export is made at a time: they take more memory than answers do.
static TURN: Mutex<()> = Mutex::new(());

/// Whether a question is for an export.
pub fn is_export(question: &str) -> bool {
    question.starts_with(PREFIX)
}

/// Makes an export: `export.svg`, `export.png` or `export.html`, of the window `t0` to `t1` and the timelines `y0` to `y1` of the
/// layout `rows`, without the kinds `hide`; pictures `w` pixels wide and `h` high, `theme=dark` or light,
/// `colors=class` or those of the file, with the colours `own` and the `names` that the reader gave ([`ReaderLooks`]).
pub fn export(
    trace: &OpenedTrace,
    question: &str,
    assets: &Assets,
    cancel: &dyn Fn() -> bool,
) -> Result<Answer, ApiError> {
    let query = ApiQuery::parse(question)?;
    let _turn = turn(cancel)?;
    match query.route.strip_prefix(PREFIX) {
        Some("svg") => {
            let (svg, _) = svg(trace, &query, cancel)?;
            Ok(file("image/svg+xml", svg.into_bytes()))
        }
        Some("png") => {
            let (svg, size) = svg(trace, &query, cancel)?;
            if size.0 * size.1 > MAX_PIXELS {
                return Err(ApiError::too_large(format!(
                    "a PNG has at most {MAX_PIXELS} pixels, not {} x {}; an SVG has none to count",
                    size.0, size.1
                )));
            }
            let png = png::render(&svg).map_err(failed)?;
            Ok(file("image/png", png))
        }
        Some("html") => {
            page::page(trace, &query, assets, cancel).map(|page| file("text/html", page))
        }
        _ => Err(ApiError::not_found(
            "exports are export.svg, export.png and export.html",
        )),
    }
}

fn file(mime: &'static str, body: Vec<u8>) -> Answer {
    Answer {
        kind: AnswerBody::Text(mime),
        body,
        exact: true,
    }
}

fn turn(cancel: &dyn Fn() -> bool) -> Result<MutexGuard<'static, ()>, ApiError> {
    loop {
        if let Some(turn) = TURN.try_lock_for(LOOK) {
            return Ok(turn);
        }
        if cancel() {
            return Err(ApiError::cancelled());
        }
    }
}

fn failed(failure: Failure) -> ApiError {
    ApiError {
        status: 500,
        message: match failure {
            Failure::Data(message) | Failure::Call(message) | Failure::Limit(message) => message,
            Failure::ClosedPipe => String::new(),
        },
    }
}

/// The picture as text, and its size in pixels.
fn svg(
    trace: &OpenedTrace,
    query: &ApiQuery,
    cancel: &dyn Fn() -> bool,
) -> Result<(String, (f64, f64)), ApiError> {
    let viewer = &trace.viewer;
    let window = viewer.window(query)?;
    let size = size(query)?;
    let theme = match query.text("theme") {
        "dark" => Theme::Dark,
        _ => Theme::Light,
    };
    let looks = ReaderLooks::of(query)?;
    let (hidden, hides_undefined) = hidden(trace, query)?;
    let wanted = ContentRequest {
        categories: Vec::new(),
        hidden,
        hides_undefined,
        width: size.0,
        bytes: viewer.limits().tree_bytes,
        colors: match query.text("colors") {
            "class" => CategoryColors::Class(theme),
            _ => CategoryColors::File,
        },
    };
    let timelines = timelines(trace, query, &looks, cancel)?;
    let mut content = WindowContent::read(viewer.trace().reader(), timelines, window, &wanted)?;
    looks.give(&mut content, viewer.trace());
    if cancel() {
        return Err(ApiError::cancelled());
    }
    let look = PictureStyle {
        width: size.0,
        height: size.1,
        theme,
        title: trace.name.clone(),
        waits: (viewer.waits()).map_or_else(Vec::new, |waits| {
            TimelineWait::of_content(&content, viewer.trace(), waits)
        }),
    };
    let picture = PictureLayout::new(&content, &look);
    Ok((
        viewer_core::svg::write(&picture),
        (picture.width, picture.height),
    ))
}

fn size(query: &ApiQuery) -> Result<(u32, Option<u32>), ApiError> {
    let width = query.number("w", 1600)?;
    let height = query.number("h", 0_u32)?;
    let (least, most) = (PictureStyle::MIN_SIZE, PictureStyle::MAX_SIZE);
    let own = Some(height).filter(|&height| height > 0);
    match PictureStyle::allows(width, own) {
        true => Ok((width, own)),
        false => Err(ApiError::bad_request(format!(
            "w={width}&h={height}: expected {} to {} and {} to {} pixels",
            least.0, most.0, least.1, most.1
        ))),
    }
}

/// Colours and names that the reader gave.
#[derive(Default)]
struct ReaderLooks<'q> {
    /// By number of the kind, from `own=3:ff8800,7:00aa00`.
    colors: HashMap<u32, Rgb>,
    /// By what they name, from a line `3:Exchange` for a kind or `0.15:late rank` for a timeline, by line map and key.
    names: HashMap<&'q str, &'q str>,
}

impl<'q> ReaderLooks<'q> {
    fn of(query: &'q ApiQuery) -> Result<Self, ApiError> {
        let wrong = |key: &str, part: &str, expected: &str| {
            let part: String = part.chars().take(40).collect();
            ApiError::bad_request(format!("{key}={part}: expected {expected}"))
        };
        let mut looks = ReaderLooks::default();
        let colors = query.text("own").split(',');
        for part in colors.filter(|part| !part.is_empty()) {
            let parsed = part.split_once(':').and_then(|(kind, color)| {
                let is_color = color.len() == 6 && color.bytes().all(|c| c.is_ascii_hexdigit());
                let color = u32::from_str_radix(color, 16).ok().filter(|_| is_color)?;
                Some((kind.parse().ok()?, Rgb(color)))
            });
            let expected = "the number of a kind and its colour, such as 3:ff8800";
            let (kind, color) = parsed.ok_or_else(|| wrong("own", part, expected))?;
            looks.colors.insert(kind, color);
        }
        let names = query.text("names").split('\n');
        for line in names.filter(|line| !line.is_empty()) {
            let expected = "a kind or a timeline and its name, such as 3:Exchange";
            let parsed = line.split_once(':');
            let (of, name) = parsed.ok_or_else(|| wrong("names", line, expected))?;
            looks.names.insert(of, name);
        }
        Ok(looks)
    }

    /// Gives the kinds of a picture these colours and names.
    fn give(&self, content: &mut WindowContent, trace: &OpenTrace<'_>) {
        for (number, kind) in (0..).zip(trace.kinds()) {
            let name = self.names.get(number.to_string().as_str()).copied();
            let color = self.colors.get(&number).copied();
            if name.is_some() || color.is_some() {
                content.set_look(kind.category.index, name, color);
            }
        }
    }
}

/// Indices of the categories that are not shown, and whether those that the trace does not define are not.
fn hidden(trace: &OpenedTrace, query: &ApiQuery) -> Result<(Vec<i32>, bool), ApiError> {
    let hidden = trace.viewer.hidden(query)?;
    let kinds = trace.viewer.trace().kinds();
    if !kinds.is_empty() && !hidden.contains(&false) {
        return Err(ApiError::bad_request("hide: nothing is left"));
    }
    let hidden = kinds.iter().zip(hidden).filter(|(_, is_hidden)| *is_hidden);
    let indices: Vec<i32> = hidden.map(|(kind, _)| kind.category.index).collect();
    let hides_undefined = indices.contains(&OpenTrace::UNDEFINED_INDEX);
    Ok((indices, hides_undefined))
}

/// The timelines of the page's layout that are on the screen.
fn timelines(
    trace: &OpenedTrace,
    query: &ApiQuery,
    looks: &ReaderLooks<'_>,
    cancel: &dyn Fn() -> bool,
) -> Result<NamedTimelines, ApiError> {
    let layout = trace.viewer.layout(query, cancel)?;
    let mut items = layout.spec.split(';');
    let map = items.find_map(|item| item.strip_prefix("map:"));
    let map = map.unwrap_or("0");
    let lines = trace.viewer.trace().lines();
    let behind = query
        .number("y1", layout.timelines.len())?
        .min(layout.timelines.len());
    let first = query.number("y0", 0_usize)?.min(behind);
    let timelines = layout.timelines.iter().enumerate().take(behind).skip(first);
    let timelines = timelines.map(|(position, timeline)| {
        // Lines of one lane differ in their communicator only: states nest across them, and not across others.
        let mut lanes: BTreeMap<u32, Vec<i32>> = BTreeMap::new();
        let on = layout.lines_of(position).iter();
        for line in on.filter_map(|&line| lines.get(line as usize)) {
            lanes.entry(line.lane).or_default().push(line.line.id);
        }
        let own = looks.names.get(format!("{map}.{}", timeline.key).as_str());
        let label = own.map_or_else(|| timeline.label.clone(), |own| viewer_core::visible(own));
        (label, lanes.into_values().collect())
    });
    Ok(NamedTimelines::named(timelines))
}
