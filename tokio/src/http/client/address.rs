//! What an agent is reached by.

use std::fmt;

use http::uri::{Authority, Scheme};
use http::Uri;

/// A target that is neither a command nor an address that is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadTarget(pub(super) &'static str);

impl fmt::Display for BadTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is no command and no address of an agent: {}", self.0)
    }
}

impl std::error::Error for BadTarget {}

/// An address of HTTP or WebSocket.
#[derive(Debug, Clone)]
pub(super) struct Address {
    uri: Uri,
    /// In lower case, whichever was written (RFC 3986).
    scheme: &'static str,
    authority: Authority,
    pub(super) secure: bool,
    pub(super) websocket: bool,
}

/// The schemes: whether each is encrypted, and whether it is that of WebSocket.
const SCHEMES: &[(&str, bool, bool)] =
    &[("http", false, false), ("https", true, false), ("ws", false, true), ("wss", true, true)];

impl Address {
    pub(super) fn read(text: &str) -> Result<Self, BadTarget> {
        let uri: Uri = text.trim().parse().map_err(|_| BadTarget("it cannot be read"))?;
        let scheme = uri.scheme().map(Scheme::as_str).unwrap_or_default();
        let known = SCHEMES.iter().find(|(name, ..)| name.eq_ignore_ascii_case(scheme));
        let (scheme, secure, websocket) = *known.ok_or(BadTarget("the scheme is not http, https, ws or wss"))?;
        let authority = uri.authority().cloned().ok_or(BadTarget("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(BadTarget("credentials do not belong into an address; set a header"));
        }
        Ok(Address { uri, scheme, authority, secure, websocket })
    }

    /// The host without its port and without brackets.
    pub(super) fn host(&self) -> &str {
        self.authority.host().trim_matches(['[', ']'])
    }

    pub(super) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(if self.secure { 443 } else { 80 })
    }

    /// The path and the query.
    pub(super) fn target(&self) -> &str {
        self.uri.path_and_query().map_or("/", |target| target.as_str())
    }

    /// The address of a request.
    pub(super) fn to(&self, target: &str) -> Result<Uri, http::Error> {
        Uri::builder().scheme(self.scheme).authority(self.authority.clone()).path_and_query(target).build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let read = |text: &str| {
            let it = Address::read(text).unwrap();
            (it.host().to_owned(), it.port(), it.target().to_owned(), it.secure, it.websocket)
        };
        assert_eq!(read("http://localhost:7332/acp"), ("localhost".into(), 7332, "/acp".into(), false, false));
        assert_eq!(read("https://a.example/x?y=z"), ("a.example".into(), 443, "/x?y=z".into(), true, false));
        assert_eq!(read(" ws://[::1]/acp "), ("::1".into(), 80, "/acp".into(), false, true));
        assert_eq!(read("WSS://a.example"), ("a.example".into(), 443, "/".into(), true, true));
        for wrong in ["ftp://a/", "http://", "//a", "http://a b/", "http://user:secret@a/", "/acp", ""] {
            let error = Address::read(wrong).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
