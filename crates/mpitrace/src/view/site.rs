//! Addresses of the site: the page, the login, and for each trace the answers of [`viewer_core::Viewer`] and the exports.

use super::access::{AccessRules, Refused, check_method};
use super::assets::{self, Asset, Assets};
use super::comparison;
use super::ending::Ending;
use super::export;
use super::index;
use super::opened::{self, OpenedTrace};
use super::workers::work;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use parking_lot::{Mutex, RwLock};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use viewer_core::{Answer, AnswerBody, ApiError, ApiQuery, TraceName, TracesAnswer};

/// Time for an answer that can be given in part, and says so.
const BUDGET: Duration = Duration::from_secs(2);
/// Time for an answer that is of use only as a whole.
const WHOLE_BUDGET: Duration = Duration::from_secs(10);
/// Time for the summary of a trace that is not large, which is made once.
const SUMMARY_BUDGET: Duration = Duration::from_secs(60);
/// What a question says whose answer was given in part, and is wanted as a whole: it gets the time of a summary.
const PATIENT: &str = "patient=1";
/// Time for an export, of which a part would be of no use.
const EXPORT_BUDGET: Duration = Duration::from_secs(120);
/// KiB of memory for all answers together.
const MEMORY: u32 = 256 << 10;
/// KiB that an answer is thought to take, a picture without its cells, and an export.
const ANSWER: u64 = 4 << 10;
const EXPORT: u64 = 128 << 10;
/// Bytes for each cell of a picture, while it is made.
const CELL: u64 = 8;
/// Bytes for each line, while drawables are counted.
const LINE: u64 = 2 << 10;
/// Bytes from which on compressing an answer is worth it.
const LEAST_COMPRESSED: usize = 1400;

/// Content security policy: the page loads scripts and pictures from this server only.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
    img-src 'self' blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors ";

/// All there is to ask for.
pub struct ViewSite {
    access: AccessRules,
    /// The path below which everything is; begins and ends with a slash.
    base: String,
    /// By number. Those that were opened again are at the end; the ones before them stay, and are refused.
    traces: RwLock<Vec<Arc<OpenedTrace>>>,
    /// Held by whoever opens one again.
    reopening: Mutex<()>,
    assets: Assets,
    /// Whether answers go over a network, so that it is worth making them smaller.
    is_remote: bool,
    asked: Mutex<Instant>,
    /// What must not be left behind when the server ends.
    ending: Ending,
    /// Memory that answers may take together, in KiB: while they are made, and until they are sent.
    memory: Arc<Semaphore>,
}

/// An answer that has not been sent, and the memory that it was granted.
struct HeldAnswer {
    body: Vec<u8>,
    _memory: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for HeldAnswer {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// Meaning of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address<'a> {
    Page,
    Login,
    Traces,
    /// A question about a trace, or a picture of it.
    Trace(usize, &'a str),
    /// A trace is to be opened again.
    Reopen(usize),
    Asset(&'a str),
}

impl<'a> Address<'a> {
    /// The address that a path without its base means.
    fn of(path: &'a str) -> Self {
        match path {
            "" | "index.html" => return Address::Page,
            "login" => return Address::Login,
            "traces" => return Address::Traces,
            _ => {}
        }
        let trace = path
            .strip_prefix("t/")
            .and_then(|rest| rest.split_once('/'));
        let trace = trace.and_then(|(number, route)| Some((number.parse().ok()?, route)));
        trace.map_or(Address::Asset(path), |(number, route)| match route {
            "reopen" => Address::Reopen(number),
            _ => Address::Trace(number, route),
        })
    }
}

impl ViewSite {
    /// Everything below `base`, which begins and ends with a slash.
    pub fn new(
        access: AccessRules,
        base: String,
        traces: Vec<OpenedTrace>,
        assets: Assets,
        is_remote: bool,
        ending: Ending,
    ) -> Self {
        ViewSite {
            access,
            base,
            traces: RwLock::new(traces.into_iter().map(Arc::new).collect()),
            reopening: Mutex::new(()),
            assets,
            is_remote,
            ending,
            asked: Mutex::new(Instant::now()),
            memory: Arc::new(Semaphore::new(MEMORY as usize)),
        }
    }

    /// Whether a request comes from somebody who may ask.
    pub fn is_let_in(&self, head: &Parts) -> bool {
        self.access.check_cookie(&head.headers).is_ok()
    }

    /// Time since the last request.
    pub fn unasked(&self) -> Duration {
        self.asked.lock().elapsed()
    }

    /// Answers a request; `posted` is its body.
    pub async fn respond(
        site: Arc<ViewSite>,
        head: &Parts,
        posted: &[u8],
    ) -> Response<Full<Bytes>> {
        let answered = ViewSite::answer(&site, head, posted).await;
        let mut response = answered.unwrap_or_else(|refused| error(&refused));
        site.add_headers(response.headers_mut());
        response
    }

    async fn answer(
        site: &Arc<ViewSite>,
        head: &Parts,
        posted: &[u8],
    ) -> Result<Response<Full<Bytes>>, Refused> {
        let path = head.uri.path();
        // A proxy may have taken the base away.
        let inner = path.strip_prefix(&site.base).or(path.strip_prefix('/'));
        let place = Address::of(inner.unwrap_or(path));
        let is_bare = path.len() + 1 == site.base.len() && site.base.starts_with(path);
        site.access
            .check_origin(&head.uri, &head.headers, is_bare || place == Address::Page)?;
        if is_bare {
            return Ok(moved(&site.base));
        }
        // Anybody may learn that something is not there: names of assets are no secret.
        let asset = match place {
            Address::Page => Some(site.assets.get(assets::PAGE)),
            Address::Asset(name) => Some(site.assets.get(name)),
            _ => None,
        };
        if let Some(None) = asset {
            let what = match place {
                Address::Page => "the page is not there",
                _ => "there is no such thing here",
            };
            return Err((StatusCode::NOT_FOUND, what.into()));
        }
        let is_post = matches!(place, Address::Login | Address::Reopen(_));
        check_method(&head.method, is_post)?;
        if let Some(Some(asset)) = asset {
            return Ok(site.asset(asset, &head.headers));
        }
        if place == Address::Login {
            let cookie = site
                .access
                .log_in(&String::from_utf8_lossy(posted), &site.base)?;
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::NO_CONTENT;
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            return Ok(response);
        }
        site.access.check_cookie(&head.headers)?;
        *site.asked.lock() = Instant::now();
        let (number, route) = match place {
            Address::Trace(number, route) => (number, route.to_owned()),
            Address::Reopen(number) => {
                return ViewSite::reopened(site, number, &head.headers).await;
            }
            _ => return site.traces_answer(&head.headers),
        };
        let trace = site.numbered(number)?;
        let kind_of_file = route.clone();
        let question = match head.uri.query() {
            Some(query) => format!("{route}?{query}"),
            None => route,
        };
        let viewer = &trace.viewer;
        let lines = viewer.trace().lines().len();
        let need = need(&question, lines, |query| viewer.reads(query));
        let Ok(mut memory) = Arc::clone(&site.memory).acquire_many_owned(need).await else {
            return Err((StatusCode::SERVICE_UNAVAILABLE, "the server ends".into()));
        };
        let (answering, asked) = (Arc::clone(site), Arc::clone(&trace));
        let answer = work(move |is_unwanted| answering.trace(&asked, &question, is_unwanted));
        match answer.await {
            Ok(Ok(answer)) => {
                let is_file = matches!(answer.kind, AnswerBody::Text(mime) if mime != "text/plain");
                // The memory that making the answer took is free again, but for the answer itself.
                let kept = (answer.body.len() >> 10) + 1;
                let kept = memory.split(kept.min(memory.num_permits()));
                drop(memory);
                let mut response = site.response(answer, kept, &head.headers);
                if is_file {
                    let saved = saved(&trace.name, &kind_of_file);
                    response
                        .headers_mut()
                        .insert(header::CONTENT_DISPOSITION, saved);
                }
                Ok(response)
            }
            Ok(Err(error)) => {
                let status = StatusCode::from_u16(error.status);
                let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                Err((status, error.message))
            }
            Err(_) => {
                let what = "mpitrace failed at this question, which is an error in it; it said where on its terminal";
                Err((StatusCode::INTERNAL_SERVER_ERROR, what.into()))
            }
        }
    }

    /// Answers a question about a trace.
    fn trace(
        &self,
        trace: &OpenedTrace,
        question: &str,
        is_unwanted: &dyn Fn() -> bool,
    ) -> Result<Answer, ApiError> {
        let gone = |message| ApiError {
            status: StatusCode::GONE.as_u16(),
            message,
        };
        if let Some(trouble) = trace.trouble() {
            return Err(gone(trouble));
        }
        let begun = Instant::now();
        let cancel = |budget: Duration| {
            move || is_unwanted() || trace.mapped.is_torn() || begun.elapsed() > budget
        };
        let answer = if export::is_export(question) {
            export::export(trace, question, &self.assets, &cancel(EXPORT_BUDGET))
        } else if comparison::is_comparison(question) {
            let cancel = cancel(SUMMARY_BUDGET);
            let traces = self.traces.read().clone();
            comparison::comparison(&traces, trace, question, &cancel)
        } else {
            trace.viewer.answer(question, &cancel(budget(question)))
        };
        // Nothing read from a file that has changed meanwhile is an answer, nor is an error that says it is damaged.
        match trace.trouble() {
            Some(trouble) => Err(gone(trouble)),
            None => answer,
        }
    }

    fn traces_answer(&self, headers: &HeaderMap) -> Result<Response<Full<Bytes>>, Refused> {
        let traces = self.traces.read().clone();
        let shown = traces.iter().enumerate();
        let shown = shown.filter(|(_, trace)| trace.instead.get().is_none());
        let names = shown.map(|(number, trace)| (number, trace.name.as_str()));
        let answer = Answer::json(&TracesAnswer::new(names), true);
        let answer = answer.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, error.message))?;
        Ok(self.response(answer, None, headers))
    }

    /// The trace of this number.
    fn numbered(&self, number: usize) -> Result<Arc<OpenedTrace>, Refused> {
        let traces = self.traces.read();
        traces.get(number).cloned().ok_or_else(|| {
            let what = format!(
                "traces have the numbers from 0 to {}",
                traces.len().saturating_sub(1)
            );
            (StatusCode::NOT_FOUND, what)
        })
    }

    /// Number and name of what there is now in place of a trace whose file has changed.
    async fn reopened(
        site: &Arc<ViewSite>,
        number: usize,
        headers: &HeaderMap,
    ) -> Result<Response<Full<Bytes>>, Refused> {
        let failed = |what: String| (StatusCode::INTERNAL_SERVER_ERROR, what);
        let opening = Arc::clone(site);
        let opened = work(move |_| opening.reopen(number)).await;
        let number = opened.map_err(|error| failed(error.to_string()))??;
        let name = &site.numbered(number)?.name;
        let answer = Answer::json(&TraceName { number, name }, true);
        let answer = answer.map_err(|error| failed(error.message))?;
        Ok(site.response(answer, None, headers))
    }

    /// Opens a trace again if its file has changed. What it holds now gets a number of its own: a page that still shows what
    /// was there before is given no answer about something else.
    fn reopen(&self, mut number: usize) -> Result<usize, Refused> {
        // Of two pages that ask at once the second one gets what the first one has opened.
        let _one = self.reopening.lock();
        loop {
            let trace = self.numbered(number)?;
            if let Some(&instead) = trace.instead.get() {
                number = instead;
                continue;
            }
            let has_changed = trace.trouble().is_some();
            if !has_changed || trace.files.is_empty() {
                return Ok(number);
            }
            let opened = opened::reopen(&trace, &self.ending);
            let mut opened = opened.map_err(|why| (StatusCode::CONFLICT, why.to_string()))?;
            index::begin(std::slice::from_mut(&mut opened));
            let mut traces = self.traces.write();
            let next = *trace.instead.get_or_init(|| traces.len());
            traces.push(Arc::new(opened));
            return Ok(next);
        }
    }

    fn response(
        &self,
        answer: Answer,
        memory: Option<OwnedSemaphorePermit>,
        headers: &HeaderMap,
    ) -> Response<Full<Bytes>> {
        let mime = match answer.kind {
            AnswerBody::Json => "application/json",
            AnswerBody::Frame => "application/octet-stream",
            AnswerBody::Text(mime) => mime,
        };
        let body = match memory {
            Some(memory) => Bytes::from_owner(HeldAnswer {
                body: answer.body,
                _memory: memory,
            }),
            None => answer.body.into(),
        };
        self.whole(body, mime, headers)
    }

    fn asset(&self, asset: Asset, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let tag = HeaderValue::try_from(asset.tag()).ok();
        let is_known = tag.is_some() && headers.get(header::IF_NONE_MATCH) == tag.as_ref();
        let mut response = match is_known {
            true => {
                let mut response = Response::new(Full::default());
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                response
            }
            false => self.whole(asset.bytes.clone(), asset.mime, headers),
        };
        let set = response.headers_mut();
        if let Some(tag) = tag {
            set.insert(header::ETAG, tag);
        }
        set.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }

    /// A whole body, made smaller if the way is long and the client understands it.
    fn whole(&self, body: Bytes, mime: &str, headers: &HeaderMap) -> Response<Full<Bytes>> {
        let is_picture = mime.starts_with("image/") && mime != "image/svg+xml";
        let is_worth = self.is_remote && body.len() >= LEAST_COMPRESSED && !is_picture;
        let smaller = if is_worth && takes_gzip(headers) {
            gzip(&body)
        } else {
            None
        };
        let is_smaller = smaller.is_some();
        let mut response = Response::new(Full::new(smaller.unwrap_or(body)));
        let set = response.headers_mut();
        if let Ok(mime) = HeaderValue::try_from(mime) {
            set.insert(header::CONTENT_TYPE, mime);
        }
        if is_smaller {
            set.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        // Behind a proxy the page may stand in a notebook of the same origin.
        let ancestors = if self.access.is_proxied() {
            "'self'"
        } else {
            "'none'"
        };
        if let Ok(policy) = HeaderValue::try_from(format!("{POLICY}{ancestors}")) {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
        }
        let always = [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (
                HeaderName::from_static("cross-origin-resource-policy"),
                "same-origin",
            ),
            (
                HeaderName::from_static("cross-origin-opener-policy"),
                "same-origin",
            ),
        ];
        for (name, value) in always {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let no_store = HeaderValue::from_static("no-store");
        headers.entry(header::CACHE_CONTROL).or_insert(no_store);
    }
}

/// Questions that are answered by counting what each line has.
const COUNTING: [&str; 10] = [
    "stats", "matrix", "sizes", "csv", "summary", "verdict", "waits", "tracks", "compare",
    "moments",
];

/// KiB that it takes to answer a question about a trace with so many lines; `reads` tells what is read for a picture.
fn need(question: &str, lines: usize, reads: impl Fn(&ApiQuery) -> u64) -> u32 {
    let need = match ApiQuery::parse(question) {
        Ok(query) if query.route == "picture" => {
            let number = |key, otherwise| query.number(key, otherwise).unwrap_or(otherwise);
            // Inner nodes of the tree of labels may be rows, too.
            let most = 2 * lines as u64;
            let rows = number("y1", most).saturating_sub(number("y0", 0)).min(most);
            let cells = number("w", 1000).saturating_mul(rows);
            // States take a little more in memory than in the file.
            let states = reads(&query).saturating_mul(5) / 4;
            ANSWER + (cells.saturating_mul(CELL).saturating_add(states) >> 10)
        }
        Ok(query) if export::is_export(&query.route) => EXPORT,
        Ok(query) if COUNTING.contains(&query.route.as_str()) => {
            ANSWER + ((lines as u64).saturating_mul(LINE) >> 10)
        }
        _ => ANSWER,
    };
    u32::try_from(need).unwrap_or(MEMORY).min(MEMORY)
}

/// Time for the answer to a question.
fn budget(question: &str) -> Duration {
    let (route, parameters) = question.split_once('?').unwrap_or((question, ""));
    if parameters.split('&').any(|one| one == PATIENT) {
        return SUMMARY_BUDGET;
    }
    match route {
        "picture" | "overview" | "stats" | "matrix" | "sizes" | "durations" | "hits" | "search"
        | "tracks" => BUDGET,
        "summary" | "verdict" | "waits" | "moments" => SUMMARY_BUDGET,
        _ => WHOLE_BUDGET,
    }
}

/// A refusal as text; of a wrong method the text is what is allowed.
fn error((status, message): &Refused) -> Response<Full<Bytes>> {
    let text = match *status {
        StatusCode::METHOD_NOT_ALLOWED => format!("expected {message}\n"),
        _ => format!("{message}\n"),
    };
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = *status;
    let set = response.headers_mut();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    set.insert(header::CONTENT_TYPE, plain);
    if *status == StatusCode::METHOD_NOT_ALLOWED
        && let Ok(allowed) = HeaderValue::try_from(message)
    {
        set.insert(header::ALLOW, allowed);
    }
    response
}

fn moved(to: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    if let Ok(to) = HeaderValue::try_from(to) {
        response.headers_mut().insert(header::LOCATION, to);
    }
    response
}

/// The header that makes an answer a file: its name is that of the trace, with the ending of what it is, `export.svg` or `csv`.
fn saved(trace: &str, route: &str) -> HeaderValue {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "-_.".contains(c) => c,
        _ => '_',
    };
    let name: String = trace.chars().take(100).map(plain).collect();
    let ending: String = route
        .rsplit('.')
        .next()
        .unwrap_or(route)
        .chars()
        .map(plain)
        .collect();
    let text = format!("attachment; filename=\"{name}.{ending}\"");
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("attachment"))
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let mut codings = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
        name.trim().eq_ignore_ascii_case("gzip") && weight.parse().is_ok_and(|q: f32| q > 0.0)
    })
}

/// The bytes made smaller as fast as can be, if that is any use.
fn gzip(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).ok()?;
    let smaller = encoder.finish().ok()?;
    (smaller.len() < bytes.len()).then(|| smaller.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (path, place) in [
            ("", Address::Page),
            ("login", Address::Login),
            ("traces", Address::Traces),
            ("t/0/meta", Address::Trace(0, "meta")),
            ("t/17/export.svg", Address::Trace(17, "export.svg")),
            ("t/x/meta", Address::Asset("t/x/meta")),
            ("t/-1/meta", Address::Asset("t/-1/meta")),
            ("t/0", Address::Asset("t/0")),
            ("main.js", Address::Asset("main.js")),
            ("../main.js", Address::Asset("../main.js")),
        ] {
            assert_eq!(Address::of(path), place, "{path}");
        }
    }

    #[test]
    fn large_pictures_need_more() {
        let need = |question, lines| super::need(question, lines, |_| 0);
        let small = need("picture?w=1800&y0=0&y1=900", 10_000);
        let large = need("picture?w=1600", 10_000);
        let long = super::need("picture?w=100&y1=9", 10, |_| 100 << 20);
        assert!((100 << 10..MEMORY).contains(&long), "{long}");
        assert!(u64::from(small) > ANSWER && small < MEMORY / 8, "{small}");
        assert!(large > MEMORY / 2, "{large}");
        assert_eq!(need("picture?w=18446744073709551615", 10), MEMORY);
        assert_eq!(need("picture?w=x&y1=y", 0), ANSWER as u32);
    }

    #[test]
    fn names_of_files_are_plain() {
        let name = |trace, route| saved(trace, route).to_str().unwrap().to_owned();
        assert_eq!(
            name("a.slog2", "export.svg"),
            "attachment; filename=\"a.slog2.svg\""
        );
        assert_eq!(
            name("\"; x=\r\n\u{e9}", "csv"),
            "attachment; filename=\"___x____.csv\""
        );
    }

    #[test]
    fn codings_are_those_that_the_client_wants() {
        let takes = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, value.parse().unwrap());
            takes_gzip(&headers)
        };
        assert!(takes("gzip") && takes("deflate, GZIP;q=0.5, br"));
        assert!(!takes("br") && !takes("gzip;q=0") && !takes("x-gzip") && !takes(""));
    }
}
