//! Who may ask: the hosts that a server answers to, the origins of web pages, and a token.
//!
//! By default a server answers to names of this machine, and to no page but its own (HTTP-23, HTTP-24). A page of any site
//! can open a WebSocket to a server on the same machine, and a site can point its name at 127.0.0.1; the browser sends
//! `Origin` and `Host` with what the page can not change, and that is what is checked here.

use std::fmt;

/// The hosts and origins that a server accepts.
#[derive(Debug, Clone, Default)]
pub struct Allowed {
    hosts: Vec<(String, Option<u16>)>,
    origins: Vec<Origin>,
    any_host: bool,
}

/// The origin of a page: scheme, host and port.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
    /// As browsers write it.
    text: String,
}

impl Allowed {
    /// Loopback names alone, and only pages of the server itself.
    #[must_use]
    pub fn local() -> Self {
        Self::default()
    }

    /// Also answers to a host, such as `agents.example.com`. Without a port, any port is accepted. Returns `false` if the
    /// text is no host.
    pub fn host(&mut self, host: &str) -> bool {
        let host = split(host);
        self.hosts.extend(host.clone());
        host.is_some()
    }

    /// Also answers to any host, for servers behind a proxy that checks it.
    pub fn any_host(&mut self) {
        self.any_host = true;
    }

    /// Also serves the pages of an origin, such as `https://editor.example.com`. Returns `false` if the text is no origin.
    pub fn origin(&mut self, origin: &str) -> bool {
        let origin = Origin::read(origin);
        self.origins.extend(origin.clone());
        origin.is_some()
    }

    /// Whether the value of `Host` (`:authority` in HTTP/2) names this server (HTTP-24).
    pub(crate) fn accepts_host(&self, host: &str) -> bool {
        let Some((name, port)) = split(host) else { return false };
        let listed =
            |(other, only): &(String, Option<u16>)| *other == name && only.is_none_or(|only| Some(only) == port);
        self.any_host || is_loopback(&name) || self.hosts.iter().any(listed)
    }

    /// Whether a page of this origin may use the server, which was asked under `host` (HTTP-23).
    pub(crate) fn accepts_origin(&self, origin: &str, host: &str) -> Accepted<'_> {
        let Some(origin) = Origin::read(origin) else { return Accepted::No };
        if let Some(listed) = self.origins.iter().find(|listed| listed.is(&origin)) {
            return Accepted::Foreign(&listed.text);
        }
        // A page that comes from the same host and port is the server's own. A proxy may end TLS, so the scheme is not
        // known; the port that it implies is.
        let own = split(host).is_some_and(|(name, port)| {
            name == origin.host && port.or(origin.default_port()) == origin.port.or(origin.default_port())
        });
        if own {
            Accepted::Own
        } else {
            Accepted::No
        }
    }
}

/// What becomes of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Accepted<'a> {
    No,
    /// It is a page of the server itself.
    Own,
    /// It is listed, and browsers need to be told so, in these words.
    Foreign(&'a str),
}

impl Origin {
    fn read(text: &str) -> Option<Self> {
        let (scheme, host) = text.split_once("://")?;
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let (name, port) = split(host)?;
        if scheme.is_empty() || !scheme.bytes().all(letter) {
            return None;
        }
        let origin = Origin { scheme: scheme.to_ascii_lowercase(), host: name, port, text: text.to_ascii_lowercase() };
        Some(origin)
    }

    fn default_port(&self) -> Option<u16> {
        match &*self.scheme {
            "http" | "ws" => Some(80),
            "https" | "wss" => Some(443),
            _ => None,
        }
    }

    fn is(&self, other: &Self) -> bool {
        let port = |origin: &Self| origin.port.or(origin.default_port());
        self.scheme == other.scheme && self.host == other.host && port(self) == port(other)
    }
}

/// A host in lower case, and its port.
fn split(host: &str) -> Option<(String, Option<u16>)> {
    let at = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, port) = host.split_at(at);
    let port = match port.strip_prefix(':') {
        // RFC 3986 lets a port be empty, which is the usual one.
        Some("") => None,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
        None if port.is_empty() => None,
        _ => return None,
    };
    let bracketed = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let fits = match bracketed {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')),
    };
    let name = name.strip_suffix('.').unwrap_or(name);
    (fits && !name.is_empty()).then(|| (name.to_ascii_lowercase(), port))
}

/// Whether a name always means this machine.
fn is_loopback(name: &str) -> bool {
    let address = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    let is = |address: std::net::IpAddr| address.to_canonical().is_loopback();
    name == "localhost" || name.ends_with(".localhost") || address.parse().is_ok_and(is)
}

/// A secret that requests have to carry: `Authorization: Bearer TOKEN` (HTTP-25). Debug output does not show it.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token of visible ASCII characters; `None` for any other text.
    pub fn new(token: &str) -> Option<Self> {
        super::head::fits_header(token, 4096).then(|| Token(token.into()))
    }

    /// Whether the value of `Authorization` has it. The time that this takes says nothing about the token but its length.
    pub(crate) fn is_in(&self, authorization: &str) -> bool {
        let given = authorization.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        given.is_some_and(|(_, given)| same(given.trim_start().as_bytes(), self.0.as_bytes()))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Compares in a time that depends on the lengths alone.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differs = one.iter().zip(other).fold(0, |differs, (one, other)| differs | (one ^ other));
    // Without this, the compiler may see that one difference decides, and stop there.
    std::hint::black_box(differs) == 0 && one.len() == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Allowed {
        let mut allowed = Allowed::local();
        assert!(allowed.host("Agents.example.com") && allowed.host("10.0.0.7:8080"));
        assert!(allowed.origin("https://Editor.example.com") && allowed.origin("vscode-webview://abc"));
        for wrong in ["", "a b", "a/b", "a:x", "[::1", "[x]", "é"] {
            assert!(!allowed.host(wrong), "{wrong}");
            assert!(!allowed.origin(&format!("http://{wrong}")), "{wrong}");
        }
        assert!(!allowed.origin("null") && !allowed.origin("://x"));
        allowed
    }

    #[test]
    fn only_names_of_this_machine_are_hosts() {
        let yes = [
            "localhost",
            "LOCALHOST:80",
            "localhost:",
            "localhost.",
            "a.localhost:1",
            "127.0.0.1:7332",
            "127.9.9.9",
            "[::1]:5",
        ];
        let mapped = ["[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]"];
        let no = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil:80", "0.0.0.0", "[::]", ""];
        let odd = ["localhost:x", "localhost:99999", "localhost:80:80", "user@localhost", "localhost/"];
        let local = Allowed::local();
        for host in yes.iter().chain(&mapped) {
            assert!(local.accepts_host(host), "{host}");
        }
        for host in no.iter().chain(&odd) {
            assert!(!local.accepts_host(host), "{host}");
        }
    }

    #[test]
    fn listed_hosts_are_answered() {
        let mut allowed = listed();
        for host in ["agents.example.com", "agents.example.com:444", "10.0.0.7:8080", "localhost"] {
            assert!(allowed.accepts_host(host), "{host}");
        }
        for host in ["10.0.0.7", "10.0.0.7:8081", "x.agents.example.com", "example.com"] {
            assert!(!allowed.accepts_host(host), "{host}");
        }
        allowed.any_host();
        assert!(allowed.accepts_host("evil.example") && !allowed.accepts_host("a b"));
    }

    #[test]
    fn foreign_pages_are_refused() {
        let allowed = listed();
        let origin = |origin: &str, host: &str| allowed.accepts_origin(origin, host);
        assert_eq!(origin("http://localhost:7332", "localhost:7332"), Accepted::Own);
        assert_eq!(origin("https://localhost", "LOCALHOST:443"), Accepted::Own);
        assert_eq!(origin("http://[::1]:80", "[::1]"), Accepted::Own);
        assert_eq!(
            origin("https://editor.example.com:443", "localhost"),
            Accepted::Foreign("https://editor.example.com")
        );
        assert_eq!(origin("vscode-webview://ABC", "localhost"), Accepted::Foreign("vscode-webview://abc"));
        for (foreign, host) in [
            ("http://evil.example", "localhost:7332"),
            ("http://localhost:3000", "localhost:7332"),
            ("http://127.0.0.1:7332", "localhost:7332"),
            ("http://editor.example.com", "localhost"),
            ("https://editor.example.com.evil.example", "localhost"),
            ("https://editor.example.com:8443", "localhost"),
            ("null", "localhost"),
            ("", "localhost"),
            ("localhost", "localhost"),
            ("http://localhost, http://evil.example", "localhost"),
            ("http://localhost/", "localhost"),
        ] {
            assert_eq!(origin(foreign, host), Accepted::No, "{foreign}");
        }
    }

    #[test]
    fn a_token_is_compared_whole_and_not_shown() {
        let token = Token::new("s3cret").unwrap();
        assert!(token.is_in("Bearer s3cret") && token.is_in("bearer  s3cret"));
        for wrong in
            ["", "s3cret", "Basic s3cret", "Bearer", "Bearer ", "Bearer s3cre", "Bearer s3crets", "Bearer S3cret"]
        {
            assert!(!token.is_in(wrong), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert!(Token::new("").is_none() && Token::new("a b").is_none());
    }
}
