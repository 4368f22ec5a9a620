//! The cookies of one origin, for hosts whose HTTP library keeps none (HTTP-16, WS-06).
//!
//! A jar lives as long as its connection, so there is no calendar in it: `Max-Age` counts from when a cookie came, and
//! `Expires` matters only where its year says that the cookie is to be removed.

use std::fmt;

/// Cookies of one jar.
const MOST: usize = 64;
/// Bytes of one cookie, of its name and its value.
const LONGEST: usize = 4096;

struct Cookie {
    name: String,
    value: String,
    path: String,
    /// In milliseconds; never for `None`.
    until: Option<u64>,
}

/// Cookies of one origin. Their values never appear in its debug output.
#[derive(Default)]
pub struct Jar {
    /// The host of the origin, in lower case, without the port.
    host: String,
    secure: bool,
    cookies: Vec<Cookie>,
}

impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.cookies.iter().map(|cookie| &cookie.name).collect();
        f.debug_struct("Jar").field("host", &self.host).field("cookies", &names).finish_non_exhaustive()
    }
}

impl Jar {
    /// An empty jar for the host of an address, without its port. `secure` says whether its scheme is `https` or `wss`.
    pub fn new(host: &str, secure: bool) -> Self {
        Jar { host: host.to_ascii_lowercase(), secure, cookies: Vec::new() }
    }

    /// Takes the value of one `Set-Cookie` header of a response to a request for `path`. `now` is in milliseconds.
    /// A cookie that is malformed, for another host, or secure on a connection that is not, is not taken.
    pub fn set(&mut self, header: &[u8], path: &str, now: u64) {
        let Some(header) = std::str::from_utf8(header).ok().filter(|text| text.len() <= 2 * LONGEST) else { return };
        let mut parts = header.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        let (name, value) = (name.trim(), value.trim());
        let fits = |text: &str| text.bytes().all(|byte| (0x21..0x7f).contains(&byte) || byte == b' ');
        if name.is_empty() || name.len() + value.len() > LONGEST || !fits(name) || !fits(value) {
            return;
        }
        let mut cookie = Cookie { name: name.into(), value: value.into(), path: directory(path).into(), until: None };
        let (mut secure, mut domain, mut rooted) = (false, false, false);
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "secure" => secure = true,
                "path" if value.starts_with('/') && fits(value) => {
                    cookie.path = value.into();
                    rooted = value == "/";
                }
                "domain" => {
                    if !self.is_in(value.trim_start_matches('.')) {
                        return;
                    }
                    domain = true;
                }
                "max-age" => cookie.until = lifetime(value, now).or(cookie.until),
                "expires" if cookie.until.is_none() && is_past(value) => cookie.until = Some(0),
                _ => {}
            }
        }
        let prefixed = (name.starts_with("__Secure-") && !secure)
            || (name.starts_with("__Host-") && (!secure || domain || !rooted));
        if prefixed || (secure && !self.secure) {
            return;
        }
        self.cookies.retain(|known| known.name != cookie.name || known.path != cookie.path);
        self.expire(now);
        if cookie.until.is_none_or(|until| until > now) {
            if self.cookies.len() >= MOST {
                self.cookies.remove(0);
            }
            self.cookies.push(cookie);
        }
    }

    /// The value of the header `Cookie` for a request for `path`; `None` if there are no cookies for it.
    pub fn header(&mut self, path: &str, now: u64) -> Option<String> {
        self.expire(now);
        let mut fitting: Vec<&Cookie> = self.cookies.iter().filter(|cookie| covers(&cookie.path, path)).collect();
        // Longer paths first; the sort is stable, so older ones come first among equals.
        fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<String> = fitting.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    fn expire(&mut self, now: u64) {
        self.cookies.retain(|cookie| cookie.until.is_none_or(|until| until > now));
    }

    /// Whether the host is this domain, or in it. An address is in no domain.
    fn is_in(&self, domain: &str) -> bool {
        let domain = domain.to_ascii_lowercase();
        let address = self.host.starts_with('[') || self.host.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
        let below = || self.host.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.'));
        // A domain of one word is one that everybody shares.
        self.host == domain || (!address && domain.contains('.') && below())
    }
}

/// When a cookie with this `Max-Age` ends.
fn lifetime(value: &str, now: u64) -> Option<u64> {
    let digits = value.strip_prefix('-').unwrap_or(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let seconds = if value.starts_with('-') { 0 } else { digits.parse().unwrap_or(u64::MAX) };
    Some(if seconds == 0 { 0 } else { now.saturating_add(seconds.saturating_mul(1000)) })
}

/// Whether a date is in the last century, which is how servers remove a cookie.
fn is_past(date: &str) -> bool {
    let mut words = date.split([' ', '-', ',']);
    words.any(|word| word.len() == 4 && word.parse().is_ok_and(|year: u16| year < 2000))
}

/// The part of a path up to its last slash.
fn directory(path: &str) -> &str {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match path.rfind('/') {
        Some(at) if at > 0 && path.starts_with('/') => &path[..at],
        _ => "/",
    }
}

/// Whether a cookie of one path is sent for another.
fn covers(cookie: &str, path: &str) -> bool {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    path.strip_prefix(cookie).is_some_and(|rest| rest.is_empty() || cookie.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jar(cookies: &[&str]) -> Jar {
        let mut jar = Jar::new("agents.Example.com", true);
        for cookie in cookies {
            jar.set(cookie.as_bytes(), "/acp", 1000);
        }
        jar
    }

    fn sent(cookies: &[&str]) -> Option<String> {
        jar(cookies).header("/acp", 1000)
    }

    #[test]
    fn cookies_come_back() {
        assert_eq!(sent(&[]), None);
        assert_eq!(sent(&["a=1; Path=/; HttpOnly; SameSite=Lax", "b = \"2=3\""]).unwrap(), "a=1; b=\"2=3\"");
        assert_eq!(sent(&["a=1", "a=2"]).unwrap(), "a=2");
        assert_eq!(sent(&["a=1; path=/", "b=2; path=/acp"]).unwrap(), "b=2; a=1");
        for taken in ["a=1; Domain=example.com", "a=1; domain=.agents.example.com", "__Host-a=1; Secure; Path=/"] {
            assert!(sent(&[taken]).is_some(), "{taken}");
        }
        for refused in [
            "a",
            "=1",
            "a=1; Domain=evil.com",
            "a=1; Domain=com",
            "a=1; Domain=ample.com",
            "a=1\r\n2",
            "a=é",
            "__Secure-a=1",
            "__Host-a=1; Secure; Path=/x",
            "a=1; Path=/other",
            "a=1; Path=/ac",
        ] {
            assert_eq!(sent(&[refused]), None, "{refused}");
        }
        let long = format!("a={}", "x".repeat(LONGEST));
        assert_eq!(sent(&[&long]), None);
    }

    #[test]
    fn cookies_end() {
        let mut jar = jar(&["a=1; Max-Age=2", "b=1; max-age=99999999999999999999999", "c=1; max-age=x"]);
        assert_eq!(jar.header("/acp", 2999).unwrap(), "a=1; b=1; c=1");
        assert_eq!(jar.header("/acp", 3000).unwrap(), "b=1; c=1");
        jar.set(b"b=; Max-Age=0", "/acp", 3000);
        jar.set(b"c=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "/acp", 3000);
        assert_eq!(jar.header("/acp", 3000), None);
        jar.set(b"d=1; Max-Age=-5", "/acp", 3000);
        jar.set(b"e=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "/acp", 3000);
        assert_eq!(jar.header("/acp", 3000).unwrap(), "e=1");
    }

    #[test]
    fn a_secure_cookie_needs_a_secure_connection() {
        let mut jar = Jar::new("127.0.0.1", false);
        jar.set(b"a=1; Secure", "/acp", 0);
        jar.set(b"b=1; Domain=0.0.1", "/acp", 0);
        assert_eq!(jar.header("/acp", 0), None);
    }

    #[test]
    fn a_jar_is_bounded_and_keeps_its_secrets() {
        let mut jar = Jar::new("localhost", false);
        for at in 0..=MOST {
            jar.set(format!("n{at}=secret").as_bytes(), "/a/b", 0);
        }
        assert_eq!(jar.cookies.len(), MOST);
        assert!(!format!("{jar:?}").contains("secret"));
        assert_eq!(jar.header("/other", 0), None);
        assert!(jar.header("/a/c?d", 0).unwrap().starts_with("n1="));
    }
}
