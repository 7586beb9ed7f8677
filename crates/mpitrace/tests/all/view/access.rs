//! Who may ask: hosts, other pages, cookies, methods, paths.

use super::server::{Server, command, sample};
use std::process::Command;

#[test]
fn the_token_is_exchanged_for_a_cookie() {
    let mut server = Server::unknown(&mut command(&[&sample(), "-q"]));
    assert_eq!(
        server.address,
        format!("http://127.0.0.1:{}/#k={}", server.port, server.token)
    );
    assert_eq!(server.token.len(), 32);
    let post = |token: &str| {
        let length = token.len().to_string();
        server.send("POST", "/login", &[("Content-Length", &length)], token)
    };
    for wrong in [
        "",
        "0",
        &server.token[..31],
        &"0".repeat(32),
        &"0".repeat(10_000),
    ] {
        assert_eq!(post(wrong).status, 401);
    }
    let reply = post(&server.token);
    assert_eq!(reply.status, 204);
    let cookie = reply.header("set-cookie").to_owned();
    assert!(
        cookie.starts_with(&format!("mpitrace-{}-", server.port)),
        "{cookie}"
    );
    assert!(
        cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"),
        "{cookie}"
    );
    assert!(!cookie.contains(&server.token));
    assert_eq!(server.get("t/0/meta").status, 401);
    server.cookie = cookie.split(';').next().unwrap().to_owned();
    assert_eq!(server.get("t/0/meta").status, 200);
    // The address goes on working: for a second browser, for instance.
    let again = Server::unknown(&mut command(&[&sample(), "-q"]));
    assert_ne!(again.token, server.token);
    let with_other = again.send("GET", "/t/0/meta", &[("Cookie", &server.cookie)], "");
    assert_eq!(with_other.status, 401);
}

#[test]
fn what_is_refused() {
    let server = Server::start(&[&sample(), "-q"]);
    let cookie = ("Cookie", server.cookie.as_str());
    let status = |method: &str, target: &str, headers: &[(&str, &str)]| {
        let reply = server.send(method, target, headers, "");
        assert_eq!(reply.header("access-control-allow-origin"), "");
        reply.status
    };
    // Hosts, before anything else is looked at
    for host in [
        "evil.com",
        "127.0.0.1.evil.com",
        "localhost.evil.com:80",
        "",
        "0.0.0.0",
    ] {
        for target in ["/", "/t/0/meta", "/nothing", "/login"] {
            assert_eq!(
                status("GET", target, &[("Host", host), cookie]),
                403,
                "{host} {target}"
            );
        }
    }
    for host in ["localhost", "localhost:1", "127.0.0.1:65535", "[::1]:80"] {
        assert_eq!(
            status("GET", "/t/0/meta", &[("Host", host), cookie]),
            200,
            "{host}"
        );
    }
    assert_eq!(status("GET", "http://evil.com/t/0/meta", &[cookie]), 403);
    // Other pages
    for (name, value) in [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
        ("Origin", "http://evil.com"),
        ("Origin", "null"),
        ("Origin", "http://localhost:1"),
    ] {
        assert_eq!(
            status("GET", "/t/0/meta", &[(name, value), cookie]),
            403,
            "{name}: {value}"
        );
        assert_eq!(
            status("POST", "/login", &[(name, value)]),
            403,
            "{name}: {value}"
        );
    }
    assert_eq!(
        status(
            "GET",
            "/t/0/meta",
            &[("Origin", "http://localhost"), cookie]
        ),
        200
    );
    assert_eq!(
        status(
            "GET",
            "/t/0/meta",
            &[("Sec-Fetch-Site", "same-origin"), cookie]
        ),
        200
    );
    // No cookie, or a wrong one
    for target in [
        "/t/0/meta",
        "/t/9/meta",
        "/t/0/picture?w=10",
        "/traces",
        "/t/0/export.svg",
    ] {
        assert_eq!(status("GET", target, &[]), 401, "{target}");
        assert_eq!(status("GET", target, &[("Cookie", "a=b")]), 401, "{target}");
    }
    // Addresses that do not exist
    for target in [
        "/nothing",
        "/../Cargo.toml",
        "/t/0",
        "/%2e%2e/x",
        "/t/../index.html",
        "//",
    ] {
        assert_eq!(status("GET", target, &[]), 404, "{target}");
    }
    assert_eq!(status("GET", "/t/1/meta", &[cookie]), 404);
    assert_eq!(status("GET", "/t/0/nothing", &[cookie]), 404);
    assert_eq!(status("GET", "/t/0/../0/meta", &[cookie]), 404);
    assert_eq!(
        status("GET", "/t/0/timelines?timelines=nonsense", &[cookie]),
        400
    );
    // Methods
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"] {
        let reply = server.send(method, "/t/0/meta", &[cookie], "");
        assert_eq!(
            (reply.status, reply.header("allow")),
            (405, "GET, HEAD"),
            "{method}"
        );
    }
    let reply = server.send("GET", "/login", &[cookie], "");
    assert_eq!((reply.status, reply.header("allow")), (405, "POST"));
}

#[test]
fn every_answer_says_what_a_browser_may_do_with_it() {
    let server = Server::start(&[&sample(), "-q"]);
    for target in ["", "t/0/meta", "nothing", "t/7/meta"] {
        let reply = server.get(target);
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"));
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert_eq!(reply.header("referrer-policy"), "no-referrer");
        assert_eq!(reply.header("cross-origin-resource-policy"), "same-origin");
    }
    let meta = server.get("t/0/meta");
    assert_eq!(meta.header("content-type"), "application/json");
    assert_eq!(meta.header("cache-control"), "no-store");
    let head = server.send("HEAD", "/t/0/meta", &[("Cookie", &server.cookie)], "");
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), meta.body.len().to_string());
    // The page is kept until it changes.
    let page = server.get("");
    assert!(page.header("content-type").starts_with("text/html"));
    let tag = page.header("etag");
    let again = server.send("GET", "/", &[("If-None-Match", tag)], "");
    assert_eq!((again.status, again.body.len()), (304, 0));
}

#[test]
fn behind_a_proxy() {
    let arguments = [
        &sample(),
        "-q",
        "--auth",
        "proxy",
        "--base-path",
        "/user/me/",
        "--allow-host",
        "hub.example.org",
    ];
    let server = Server::unknown(&mut command(&arguments));
    assert_eq!(
        server.address,
        format!("http://127.0.0.1:{}/user/me/", server.port)
    );
    let status =
        |target: &str, headers: &[(&str, &str)]| server.send("GET", target, headers, "").status;
    let host = ("Host", "hub.example.org:8000");
    let origin = ("Origin", "https://hub.example.org");
    assert_eq!(status("/user/me/t/0/meta", &[host, origin]), 200);
    // Some proxies take the base away.
    assert_eq!(status("/t/0/meta", &[host]), 200);
    assert_eq!(status("/user/me/t/0/meta", &[("Host", "example.org")]), 403);
    assert_eq!(
        status(
            "/user/me/t/0/meta",
            &[host, ("Origin", "https://example.org")]
        ),
        403
    );
    let moved = server.send("GET", "/user/me", &[host], "");
    assert_eq!((moved.status, moved.header("location")), (308, "/user/me/"));
    let page = server.send("GET", "/user/me/", &[host], "");
    assert!(
        page.header("content-security-policy")
            .ends_with("frame-ancestors 'self'")
    );
    // The page asks for addresses without the base, so that it works under any.
    assert!(!page.text().contains("\"/"), "{}", page.text());
    let login = server.send(
        "POST",
        "/user/me/login",
        &[host, ("Content-Length", "0")],
        "",
    );
    assert!(login.header("set-cookie").ends_with("Path=/user/me/"));
}

#[test]
fn answers_are_made_smaller_on_a_long_way_only() {
    let asks = [("Accept-Encoding", "gzip, deflate, br, zstd")];
    let near = Server::start(&[&sample(), "-q"]);
    let encoding = |server: &Server, headers: &[(&str, &str)]| {
        let mut headers = headers.to_vec();
        headers.push(("Cookie", &server.cookie));
        let reply = server.send("GET", "/t/0/picture?w=1000", &headers, "");
        assert_eq!(reply.status, 200);
        (reply.header("content-encoding").to_owned(), reply.body)
    };
    let (none, whole) = encoding(&near, &asks);
    assert_eq!(none, "");
    let ssh = "192.0.2.1 50000 192.0.2.2 22";
    let far = Server::of(command(&[&sample(), "-q"]).env("SSH_CONNECTION", ssh));
    assert_eq!(encoding(&far, &[]).0, "");
    let (gzip, smaller) = encoding(&far, &asks);
    assert_eq!(gzip, "gzip");
    let mut unpacked = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&smaller[..]);
    std::io::Read::read_to_end(&mut decoder, &mut unpacked).unwrap();
    assert_eq!(unpacked, whole);
}

/// With a program of the field's own, if it is there: what it sends is not what this test made up.
#[test]
fn refusals_as_curl_sees_them() {
    if Command::new("curl").arg("--version").output().is_err() {
        test_support::skip("no curl here");
        return;
    }
    let server = Server::start(&[&sample(), "-q"]);
    let at = |path: &str| format!("http://127.0.0.1:{}{path}", server.port);
    let status = |arguments: &[&str]| {
        let output = Command::new("curl")
            .args([
                "--noproxy",
                "*",
                "-s",
                "-o",
                "/dev/null",
                "-w",
                "%{http_code}",
            ])
            .args(arguments)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(status(&["-H", "Host: evil.com", &at("/")]), "403");
    assert_eq!(status(&[&at("/t/0/meta")]), "401");
    assert_eq!(
        status(&["-H", "Sec-Fetch-Site: cross-site", &at("/t/0/meta")]),
        "403"
    );
    assert_eq!(status(&["--path-as-is", &at("/../../etc/passwd")]), "404");
    assert_eq!(status(&["-X", "DELETE", &at("/")]), "405");
    assert_eq!(status(&["-b", &server.cookie, &at("/t/0/meta")]), "200");
}
