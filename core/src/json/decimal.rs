//! Numbers by their digits: exact, and without the ten kilobytes of tables that the standard library's parser of
//! doubles needs.

/// A number as its sign and `0.digits` times ten to an exponent. Comparing these compares the numbers.
#[derive(Debug)]
pub(crate) struct Decimal {
    negative: bool,
    size: (i64, String),
}

impl Decimal {
    /// The number in a JSON value, if it is a number.
    pub(crate) fn read(value: &str) -> Option<Self> {
        if !value.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            return None;
        }
        let (mantissa, exponent) = value.split_once(['e', 'E']).unwrap_or((value, "0"));
        let huge = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
        let exponent: i64 = exponent.parse().unwrap_or(huge);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let whole = whole.trim_start_matches(['-', '0']);
        let all = whole.to_owned() + fraction;
        let digits = all.trim_start_matches('0');
        let count = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let place = count(whole).saturating_sub(count(&all) - count(digits)).saturating_add(exponent);
        let negative = mantissa.starts_with('-') && !digits.is_empty();
        let place = if digits.is_empty() { i64::MIN } else { place };
        Some(Decimal { negative, size: (place, digits.trim_end_matches('0').to_owned()) })
    }

    pub(crate) fn is_below(&self, other: &Decimal) -> bool {
        match (self.negative, other.negative) {
            (false, false) => self.size < other.size,
            (true, true) => other.size < self.size,
            (negative, _) => negative,
        }
    }

    /// Whether it fits a double.
    pub(crate) fn is_finite(&self) -> bool {
        self.size < (309, "17976931348623159".to_owned())
    }

    /// The plain digits, if it is an integer of at most twenty digits.
    pub(crate) fn plain(&self) -> Option<String> {
        let (place, digits) = &self.size;
        if digits.is_empty() {
            return Some("0".to_owned());
        }
        let places = usize::try_from(*place).ok().filter(|places| (digits.len()..=20).contains(places))?;
        let sign = if self.negative { "-" } else { "" };
        Some(format!("{sign}{digits}{}", "0".repeat(places - digits.len())))
    }

    /// Whether it is an integer.
    pub(crate) fn is_whole(&self) -> bool {
        let (place, digits) = &self.size;
        digits.is_empty() || usize::try_from(*place).is_ok_and(|place| digits.len() <= place)
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    #[test]
    fn whole_numbers_may_be_written_in_many_ways() {
        for whole in ["0", "-0.0", "7", "-7.00", "1e3", "12.5e1", "1e400", "0e-9"] {
            assert!(Decimal::read(whole).unwrap().is_whole(), "{whole}");
        }
        for part in ["0.1", "-7.5", "1e-3", "12.5e0", "125e-2"] {
            assert!(!Decimal::read(part).unwrap().is_whole(), "{part}");
        }
        for (written, plain) in
            [("0.0", "0"), ("-0", "0"), ("-7.00", "-7"), ("1e3", "1000"), ("12.5e1", "125"), ("007", "7")]
        {
            assert_eq!(Decimal::read(written).unwrap().plain().as_deref(), Some(plain), "{written}");
        }
        for other in ["0.1", "12.5e0", "1e20", "1e99999999999", "1e-99999999999"] {
            assert_eq!(Decimal::read(other).unwrap().plain(), None, "{other}");
        }
        for other in ["\"1\"", "null", "[]", "true", ""] {
            assert!(Decimal::read(other).is_none(), "{other}");
        }
    }
}
