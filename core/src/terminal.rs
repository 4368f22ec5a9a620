//! For clients that run commands for an agent.

/// Cuts the output of a command to the `outputByteLimit` of `terminal/create`. Returns the end that fits and whether
/// anything was cut off: `output` and `truncated` of the answer to `terminal/output` (TERM-08; protocol page
/// "Terminals").
///
/// The output is cut at the front and never inside a character, so the result may be up to three bytes shorter than the
/// limit.
///
/// ```
/// use libacp::terminal::cut_output;
/// assert_eq!(cut_output("cargo test\nok", 6), ("est\nok", true));
/// assert_eq!(cut_output("12 €", 3), ("€", true));
/// assert_eq!(cut_output("12 €", 2), ("", true));
/// assert_eq!(cut_output("12 €", 6), ("12 €", false));
/// ```
pub fn cut_output(output: &str, byte_limit: u64) -> (&str, bool) {
    let surplus = usize::try_from(byte_limit).map_or(0, |limit| output.len().saturating_sub(limit));
    let start = (surplus..=output.len()).find(|&at| output.is_char_boundary(at)).unwrap_or(output.len());
    (&output[start..], start > 0)
}
