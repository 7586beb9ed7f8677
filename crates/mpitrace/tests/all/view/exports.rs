//! What is taken away: pictures, and pages that need no server.

use super::server::{Server, sample};
use crate::exported::{fails, mpitrace, stderr, succeeds};
use test_support::golden;
use trace_formats::slog2::{
    Category, Color, Depth, LineIdMap, NewDrawable, Slog2Reader, TimeBBox, Topology, TreeBuilder,
    TreeOptions, Vertex,
};
use viewer_core::{AnswerLimits, TraceNames, Viewer};

/// Standard base64, which has no line breaks here.
fn decoded(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("{byte}"),
    };
    let digits = text.trim_end_matches('=').bytes().map(digit);
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for digit in digits {
        bits = bits << 6 | u32::from(digit);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// Text between the first `from` and the next `to` after it.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let rest = text
        .split_once(from)
        .unwrap_or_else(|| panic!("no {from}"))
        .1;
    rest.split_once(to).unwrap().0
}

/// Number of hatched areas in a picture.
fn hatched(svg: &str) -> usize {
    match svg.split_once("\" fill=\"url(#waiting)\"") {
        Some((before, _)) => before.rsplit("d=\"").next().unwrap().matches('M').count(),
        None => 0,
    }
}

#[test]
fn pictures_hatch_the_waits_that_they_show() {
    let trace = golden::path("mpe/coll_n4.slog2");
    let server = Server::start(&[trace.to_str().unwrap(), "-q"]);
    let picture = |question: &str| hatched(&server.get(&format!("t/0/{question}")).text());
    // Nobody has looked for waits.
    assert_eq!(picture("export.svg"), 0);
    assert_eq!(server.get("t/0/waits").json()["state"], "known");
    let all = picture("export.svg?w=4000");
    assert!(all > 4, "{all}");
    let of_rank = |rank: usize| picture(&format!("export.svg?w=4000&y0={rank}&y1={}", rank + 1));
    let each: Vec<usize> = (0..4).map(of_rank).collect();
    assert_eq!(each.iter().sum::<usize>(), all, "{each:?}");
    let kinds = server.get("t/0/meta").json()["categories"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(picture(&format!("export.svg?hide=0-{}", kinds - 1)), 0);
}

#[test]
fn pictures_are_those_of_draw() {
    let server = Server::start(&[&sample(), "-q"]);
    let svg = server.get("t/0/export.svg?w=900&theme=dark");
    assert_eq!(svg.header("content-type"), "image/svg+xml");
    assert!(svg.text().starts_with("<svg ") && svg.text().contains(">sample.slog2</text>"));
    let png = server.get("t/0/export.png?w=640&h=300");
    assert_eq!(png.header("content-type"), "image/png");
    assert_eq!(
        png.header("content-disposition"),
        "attachment; filename=\"sample.slog2.png\""
    );
    let png = resvg::tiny_skia::Pixmap::decode_png(&png.body).unwrap();
    assert_eq!((png.width(), png.height()), (640, 300));
    // Rows as the page has them, in its order, and a part of the time
    let timelines = server.get("t/0/timelines").json();
    let label = |n: usize| timelines["label"][n].as_str().unwrap().to_owned();
    let first = server.get("t/0/export.svg?y0=0&y1=1").text();
    assert!(first.contains(&format!(">{}</text>", label(0))), "{first}");
    assert!(!first.contains(&format!(">{}</text>", label(1))));
    assert_ne!(server.get("t/0/export.svg?t0=0&t1=0.001").body, svg.body);
    // Without one of the kinds it is not in the legend.
    let meta = server.get("t/0/meta").json();
    let kinds = meta["categories"].as_array().unwrap();
    let state = kinds
        .iter()
        .position(|kind| kind["count"].as_u64() > Some(0))
        .unwrap();
    let name = kinds[state]["name"].as_str().unwrap();
    let shown = |svg: &str| svg.contains(&format!(">{name}</text>"));
    assert!(shown(&svg.text()));
    assert!(!shown(
        &server.get(&format!("t/0/export.svg?hide={state}")).text()
    ));
    for (question, status) in [
        ("export.svg?w=10", 400),
        ("export.png?w=20000&h=20000", 413),
        ("export.svg?t0=2&t1=1", 400),
        ("export.svg?timelines=nonsense", 400),
        ("export.gif", 404),
        ("export.svg?hide=0-999999", 400),
    ] {
        let reply = server.get(&format!("t/0/{question}"));
        assert_eq!(reply.status, status, "{question}: {}", reply.text());
    }
}

/// A trace in which rank 0 is for a second each in regions whose names a pattern, or a comparison without case, takes for one another.
fn alike() -> Vec<u8> {
    let state = |(index, name): (i32, &str)| {
        Category::new(index, name.into(), Topology::State, Color::rgb(0x4040ff))
    };
    let categories = [(0, "solve"), (1, "SOLVE"), (2, "sol*")].map(state);
    let options = TreeOptions::default();
    let mut builder = TreeBuilder::new(std::io::Cursor::new(Vec::new()), options).unwrap();
    for category in 0..3 {
        let start = f64::from(category);
        let vertices = [start, start + 1.0].map(|time| Vertex { time, line: 0 });
        let drawable = NewDrawable {
            topology: Topology::State,
            category,
            info: b"",
            vertices: &vertices,
        };
        builder.add(&drawable).unwrap();
    }
    let mut view = LineIdMap::new("Process View", &["world_rank"]);
    view.push(0, &[0]);
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(&categories, &[view]).unwrap();
    out.into_inner()
}

#[test]
fn pictures_leave_out_what_is_hidden_and_have_the_reader_s_colours_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("alike.slog2");
    std::fs::write(&trace, alike()).unwrap();
    let server = Server::start(&[trace.to_str().unwrap(), "-q"]);
    let svg = |parameters: &str| {
        let reply = server.get(&format!("t/0/export.svg?theme=light{parameters}"));
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.text()
    };
    // In the state and in the legend.
    let drawn = |svg: &str| {
        ["solve", "SOLVE", "sol*"].map(|name| svg.matches(&format!(">{name}</text>")).count())
    };
    assert_eq!(drawn(&svg("")), [2, 2, 2]);
    assert_eq!(drawn(&svg("&hide=0")), [0, 2, 2]);
    assert_eq!(drawn(&svg("&hide=1")), [2, 0, 2]);
    assert_eq!(drawn(&svg("&hide=0,2")), [0, 2, 0]);

    let plain = svg("&colors=class");
    let own = "#2040a0";
    assert!(!plain.contains(own));
    let named =
        svg("&colors=class&own=1:2040a0&names=1:%3Cb%3E%20SOLVE%20%26%20co%0A0.0:late%20one");
    assert!(named.contains(own));
    assert_eq!(drawn(&named), [2, 0, 2]);
    assert_eq!(
        named.matches(">&lt;b&gt; SOLVE &amp; co</text>").count(),
        2,
        "{named}"
    );
    assert!(plain.contains(">rank 0</text>") && named.contains(">late one</text>"));
    for wrong in ["own=1", "own=1:red", "own=x:2040a0", "names=solve"] {
        let reply = server.get(&format!("t/0/export.svg?{wrong}"));
        assert_eq!(reply.status, 400, "{wrong}: {}", reply.text());
    }
}

#[test]
fn a_page_of_its_own_has_the_part_of_the_trace_and_all_that_shows_it() {
    let server = Server::start(&[&sample(), "-q"]);
    let meta = server.get("t/0/meta").json();
    let (t0, t1) = (meta["t0"].as_f64().unwrap(), meta["t1"].as_f64().unwrap());
    let window = TimeBBox {
        earliest: t0 + 0.3 * (t1 - t0),
        latest: t0 + 0.4 * (t1 - t0),
    };
    let question = format!(
        "t/0/export.html?t0={}&t1={}&state=t0%3D1%22%3E",
        window.earliest, window.latest
    );
    let reply = server.get(&question);
    if reply.status == 404 && reply.text().contains("built without view.wasm") {
        test_support::skip("mpitrace was built without viewer/dist/view.wasm (ci/build-wasm)");
        return;
    }
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(
        reply.header("content-disposition"),
        "attachment; filename=\"sample.slog2.html\""
    );
    let page = reply.text();
    let tag = "<script type=\"text/plain\" id=\"trace\" data-name=\"sample.slog2\" data-state=\"t0=1&quot;&gt;\" data-regions=\"";
    let (attributes, part) = between(&page, tag, "</script>").split_once("\">").unwrap();
    let (regions, kinds) = attributes.split_once("\" data-kinds=\"").unwrap();
    // The part has the colours of the whole, which follow from the names of all regions.
    let categories = server.get("t/0/meta").json()["categories"].clone();
    let categories = categories.as_array().unwrap().iter();
    let expected: serde_json::Map<_, _> = categories
        .filter(|one| one["class"] == "user")
        .map(|one| {
            (
                one["name"].as_str().unwrap().to_owned(),
                one["by_class"].clone(),
            )
        })
        .collect();
    assert_eq!(expected.len(), 4);
    let regions: serde_json::Value =
        serde_json::from_str(&regions.replace("&quot;", "\"")).unwrap();
    assert_eq!(regions, serde_json::Value::Object(expected));
    let part = decoded(part);
    let whole = std::fs::read(sample()).unwrap();
    let listed = |bytes: &[u8]| {
        let reader = Slog2Reader::new(bytes).unwrap();
        let found = reader.window(window, Depth::Lowest(0)).unwrap();
        let drawables = found.drawables.iter();
        drawables
            .map(|drawable| format!("{drawable:?}"))
            .collect::<Vec<_>>()
    };
    assert!(!listed(&part).is_empty());
    assert_eq!(listed(&part), listed(&whole));
    // Numbers of kinds in the part by those in the whole.
    let kinds: Vec<i32> = serde_json::from_str(kinds).unwrap();
    let names = |bytes: &[u8]| {
        let reader = Slog2Reader::new(bytes).unwrap();
        let shown = reader.categories().iter().filter(|one| one.index >= 0);
        let names = shown.map(|one| one.name.to_str().into_owned());
        names.collect::<Vec<_>>()
    };
    let of_part = names(&part);
    let place = |name: &String| of_part.iter().position(|other| other == name);
    let expected = names(&whole);
    let expected = expected
        .iter()
        .map(|name| place(name).map_or(-1, |at| at as i32));
    assert_eq!(kinds, expected.collect::<Vec<_>>());
    assert!(kinds.contains(&-1) && kinds.contains(&0));
    let answers = decoded(between(
        &page,
        "<script type=\"text/plain\" id=\"answers\">",
        "</script>",
    ));
    assert!(answers.starts_with(b"\0asm"));
    // Nothing is loaded from anywhere, and nothing runs but what has this page's word.
    let policy = between(
        &page,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\"",
    );
    let word = between(policy, "script-src 'nonce-", "'");
    assert_eq!(word.len(), 32);
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe-inline"));
    assert_eq!(page.matches(&format!(" nonce=\"{word}\">")).count(), 3);
    assert!(!page.contains(" src=\"") && !page.contains("<link"));
    assert!(
        !server.get(&question).text().contains(word),
        "the word is another one each time"
    );
}

/// A trace in which rank 0 names communicator 4 at once, and is in a barrier on it ten seconds later.
fn named() -> Vec<u8> {
    let state = |index, name: &str| {
        Category::new(index, name.into(), Topology::State, Color::rgb(0x4040ff))
    };
    let mut naming = state(0, "MPI_Comm_set_name");
    naming.set_info_format(b"name=%s");
    let categories = [naming, state(1, "MPI_Barrier")];
    let mut builder =
        TreeBuilder::new(std::io::Cursor::new(Vec::new()), TreeOptions::default()).unwrap();
    for (category, start, info) in [(0, 0.0, &b"\0\x04rows"[..]), (1, 10.0, b"")] {
        let vertices = [start, start + 1.0].map(|time| Vertex { time, line: 0 });
        let drawable = NewDrawable {
            topology: Topology::State,
            category,
            info,
            vertices: &vertices,
        };
        builder.add(&drawable).unwrap();
    }
    let mut view = LineIdMap::new("Communicator View", &["commID", "comm_rank"]);
    view.push(0, &[4, 0]);
    let tree = builder.close().unwrap();
    let (out, _) = tree.finish(&categories, &[view]).unwrap();
    out.into_inner()
}

#[test]
fn a_page_of_its_own_has_names_that_were_given_before_its_window() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("named.slog2");
    std::fs::write(&trace, named()).unwrap();
    let server = Server::start(&[trace.to_str().unwrap(), "-q"]);
    let reply = server.get("t/0/export.html?t0=9&t1=11");
    if reply.status == 404 && reply.text().contains("built without view.wasm") {
        test_support::skip("mpitrace was built without viewer/dist/view.wasm (ci/build-wasm)");
        return;
    }
    let page = reply.text();
    let block = |id: &str| {
        let tag = format!("<script type=\"text/plain\" id=\"{id}\"");
        let block = between(&page, &tag, "</script>");
        decoded(block.split_once('>').unwrap().1)
    };
    let part = block("trace");
    let names = TraceNames::decode(&block("names")).unwrap();
    let part = Viewer::part("named", &part, Some(names), AnswerLimits::default()).unwrap();
    let timelines = part.answer("timelines", &|| false).unwrap().body;
    let timelines = String::from_utf8(timelines).unwrap();
    assert!(timelines.contains("rows (communicator 4)"), "{timelines}");
}

#[test]
fn the_page_that_opens_files_is_one_file_and_is_not_written_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("viewer.html");
    let made = mpitrace(folder.path(), &["view", "--page", "viewer.html"]);
    if stderr(&made).contains("built without view.wasm") {
        test_support::skip("mpitrace was built without viewer/dist/view.wasm (ci/build-wasm)");
        return;
    }
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let page = std::fs::read_to_string(&path).unwrap();
    let policy = between(
        &page,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\"",
    );
    assert!(policy.starts_with("default-src 'none';") && policy.contains("worker-src blob:"));
    assert!(!policy.contains("unsafe-inline") && !policy.contains("connect-src"));
    assert!(!page.contains(" src=\"") && !page.contains("<link"));
    let answers = between(
        &page,
        "<script type=\"text/plain\" id=\"answers\">",
        "</script>",
    );
    assert!(decoded(answers).starts_with(b"\0asm"));
    let worker = between(
        &page,
        "<script type=\"text/plain\" id=\"worker\">",
        "</script>",
    );
    assert!(worker.contains("FileReaderSync"));
    fails(
        folder.path(),
        &["view", "--page", "viewer.html"],
        2,
        "viewer.html: exists already",
    );
    succeeds(folder.path(), &["view", "--page", "viewer.html", "--force"]);
    let trace = sample();
    fails(
        folder.path(),
        &["view", "--page", "other.html", &trace],
        2,
        "cannot be used with",
    );
    fails(folder.path(), &["view"], 2, "TRACE");
}
