//! Admission of requests: they need the token, and must come from a page of this server.
//!
//! Other users of the machine can connect to the port, and any page in the user's browser can send requests to it. Against
//! the former stands the token, which the page exchanges for a cookie; against the latter the checks of Host (a name that
//! somebody else's name server lets point here), Sec-Fetch-Site and Origin (requests that another page makes), and that no
//! answer has a CORS header.

use crate::system::random;
use hyper::header::{COOKIE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{Method, StatusCode, Uri};

/// Names under which a browser reaches this machine.
const OWN_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const DESTINATION: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// Why a request is refused.
pub type Refused = (StatusCode, String);

/// Rules by which requests are admitted.
pub struct AccessRules {
    /// Token that the page has to know; none where a proxy authenticates users.
    token: Option<String>,
    /// Name and value of the cookie, as a browser sends them.
    cookie: (String, String),
    /// Other names that requests may come under, with or without a port.
    hosts: Vec<String>,
}

impl AccessRules {
    /// Makes up a token, unless a proxy logs users in. Cookies are the same for all ports of a host, so `place`, a port for
    /// instance, goes into the name, and something random, because through ssh servers of two machines can be behind one.
    pub fn new(place: &str, hosts: Vec<String>, is_proxied: bool) -> std::io::Result<Self> {
        let name = format!("mpitrace-{place}-{}", random::digits::<4>()?);
        Ok(AccessRules {
            token: if is_proxied {
                None
            } else {
                Some(random::digits::<16>()?)
            },
            cookie: (name, random::digits::<16>()?),
            hosts,
        })
    }

    /// Fragment to append to the address of the page. Browsers do not send it to any server.
    pub fn fragment(&self) -> String {
        let token = self.token.as_ref();
        token.map_or(String::new(), |token| format!("#k={token}"))
    }

    /// Whether a proxy logs users in.
    pub fn is_proxied(&self) -> bool {
        self.token.is_none()
    }

    /// Refuses what does not come from a page of this server.
    ///
    /// `is_page` is whether the page itself is asked for: a link to it may stand anywhere, and it tells nothing.
    pub fn check_origin(
        &self,
        uri: &Uri,
        headers: &HeaderMap,
        is_page: bool,
    ) -> Result<(), Refused> {
        let refuse = |what: String| Err((StatusCode::FORBIDDEN, what));
        let Some(host) = single(headers, &HOST) else {
            return refuse("expected one Host header".into());
        };
        if !self.is_own(host) {
            return refuse(format!(
                "Host is {host:?}: expected localhost, 127.0.0.1, [::1] or what --allow-host names"
            ));
        }
        if uri.authority().is_some_and(|to| !self.is_own(to.as_str())) {
            return refuse("the request line names another host".into());
        }
        let is = |name: &HeaderName, value: &str| single(headers, name) == Some(value);
        let is_visit = is_page && is(&MODE, "navigate") && is(&DESTINATION, "document");
        let is_foreign =
            headers.contains_key(&SITE) && !is(&SITE, "same-origin") && !is(&SITE, "none");
        if is_foreign && !is_visit {
            return refuse("Sec-Fetch-Site: requests of other pages are refused".into());
        }
        if headers.contains_key(&ORIGIN) {
            let origin = single(headers, &ORIGIN).unwrap_or_default();
            let from = origin
                .strip_prefix("http://")
                .or(origin.strip_prefix("https://"));
            let is_same = |from: &str| {
                // A proxy may have put another name into Host, but not into Origin.
                from.eq_ignore_ascii_case(host) || is_one_of(from, &self.hosts)
            };
            if !from.is_some_and(is_same) {
                return refuse(format!(
                    "Origin is {origin:?}: expected that of this server"
                ));
            }
        }
        Ok(())
    }

    /// Whether a Host header is one of ours: exactly, whatever the port, which is another one behind `ssh -L`.
    fn is_own(&self, host: &str) -> bool {
        let own = split_port(host)
            .is_some_and(|(name, _)| OWN_NAMES.iter().any(|own| name.eq_ignore_ascii_case(own)));
        own || is_one_of(host, &self.hosts)
    }

    /// Refuses requests without the cookie.
    pub fn check_cookie(&self, headers: &HeaderMap) -> Result<(), Refused> {
        let (name, value) = &self.cookie;
        let cookies = headers.get_all(COOKIE).iter();
        let mut pairs = cookies
            .filter_map(|header| header.to_str().ok())
            .flat_map(|header| header.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        if self.is_proxied() || pairs.any(|pair| pair.0 == name && same(pair.1, value)) {
            return Ok(());
        }
        let what = "not logged in: open the address that mpitrace view has printed, with what is behind its #";
        Err((StatusCode::UNAUTHORIZED, what.into()))
    }

    /// The Set-Cookie header for whoever posts the token; `base` is the path below which it is sent.
    pub fn log_in(&self, posted: &str, base: &str) -> Result<HeaderValue, Refused> {
        let right = self.token.as_deref();
        if right.is_some_and(|right| !same(posted.trim(), right)) {
            let what = "this is not the token that mpitrace view has printed";
            return Err((StatusCode::UNAUTHORIZED, what.into()));
        }
        let (name, value) = &self.cookie;
        let cookie = format!("{name}={value}; HttpOnly; SameSite=Strict; Path={base}");
        HeaderValue::try_from(cookie)
            .map_err(|_| (StatusCode::INTERNAL_SERVER_ERROR, "no cookie".into()))
    }
}

/// Refuses methods that change something, but POST where it is meant: with the token, and to open a trace again.
pub fn check_method(method: &Method, is_post: bool) -> Result<(), Refused> {
    let expected = if is_post { "POST" } else { "GET, HEAD" };
    let is_right = match is_post {
        true => method == Method::POST,
        false => method == Method::GET || method == Method::HEAD,
    };
    if is_right {
        return Ok(());
    }
    Err((StatusCode::METHOD_NOT_ALLOWED, expected.into()))
}

/// A header that is there once, as text.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    value.to_str().ok().filter(|_| values.next().is_none())
}

/// Name and port of a Host header, if it is one.
fn split_port(host: &str) -> Option<(&str, Option<u16>)> {
    let end = match host.strip_prefix('[') {
        Some(inner) => inner.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, rest) = host.split_at(end);
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((name, None)),
        Some(port) if port.bytes().all(|digit| digit.is_ascii_digit()) => {
            Some((name, Some(port.parse().ok()?)))
        }
        _ => None,
    }
}

/// Whether a host is in the list: with the port that stands there, or with any.
fn is_one_of(host: &str, list: &[String]) -> bool {
    let name = split_port(host).map(|(name, _)| name);
    list.iter().any(|allowed| {
        host.eq_ignore_ascii_case(allowed)
            || name.is_some_and(|name| name.eq_ignore_ascii_case(allowed))
    })
}

/// Whether two secrets are equal, in a time that does not depend on how much of them is.
fn same(given: &str, right: &str) -> bool {
    let differing = given
        .bytes()
        .zip(right.bytes())
        .fold(0, |sum, (a, b)| sum | (a ^ b));
    given.len() == right.len() && differing == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(hosts: &[&str]) -> AccessRules {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        AccessRules::new("1", hosts, false).unwrap()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    fn admits(access: &AccessRules, pairs: &[(&'static str, &str)]) -> bool {
        let uri = Uri::from_static("/t/0/meta");
        access.check_origin(&uri, &headers(pairs), false).is_ok()
    }

    #[test]
    fn hosts_are_compared_whole() {
        let access = access(&["hub.example.org", "front:8443"]);
        for host in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:65535",
            "hub.example.org",
            "hub.example.org:8000",
            "front:8443",
        ] {
            assert!(admits(&access, &[("host", host)]), "{host}");
        }
        for host in [
            "",
            "127.0.0.1.evil.com",
            "localhost.evil.com:80",
            "evil.com",
            "localhost:80:80",
            "localhost:x",
            "localhost:99999",
            "localhost@evil.com",
            "evil.com#localhost",
            "[::1",
            "[::1]x",
            "[::2]",
            "127.0.0.2",
            "front",
            "front:80",
            "xhub.example.org",
        ] {
            assert!(!admits(&access, &[("host", host)]), "{host}");
        }
        assert!(!admits(&access, &[]));
        assert!(!admits(
            &access,
            &[("host", "localhost"), ("host", "localhost")]
        ));
        let uri = Uri::from_static("http://evil.com/t/0/meta");
        let headers = headers(&[("host", "localhost")]);
        assert!(access.check_origin(&uri, &headers, false).is_err());
    }

    #[test]
    fn requests_of_other_pages_are_refused() {
        let access = access(&["hub.example.org"]);
        let with = |name, value| admits(&access, &[("host", "localhost:8000"), (name, value)]);
        assert!(with("sec-fetch-site", "same-origin"));
        assert!(with("sec-fetch-site", "none"));
        assert!(!with("sec-fetch-site", "cross-site"));
        assert!(!with("sec-fetch-site", "same-site"));
        assert!(with("origin", "http://localhost:8000"));
        assert!(with("origin", "https://hub.example.org"));
        for origin in [
            "http://localhost",
            "http://localhost:8001",
            "http://evil.com",
            "https://hub.example.org.evil.com",
            "null",
            "",
        ] {
            assert!(!with("origin", origin), "{origin}");
        }
        // The page itself may be visited from anywhere, but not be asked for by a script.
        let visit = |mode, destination| {
            let headers = headers(&[
                ("host", "localhost"),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", mode),
                ("sec-fetch-dest", destination),
            ]);
            access
                .check_origin(&Uri::from_static("/"), &headers, true)
                .is_ok()
        };
        assert!(visit("navigate", "document"));
        assert!(!visit("navigate", "iframe") && !visit("cors", "empty"));
    }

    #[test]
    fn the_cookie_is_for_those_who_know_the_token() {
        let access = access(&[]);
        let token = access.fragment().strip_prefix("#k=").unwrap().to_owned();
        assert_eq!(token.len(), 32);
        for wrong in ["", "0", &token[1..], &format!("{token}0")] {
            assert_eq!(access.log_in(wrong, "/").unwrap_err().0, 401, "{wrong}");
        }
        let cookie = access.log_in(&token, "/x/").unwrap();
        let cookie = cookie.to_str().unwrap();
        assert!(
            cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/x/"),
            "{cookie}"
        );
        let pair = cookie.split(';').next().unwrap();
        let check = |cookie: &str| access.check_cookie(&headers(&[("cookie", cookie)])).is_ok();
        assert!(check(pair) && check(&format!("a=b; {pair}; c=d")));
        assert!(!check(&format!("{pair}0")) && !check(&pair[..pair.len() - 1]) && !check(""));
        // Neither the token itself nor another server's cookie will do.
        let (name, value) = pair.split_once('=').unwrap();
        assert!(!check(&format!("{name}={token}")) && !check(&format!("x{name}={value}")));
    }
}
