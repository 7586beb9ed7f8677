//! `mpitrace view`: a trace in the browser.
//!
//! The server is for one user: it listens on the loopback interface or on a socket in the file system, and answers only who
//! has the token that it prints. Everything that is computed is computed by the crate `viewer-core`; here are files and connections.

mod access;
mod assets;
mod browser;
mod comparison;
mod cut;
mod ending;
mod export;
mod http;
mod index;
mod limits;
mod mapped;
mod opened;
mod page;
mod site;
mod store;
mod workers;

use crate::failure::Failure;
use crate::report;
use crate::system::signals::Signals;
use crate::terminal::tell;
use crate::trace_files::overwrite::Overwrite;
use crate::trace_files::target::write_bytes;
use access::AccessRules;
use assets::Assets;
use clap::ValueEnum;
use ending::Ending;
use http::HttpListener;
use site::ViewSite;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Show traces in the browser
///
/// The command starts a server for this user on this machine, prints its address, and opens the address in the browser
/// if there is a screen. Of an SLOG2 file only the visible part is read; other formats are converted first, to a
/// temporary file. Ctrl-C ends the command.
///
/// Nobody else can look: the address ends in a token that is new each time, and the server answers only requests with
/// that token. After a login by ssh, the command also prints the ssh command that leads to the server.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mpitrace view run.slog2
  mpitrace view before.slog2 after.slog2          two traces in one window
  mpitrace view run.clog2                         any format; SLOG2 is there at once
  mpitrace view --page viewer.html                the viewer as a file: it opens SLOG2 files in the browser, without mpitrace
  mpitrace view --summary run.slog2               the report of mpitrace report
  mpitrace view --no-open --port 8000 run.slog2
  mpitrace view --socket ~/view.sock run.slog2    then: ssh -L 8000:/home/me/view.sock login3
  mpitrace view --auth proxy --base-path /user/me/proxy/8000/ --port 8000 --allow-host hub.example.org run.slog2")]
pub struct Arguments {
    /// The traces, in any format; - is stdin. The block files of one run are one trace, and so are its DUMPI files
    #[arg(value_name = "TRACE", required_unless_present = "page")]
    traces: Vec<PathBuf>,
    /// Write the viewer as a page that opens SLOG2 files without a server, and exit; - is stdout
    #[arg(long, value_name = "FILE", conflicts_with = "traces")]
    page: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Port on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Listen on a socket in the file system instead of a port. No other user can connect to it
    #[arg(long, value_name = "PATH", conflicts_with = "port")]
    socket: Option<PathBuf>,
    /// Print the report on each trace, as `mpitrace report` does, and exit
    #[arg(long)]
    summary: bool,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Path under which a proxy shows the page
    #[arg(long, value_name = "/PATH/", default_value = "/", value_parser = base_path)]
    base_path: String,
    /// Accept requests to this host name, too, for example that of a proxy; with or without :PORT. May be given several
    /// times
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Who checks the identity of a visitor
    #[arg(long, value_enum, default_value_t = Auth::Token, value_name = "HOW")]
    auth: Auth,
    /// Exit when nobody has looked for this long: 90s, 30m, 8h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    idle: Option<Duration>,
    /// Take the files of the page from this folder, for work on the page itself
    #[arg(long, value_name = "DIR")]
    dev: Option<PathBuf>,
    /// Print only the address if all goes well
    #[arg(short, long)]
    quiet: bool,
}

/// Who asks who somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Auth {
    /// This server checks the token in the address that it prints
    Token,
    /// A proxy in front of the server does; everyone who can connect can look
    Proxy,
}

fn base_path(text: &str) -> Result<String, String> {
    let inner = text.trim_matches('/');
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~@%/".contains(&byte);
    if !inner.bytes().all(allowed) || inner.split('/').any(|part| part == ".." || part == ".") {
        return Err(
            "expected a path such as /user/me/proxy/8000/, of letters, digits and -_.~@%".into(),
        );
    }
    Ok(match inner {
        "" => "/".into(),
        inner => format!("/{inner}/"),
    })
}

fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 90s, 30m or 8h".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| expected())?;
    let seconds = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(expected()),
    };
    let seconds = number.checked_mul(seconds).filter(|&seconds| seconds > 0);
    seconds.map(Duration::from_secs).ok_or_else(expected)
}

/// From this size on, memory is given back to the system when it is free: pictures are made by many threads, and the C library
/// would keep some for each of them, the more the larger the largest was.
#[cfg(target_env = "gnu")]
const GIVEN_BACK: i32 = 4 << 20;

#[cfg(target_env = "gnu")]
fn give_memory_back() {
    for limit in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
        // SAFETY: it sets a number of the allocator. Where it refuses, all works as before.
        unsafe { libc::mallopt(limit, GIVEN_BACK) };
    }
}

#[cfg(not(target_env = "gnu"))]
fn give_memory_back() {}

/// Runs the subcommand.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.page {
        return write_page(arguments, path);
    }
    give_memory_back();
    let signals = Signals::hold();
    let failed = |error: std::io::Error| Failure::Data(format!("the server: {error}"));
    let ending = Ending::at(signals).map_err(failed)?;
    let result = show(arguments, &signals, &ending);
    ending.clean();
    result
}

/// Writes the page that opens files.
fn write_page(arguments: &Arguments, path: &Path) -> Result<(), Failure> {
    arguments.overwrite.allow::<PathBuf>(path, &[])?;
    let page = page::file_page(&assets(arguments));
    let page = page.map_err(|error| Failure::Data(error.to_string()))?;
    write_bytes(path, &page)
}

/// Where the files of the page come from.
fn assets(arguments: &Arguments) -> Assets {
    match &arguments.dev {
        Some(folder) => Assets::Folder(folder.clone()),
        None => Assets::BuiltIn,
    }
}

fn show(arguments: &Arguments, signals: &Signals, ending: &Ending) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::Data(format!("the server: {error}"));
    if arguments.summary {
        return report::print(&opened::traces(&arguments.traces)?, arguments.quiet);
    }
    // A wrong port or socket is an error before time is spent on the traces.
    let listener = match &arguments.socket {
        Some(path) => ending.makes(|| HttpListener::socket(path), |_| path.clone())?,
        None => HttpListener::port(arguments.port.unwrap_or(0))?,
    };
    let mut traces = opened::open(&arguments.traces, arguments.quiet, ending)?;
    let port = listener.address().map(|address| address.port());
    let place = port.map_or("socket".into(), |port| port.to_string());
    let is_proxied = arguments.auth == Auth::Proxy;
    let hosts = arguments.allow_host.clone();
    let access = AccessRules::new(&place, hosts, is_proxied).map_err(failed)?;
    let base = &arguments.base_path;
    // Behind a socket there is no address of its own; through ssh it becomes a port of the user's machine.
    let name = port.map_or(format!("localhost:{}", browser::SOCKET_PORT), |port| {
        format!("127.0.0.1:{port}")
    });
    let address = format!("http://{name}{base}{}", access.fragment());
    let tunnel = browser::tunnel(port, arguments.socket.as_deref());
    print_address(arguments, &address, tunnel.as_deref());
    let is_remote = tunnel.is_some()
        || arguments.socket.is_some()
        || is_proxied
        || !arguments.allow_host.is_empty();
    index::begin(&mut traces);
    let assets = assets(arguments);
    let site = ViewSite::new(
        access,
        base.clone(),
        traces,
        assets,
        is_remote,
        ending.clone(),
    );
    ending.serving();
    if !arguments.no_open && port.is_some() && !is_proxied {
        browser::open(&address, signals, ending);
    }
    http::serve(Arc::new(site), listener, arguments.idle)
}

/// Says where to look.
fn print_address(arguments: &Arguments, address: &str, tunnel: Option<&str>) {
    let mut out = crate::terminal::stdout();
    // Whether somebody reads this does not matter to the server.
    drop(writeln!(out, "{address}").and_then(|()| out.flush()));
    if arguments.quiet {
        return;
    }
    if let Some(path) = &arguments.socket {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        tell!("mpitrace: listening on {}", path.display());
    }
    if let Some(tunnel) = tunnel {
        tell!("mpitrace: from your own machine: {tunnel}");
    }
    if arguments.auth == Auth::Proxy && arguments.socket.is_none() {
        tell!(
            "mpitrace: warning: without a token every user of this machine can look; with --socket only this one can"
        );
    }
    tell!("mpitrace: Ctrl-C ends it");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_times() {
        for (text, path) in [
            ("/", "/"),
            ("x", "/x/"),
            ("/user/me/proxy/1/", "/user/me/proxy/1/"),
        ] {
            assert_eq!(base_path(text).unwrap(), path);
        }
        for wrong in ["/a/../b/", "/a b/", "/\"/", "/a//../"] {
            assert!(base_path(wrong).is_err(), "{wrong}");
        }
        assert_eq!(duration("8h"), Ok(Duration::from_secs(28_800)));
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        for wrong in [
            "",
            "0s",
            "h",
            "1.5h",
            "8 h",
            "99999999999999999999d",
            "1000000000000000000d",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
