//! nvJitLink's logs, as text.

/// A log as text. Bytes that are no text are escaped: the library writes some where a name should be.
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

/// Takes back the name of the input in a message about what is undefined, where it is none: the library
/// reads it from memory that it has freed. The log keeps it.
pub(super) fn drop_garbage(message: &mut String, is_input: impl Fn(&str) -> bool) {
    if !message.starts_with("Undefined reference to '") {
        return;
    }
    let Some((said, name)) = message.split_once("' in '") else {
        return;
    };
    if !name.strip_suffix('\'').is_some_and(is_input) {
        *message = format!("{said}'");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(
        "Undefined reference to 'f' in 'a.ptx'",
        "Undefined reference to 'f' in 'a.ptx'"
    )]
    #[case("Undefined reference to 'f' in '\\xba'", "Undefined reference to 'f'")]
    #[case("Undefined reference to 'f'", "Undefined reference to 'f'")]
    #[case("something in 'b'", "something in 'b'")]
    fn a_name_that_is_no_inputs_is_dropped(#[case] message: &str, #[case] left: &str) {
        let mut message = message.to_owned();
        drop_garbage(&mut message, |name| name == "a.ptx");
        assert_eq!(message, left);
    }

    #[test]
    fn bytes_that_are_no_text_are_escaped() {
        assert_eq!(text(b"f in '\x01\xfe'\n\tg"), "f in '\\u{1}\\xfe'\n\tg");
    }
}
