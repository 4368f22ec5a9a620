//! Sets of protocol versions.

use std::fmt;

use crate::text::joined;

/// The protocol versions that this library supports, oldest first.
pub const VERSIONS: &[u16] = &[1, 2];

/// A non-empty set of the protocol versions that this library supports.
///
/// ```
/// use libacp::connection::{Config, Versions};
///
/// let mut config = Config::client();
/// assert_eq!(config.versions, Versions::only(1));
/// config.versions = config.versions.with(2);
/// assert_eq!(config.versions.newest(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Versions(u16);

/// The bit of a version, or 0 if the library does not support it.
const fn bit(version: u16) -> u16 {
    let mut at = 0;
    while at < VERSIONS.len() {
        if VERSIONS[at] == version {
            return 1 << version;
        }
        at += 1;
    }
    0
}

impl Versions {
    /// All versions that this library supports.
    pub const ALL: Self = {
        let (mut all, mut at) = (Versions::only(VERSIONS[0]), 1);
        while at < VERSIONS.len() {
            (all, at) = (all.with(VERSIONS[at]), at + 1);
        }
        all
    };

    /// A set of one version. In a constant, an unsupported version is a compile error.
    ///
    /// # Panics
    /// If the library does not support the version. [`of`](Self::of) does not panic.
    #[must_use]
    pub const fn only(version: u16) -> Self {
        let bit = bit(version);
        assert!(bit != 0, "there is no such version of the protocol");
        Versions(bit)
    }

    /// This set and one more version. In a constant, an unsupported version is a compile error.
    ///
    /// # Panics
    /// If the library does not support the version. [`of`](Self::of) does not panic.
    #[must_use]
    pub const fn with(self, version: u16) -> Self {
        Versions(self.0 | Versions::only(version).0)
    }

    /// The set of the versions in a list, which may contain duplicates.
    ///
    /// # Errors
    /// [`NoVersions`] if the list is empty or contains an unsupported version.
    pub fn of(numbers: impl IntoIterator<Item = i64>) -> Result<Self, NoVersions> {
        let mut all = 0;
        for number in numbers {
            match u16::try_from(number).map(bit) {
                Ok(0) | Err(_) => return Err(NoVersions::Unknown(number)),
                Ok(bit) => all |= bit,
            }
        }
        if all == 0 {
            return Err(NoVersions::Empty);
        }
        Ok(Versions(all))
    }

    /// Whether a version is in the set.
    #[must_use]
    pub const fn contains(self, version: u16) -> bool {
        self.0 & bit(version) != 0
    }

    /// The versions in the set, oldest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = u16> {
        VERSIONS.iter().copied().filter(move |&version| self.contains(version))
    }

    /// The highest version in the set.
    #[must_use]
    pub const fn newest(self) -> u16 {
        // At least one bit is set.
        self.0.ilog2() as u16
    }

    /// The lowest version in the set.
    #[must_use]
    pub const fn oldest(self) -> u16 {
        self.0.trailing_zeros() as u16
    }

    /// The highest version in the set that is not above `version`.
    #[must_use]
    pub fn up_to(self, version: u16) -> Option<u16> {
        self.iter().rfind(|&own| own <= version)
    }
}

/// Version 1 alone.
impl Default for Versions {
    fn default() -> Self {
        Versions::only(1)
    }
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        f.write_str(&listed(self.iter()))?;
        f.write_str("}")
    }
}

fn listed(versions: impl Iterator<Item = u16>) -> String {
    joined(&versions.map(|version| version.to_string()).collect::<Vec<_>>(), ", ")
}

/// Why a list of numbers is not a set of [versions](Versions).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoVersions {
    /// The list is empty.
    #[error("expected at least one version of the protocol, of [{all}]", all = listed(VERSIONS.iter().copied()))]
    Empty,
    /// The library does not support this version.
    #[error("there is no version {0} of the protocol, only [{all}]", all = listed(VERSIONS.iter().copied()))]
    Unknown(i64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_in() {
        let both = Versions::only(2).with(1);
        assert_eq!((both, both.newest(), both.oldest()), (Versions::ALL, 2, 1));
        assert_eq!(format!("{both:?} {:?}", Versions::only(2)), "{1, 2} {2}");
        assert_eq!(both.iter().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(
            [0, 1, 2, 3, 16, 17, u16::MAX].map(|version| both.contains(version)),
            [false, true, true, false, false, false, false]
        );
        assert_eq!([0, 1, 2, 9].map(|version| both.up_to(version)), [None, Some(1), Some(2), Some(2)]);
        assert_eq!([0, 1, 2, 9].map(|version| Versions::only(2).up_to(version)), [None, None, Some(2), Some(2)]);
    }

    #[test]
    fn a_list_is_of_versions_that_there_are() {
        assert_eq!(Versions::of([2, 1, 2]), Ok(Versions::ALL));
        assert_eq!(Versions::of([2]), Ok(Versions::only(2)));
        assert_eq!(Versions::of([]), Err(NoVersions::Empty));
        for wrong in [0, 3, 16, 17, -1, 65_537, i64::MAX] {
            let error = Versions::of([1, wrong]).unwrap_err();
            assert_eq!(error, NoVersions::Unknown(wrong));
            assert_eq!(error.to_string(), format!("there is no version {wrong} of the protocol, only [1, 2]"));
        }
    }
}
