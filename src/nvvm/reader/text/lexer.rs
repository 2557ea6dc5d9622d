//! Bytes into tokens.

use std::borrow::Cow;
use std::ops::Range;

/// A token; names and strings are as written, without quotes and with their escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `@name`.
    Global(&'a [u8]),
    /// `@7`.
    GlobalNumber(u64),
    /// `%name` or `%7`.
    Local(&'a [u8]),
    /// `$name`.
    Comdat,
    /// `!name`.
    Named(&'a [u8]),
    /// `!7`.
    Numbered(u64),
    /// `#7`.
    Group,
    /// `#dbg_value`: debug records that stand where instructions do.
    DebugRecord(&'a [u8]),
    /// `^7`.
    Summary,
    /// `name:`, also in quotes.
    Label(&'a [u8]),
    /// `"…"`.
    String(&'a [u8]),
    /// A bare word: a keyword or the name of a type.
    Word(&'a [u8]),
    /// An integer that fits.
    Int(i64),
    /// Any other number.
    Number,
    Punct(u8),
    /// A string that the text ends in.
    Unterminated,
    End,
}

/// The place reached in a text. A copy of it looks ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the token read last begins.
    from: usize,
    line: u32,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Lexer {
            bytes,
            at: 0,
            from: 0,
            line: 1,
        }
    }

    /// The line, from 1, of the token read last.
    pub(super) fn line(&self) -> u32 {
        self.line
    }

    /// The bytes of the token read last.
    pub(super) fn span(&self) -> Range<usize> {
        self.from..self.at
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn since(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..self.at).unwrap_or_default()
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|b| !belongs(*b));
        let taken = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    fn new_lines(&mut self, bytes: &[u8]) {
        let count = bytes.iter().filter(|b| **b == b'\n').count();
        self.line = self
            .line
            .saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
    }

    fn skip_blanks(&mut self) {
        while let Some(b) = self.peek() {
            match b {
                b'\n' => self.line = self.line.saturating_add(1),
                b' ' | b'\t' | b'\r' | 0 => {}
                b';' => {
                    let rest = self.rest();
                    let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
                    self.at += end.unwrap_or(rest.len());
                    continue;
                }
                b'/' if self.rest().starts_with(b"/*") => {
                    let rest = self.rest();
                    let end = rest.windows(2).skip(2).position(|w| w == b"*/");
                    let len = end.map_or(rest.len(), |end| end + 4);
                    self.new_lines(rest.get(..len).unwrap_or_default());
                    self.at += len;
                    continue;
                }
                _ => return,
            }
            self.at += 1;
        }
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        self.skip_blanks();
        let from = self.at;
        self.from = from;
        let Some(b) = self.peek() else {
            return Token::End;
        };
        match b {
            b'@' => self.global(),
            b'%' => self.sigil(b'%'),
            b'$' => self.sigil(b'$'),
            b'!' => self.metadata(),
            b'#' => self.hash(),
            b'^' => {
                self.at += 1;
                match self.take_while(|b| b.is_ascii_digit()) {
                    [] => Token::Punct(b'^'),
                    _ => Token::Summary,
                }
            }
            b'"' => match self.quoted() {
                None => Token::Unterminated,
                Some(name) if self.colon() => Token::Label(name),
                Some(string) => Token::String(string),
            },
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | b'-' | b'0'..=b'9' => self.word(b),
            _ => {
                self.at = from + 1;
                Token::Punct(b)
            }
        }
    }

    fn colon(&mut self) -> bool {
        let colon = self.peek() == Some(b':');
        self.at += usize::from(colon);
        colon
    }

    /// A string, from its opening quote; nothing inside escapes the closing one.
    fn quoted(&mut self) -> Option<&'a [u8]> {
        self.at += 1;
        let rest = self.rest();
        let len = rest.iter().position(|b| *b == b'"');
        let string = rest.get(..len.unwrap_or(rest.len())).unwrap_or_default();
        self.new_lines(string);
        self.at += string.len() + usize::from(len.is_some());
        len.map(|_| string)
    }

    fn global(&mut self) -> Token<'a> {
        self.at += 1;
        match self.peek() {
            Some(b'"') => self.quoted().map_or(Token::Unterminated, Token::Global),
            Some(b'0'..=b'9') => {
                let digits = self.take_while(|b| b.is_ascii_digit());
                number(digits).map_or(Token::Number, Token::GlobalNumber)
            }
            _ => match self.take_while(in_name) {
                [] => Token::Punct(b'@'),
                name => Token::Global(name),
            },
        }
    }

    fn sigil(&mut self, sigil: u8) -> Token<'a> {
        let local = sigil == b'%';
        self.at += 1;
        if self.peek() == Some(b'"') {
            return match self.quoted() {
                None => Token::Unterminated,
                Some(name) if local => Token::Local(name),
                Some(_) => Token::Comdat,
            };
        }
        match self.take_while(in_name) {
            [] => Token::Punct(sigil),
            name if local => Token::Local(name),
            name if self.colon() => Token::Label(name),
            _ => Token::Comdat,
        }
    }

    fn metadata(&mut self) -> Token<'a> {
        self.at += 1;
        match self.peek() {
            Some(b'0'..=b'9') => {
                let digits = self.take_while(|b| b.is_ascii_digit());
                number(digits).map_or(Token::Number, Token::Numbered)
            }
            _ => match self.take_while(|b| in_name(b) || b == b'\\') {
                [] => Token::Punct(b'!'),
                name => Token::Named(name),
            },
        }
    }

    fn hash(&mut self) -> Token<'a> {
        self.at += 1;
        match self.take_while(|b| b.is_ascii_alphanumeric() || b == b'_') {
            [] => Token::Punct(b'#'),
            [b'0'..=b'9', ..] => Token::Group,
            name => Token::DebugRecord(name),
        }
    }

    fn word(&mut self, first: u8) -> Token<'a> {
        let from = self.at;
        let longest = self.take_while(in_name);
        // A label may hold characters that end a word.
        if self.colon() {
            return Token::Label(longest);
        }
        if first.is_ascii_alphabetic() || first == b'_' {
            let end = longest.iter().position(|b| matches!(b, b'-' | b'$' | b'.'));
            let word = longest
                .get(..end.unwrap_or(longest.len()))
                .unwrap_or_default();
            self.at = from + word.len();
            return Token::Word(word);
        }
        self.at = from;
        if first == b'.' {
            self.at += 1;
            return Token::Punct(b'.');
        }
        self.at += 1;
        self.take_while(|b| b.is_ascii_alphanumeric() || b == b'.');
        // The sign of an exponent, as in 1.0e+10.
        if matches!(self.since(from), [b'-' | b'0'..=b'9', .., b'e' | b'E'])
            && matches!(self.peek(), Some(b'+' | b'-'))
        {
            self.at += 1;
            self.take_while(|b| b.is_ascii_digit());
        }
        let text = std::str::from_utf8(self.since(from)).ok();
        text.and_then(|text| text.parse().ok())
            .map_or(Token::Number, Token::Int)
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Which bytes a name may hold; every byte of every name asks, so a table answers.
const IN_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_');
        byte += 1;
    }
    table
};

fn in_name(b: u8) -> bool {
    IN_NAME[usize::from(b)]
}

/// A name or string with its `\XX` replaced by the bytes they stand for.
pub(super) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'\\') {
        return Cow::Borrowed(text);
    }
    let digit = |b: u8| {
        char::from(b)
            .to_digit(16)
            .and_then(|d| u8::try_from(d).ok())
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        if let [b'\\', behind @ ..] = rest {
            bytes.push(b'\\');
            rest = behind;
            continue;
        }
        let escape = match rest {
            [high, low, behind @ ..] => digit(*high).zip(digit(*low)).map(|d| (d, behind)),
            _ => None,
        };
        match escape {
            Some(((high, low), behind)) => {
                bytes.push(high << 4 | low);
                rest = behind;
            }
            None => bytes.push(b'\\'),
        }
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text.as_bytes());
        std::iter::from_fn(|| Some(lexer.next()).filter(|t| *t != Token::End)).collect()
    }

    #[rstest]
    #[case("; @a \"\n@b", &[Token::Global(b"b")])]
    #[case("/* @a\n */ @b", &[Token::Global(b"b")])]
    #[case(r#"@"a \22 ; }" "#, &[Token::Global(br"a \22 ; }")])]
    #[case("@-$._a9 @12", &[Token::Global(b"-$._a9"), Token::GlobalNumber(12)])]
    #[case("%x %0 %\"y z\"", &[Token::Local(b"x"), Token::Local(b"0"), Token::Local(b"y z")])]
    #[case("$c $l: $\"q\"", &[Token::Comdat, Token::Label(b"l"), Token::Comdat])]
    #[case("!a.b !3 !{", &[Token::Named(b"a.b"), Token::Numbered(3), Token::Punct(b'!'), Token::Punct(b'{')])]
    #[case("!\"s\"", &[Token::Punct(b'!'), Token::String(b"s")])]
    #[case("#4 #dbg_value(", &[Token::Group, Token::DebugRecord(b"dbg_value"), Token::Punct(b'(')])]
    #[case("entry: 7: \"q q\": a-b: line: 3", &[Token::Label(b"entry"), Token::Label(b"7"), Token::Label(b"q q"), Token::Label(b"a-b"), Token::Label(b"line"), Token::Int(3)])]
    #[case("i32 -5 1.0e+10 0xH3C00 99999999999999999999", &[Token::Word(b"i32"), Token::Int(-5), Token::Number, Token::Number, Token::Number])]
    #[case("i8* ...", &[Token::Word(b"i8"), Token::Punct(b'*'), Token::Punct(b'.'), Token::Punct(b'.'), Token::Punct(b'.')])]
    #[case("\"open", &[Token::Unterminated])]
    #[case("@\"open", &[Token::Unterminated])]
    fn a_text_falls_into_tokens(#[case] text: &str, #[case] expected: &[Token<'_>]) {
        assert_eq!(tokens(text), expected);
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let mut lexer = Lexer::new(b"; one\r\n\"two\nthree\" @four /*\n*/ @five");
        assert_eq!(lexer.next(), Token::String(b"two\nthree"));
        lexer.next();
        assert_eq!(lexer.line(), 3);
        assert_eq!(lexer.next(), Token::Global(b"five"));
        assert_eq!(lexer.line(), 4);
    }

    #[rstest]
    #[case("plain", b"plain")]
    #[case(r"a\22b", b"a\"b")]
    #[case(r"\\41", br"\41")]
    #[case(r"\zz\4", br"\zz\4")]
    #[case(r"\C3\a9", b"\xc3\xa9")]
    fn escapes_become_bytes(#[case] text: &str, #[case] bytes: &[u8]) {
        assert_eq!(unescaped(text.as_bytes()).as_ref(), bytes);
    }
}
