//! What a string means beyond being one: lexical tests without allocation that depend on nothing but the text.

use super::table::StringKind;

impl StringKind {
    /// Whether a string is of this kind.
    pub(crate) fn fits(self, value: &str) -> bool {
        match self {
            StringKind::Plain => true,
            StringKind::Name => !value.is_empty(),
            StringKind::AbsolutePath => is_absolute(value),
            StringKind::Uri => is_uri(value),
            StringKind::Base64 => is_base64(value),
            StringKind::DateTime => is_date_time(value),
            StringKind::Currency => value.len() == 3 && value.bytes().all(|b| b.is_ascii_uppercase()),
            StringKind::Icon => is_uri(value) && ICONS.iter().any(|scheme| has_scheme(value, scheme)),
        }
    }

    /// The name of the kind in an error.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            StringKind::Plain | StringKind::Name => "a string",
            StringKind::AbsolutePath => "an absolute path",
            StringKind::Uri => "a URI",
            StringKind::Base64 => "a base64 string",
            StringKind::DateTime => "an ISO 8601 date and time",
            StringKind::Currency => "an ISO 4217 currency code",
            StringKind::Icon => "an https: or data: URI",
        }
    }

    /// The name of a string that is not of this kind.
    pub(crate) const fn other(self) -> &'static str {
        match self {
            StringKind::AbsolutePath => "a relative path",
            _ => "another string",
        }
    }
}

/// POSIX (`/x`), drive letter (`C:\x`, `C:/x`) or UNC (`\\host\share`): the two sides may run on different systems.
pub(crate) fn is_absolute(path: &str) -> bool {
    match path.as_bytes() {
        [b'/', ..] | [b'\\', b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

fn is_uri(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        && !rest.bytes().any(|b| b <= b' ' || matches!(b, b'<' | b'>' | b'"' | 0x7f))
}

/// The schemes of images that a client may fetch.
const ICONS: &[&str] = &["https", "data"];

fn has_scheme(uri: &str, scheme: &str) -> bool {
    uri.split_once(':').is_some_and(|(own, _)| own.eq_ignore_ascii_case(scheme))
}

pub(crate) fn is_base64(value: &str) -> bool {
    let body = value.trim_end_matches('=');
    value.len() % 4 == 0
        && value.len() - body.len() <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'))
}

/// `2026-11-21T20:54:19.25+00:00`, also with a space or lower-case letters, without seconds, or the date only.
fn is_date_time(value: &str) -> bool {
    let digits = |text: &str, len: usize| text.len() == len && text.bytes().all(|b| b.is_ascii_digit());
    let in_range = |text: &str, low: u8, high: u8| {
        digits(text, 2) && text.parse::<u8>().is_ok_and(|number| (low..=high).contains(&number))
    };
    if !value.is_ascii() || value.len() < 10 {
        return false;
    }
    let (date, time) = value.split_at(10);
    let mut parts = date.split('-');
    let date_fits = parts.next().is_some_and(|year| digits(year, 4))
        && parts.next().is_some_and(|month| in_range(month, 1, 12))
        && parts.next().is_some_and(|day| in_range(day, 1, 31))
        && parts.next().is_none();
    if !date_fits || time.is_empty() {
        return date_fits;
    }
    let Some(time) = time.strip_prefix(['T', 't', ' ']) else { return false };
    let clock_end = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(clock_end);
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let clock_fits = parts.next().is_some_and(|hour| in_range(hour, 0, 24))
        && parts.next().is_some_and(|minute| in_range(minute, 0, 59))
        && parts.next().is_none_or(|second| in_range(second, 0, 60))
        && parts.next().is_none()
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit());
    let zone_fits = match zone.as_bytes() {
        [] | [b'Z' | b'z'] => true,
        _ => {
            let zone = &zone[1..];
            let (hour, minute) = zone.split_once(':').unwrap_or_else(|| zone.split_at(2.min(zone.len())));
            in_range(hour, 0, 23) && (minute.is_empty() || in_range(minute, 0, 59))
        }
    };
    clock_fits && zone_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_strings() {
        use StringKind::*;
        let cases: [(StringKind, &[&str], &[&str]); 7] = [
            (Name, &["a", " "], &[""]),
            (
                AbsolutePath,
                &["/", "/a b", "C:\\x", "c:/x", "\\\\host\\share"],
                &["", "a", "./a", "~/a", "C:x", "1:/x", "\\x"],
            ),
            (
                Uri,
                &["file:///x", "https://a.b/c?d#e", "urn:x", "zed+x.y-z:é"],
                &["", "x", "/x", "1a:b", ":x", "http://a b"],
            ),
            (Base64, &["", "QQ==", "QUI=", "QUJD", "+/+/"], &["Q", "QQ=", "QQ=A", "QQ======", "Q-_D"]),
            (
                DateTime,
                &[
                    "2026-11-21T20:54:19.254000+00:00",
                    "2026-11-21T20:54:19Z",
                    "2026-11-21 20:54",
                    "2026-11-21",
                    "2026-11-21t20:54:19-0530",
                ],
                &[
                    "",
                    "yesterday",
                    "2026-13-01",
                    "2026-11-21T",
                    "2026-11-21T25:00Z",
                    "2026-11-21T20:54:19.Z",
                    "20261121T205419Z",
                    "2026-11-21T20:54:19+",
                ],
            ),
            (Currency, &["EUR", "USD"], &["", "eur", "EURO", "E1R"]),
            (
                Icon,
                &["https://a.b/i.png", "HTTPS://a.b/i.png", "data:image/png;base64,QQ=="],
                &["", "http://a.b/i.png", "file:///i.png", "i.png", "https", "https://a b", "javascript:x"],
            ),
        ];
        for (kind, good, bad) in cases {
            for value in good {
                assert!(kind.fits(value), "{kind:?} {value}");
            }
            for value in bad {
                assert!(!kind.fits(value), "{kind:?} {value}");
            }
        }
    }
}
