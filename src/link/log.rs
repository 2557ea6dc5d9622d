//! nvJitLink's logs, as text.

/// A log as text. Bytes that are no text are escaped: names may hold any.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for c in crate::nvvm::escaped(bytes).chars() {
        match c {
            '\n' | '\t' => text.push(c),
            c if c.is_control() => text.extend(c.escape_default()),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        assert_eq!(text(b"f in '\x01\xfe'\n\tg"), "f in '\\u{1}\\xfe'\n\tg");
    }
}
