//! Medians and spreads.

/// The middle of some measurements, and how far they lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub(super) median: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Figure {
    /// Of measurements, in any order; `None` of none.
    pub(super) fn of(measured: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut all: Vec<f64> = measured.into_iter().collect();
        all.sort_by(f64::total_cmp);
        let (low, high) = (*all.first()?, *all.last()?);
        let (left, right) = (all[(all.len() - 1) / 2], all[all.len() / 2]);
        Some(Figure { median: f64::midpoint(left, right), low, high })
    }

    /// Of what is measured once.
    pub(super) fn exactly(value: f64) -> Self {
        Figure { median: value, low: value, high: value }
    }

    /// Of ratios, each of two measurements of the same round.
    pub(super) fn ratio(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        Figure::of(ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs))
    }

    /// The middle, with the ends behind it where there are any.
    pub(super) fn text(self) -> String {
        if self.low.total_cmp(&self.high).is_eq() {
            return short(self.median);
        }
        format!("{} ({}\u{2013}{})", short(self.median), short(self.low), short(self.high))
    }
}

/// A number with three digits that count.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 || size == 0.0 => format!("{value:.2}"),
        size if size >= 0.01 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_that_of_the_sorted_values() {
        assert_eq!(Figure::of([]), None);
        assert_eq!(Figure::of([3.0, 1.0, 2.0]), Some(Figure { median: 2.0, low: 1.0, high: 3.0 }));
        assert_eq!(Figure::of([4.0, 1.0]), Some(Figure { median: 2.5, low: 1.0, high: 4.0 }));
    }

    #[test]
    fn ratios_are_of_one_round_each() {
        let ratio = Figure::ratio(&[10.0, 40.0, 30.0], &[5.0, 10.0, 10.0]);
        assert_eq!(ratio, Some(Figure { median: 3.0, low: 2.0, high: 4.0 }));
        assert_eq!(ratio.map(Figure::text).as_deref(), Some("3.00 (2.00\u{2013}4.00)"));
    }

    #[test]
    fn numbers_keep_three_digits() {
        let texts = [1234.5, 12.345, 1.2345, 0.12345, 0.0].map(short);
        assert_eq!(texts, ["1234", "12.3", "1.23", "0.123", "0.00"]);
    }
}
