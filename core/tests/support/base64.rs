//! Base64 of test data.

/// The bytes of a base64 text, padded or not.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut out, mut bits, mut have) = (Vec::new(), 0u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = ALPHABET.iter().position(|&letter| letter == byte).expect("a base64 letter");
        bits = bits << 6 | u32::try_from(value).unwrap();
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have & 0xff) as u8);
        }
    }
    out
}
