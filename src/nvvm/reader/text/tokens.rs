//! The stream of tokens that the parser takes, one known ahead.

use super::super::info::Modern;
use super::lexer::{Lexer, Token};
use super::modern;
use super::uses::Uses;

pub(super) struct Tokens<'a> {
    /// Behind the current token.
    lexer: Lexer<'a>,
    /// In front of the current token.
    before: Lexer<'a>,
    token: Token<'a>,
    after_label: bool,
    parens: u32,
    pub(super) opaque_pointers: bool,
    pub(super) modern: Option<Modern>,
    /// How deep brackets lie in each other, at the deepest.
    pub(super) nesting: u32,
    /// What the bodies use; set while in one.
    pub(super) uses: Uses<'a>,
    /// A string or a group was open at the end of the text, or an entity began inside one.
    pub(super) lost: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let before = Lexer::new(bytes);
        let mut lexer = before;
        Tokens {
            token: lexer.next(),
            lexer,
            before,
            after_label: false,
            parens: 0,
            opaque_pointers: false,
            modern: None,
            nesting: 0,
            uses: Uses::default(),
            lost: false,
        }
    }

    /// The current token.
    pub(super) fn token(&self) -> Token<'a> {
        self.token
    }

    /// The line of the current token.
    pub(super) fn line(&self) -> u32 {
        self.lexer.line()
    }

    /// The place of the current token, to read from it again.
    pub(super) fn place(&self) -> Lexer<'a> {
        self.before
    }

    /// The token behind the current one.
    pub(super) fn second(&self) -> Token<'a> {
        let mut ahead = self.lexer;
        ahead.next()
    }

    /// Goes on to the next token and returns the one it leaves.
    pub(super) fn bump(&mut self) -> Token<'a> {
        let token = self.token;
        let line = self.lexer.line();
        let place = std::mem::replace(&mut self.before, self.lexer);
        self.token = self.lexer.next();
        match token {
            // Inside parentheses a label is the name of a metadata field, and its value a name.
            Token::Word(_) if self.after_label && self.parens > 0 => {}
            Token::Word(word) => {
                self.opaque_pointers |= word == b"ptr";
                let call = self.token == Token::Punct(b'(');
                self.prove(line, || modern::word(word, call));
                self.uses.word(word, place, line);
            }
            Token::Global(name) if self.token == Token::Punct(b'(') => {
                self.uses.called(name, line);
            }
            Token::Named(name) if self.token == Token::Punct(b'(') => {
                self.prove(line, || modern::node(name));
            }
            Token::DebugRecord(name) => self.prove(line, || modern::debug_record(name)),
            Token::Punct(b'(') => self.parens = self.parens.saturating_add(1),
            Token::Punct(b')') => self.parens = self.parens.saturating_sub(1),
            Token::Unterminated => self.lost = true,
            _ => {}
        }
        self.after_label = matches!(token, Token::Label(_));
        token
    }

    fn prove(&mut self, line: u32, what: impl FnOnce() -> Option<String>) {
        if self.modern.is_none() {
            self.modern = what().map(|what| Modern {
                what,
                line: Some(line),
            });
        }
    }

    /// Goes past a token if it is the current one.
    pub(super) fn eat(&mut self, token: Token<'_>) -> bool {
        let there = self.token == token;
        if there {
            self.bump();
        }
        there
    }

    /// Whether an entity of the module begins at the current token.
    pub(super) fn at_entity(&self) -> bool {
        match self.token {
            Token::Word(word) => match word {
                b"define" | b"declare" | b"source_filename" | b"attributes" | b"uselistorder"
                | b"uselistorder_bb" | b"deplibs" => true,
                b"target" | b"module" => matches!(self.second(), Token::Word(_)),
                _ => false,
            },
            Token::Global(_)
            | Token::GlobalNumber(_)
            | Token::Local(_)
            | Token::Comdat
            | Token::Named(_)
            | Token::Numbered(_)
            | Token::Summary => self.second() == Token::Punct(b'='),
            _ => false,
        }
    }

    /// Goes past a group in brackets, if the current token opens one.
    ///
    /// No bracket is paired with its kind: the library does that. A `define` in a group shows that
    /// the group was never closed.
    pub(super) fn group(&mut self) -> bool {
        self.bracketed(b"([{", b")]}")
    }

    /// Goes past `<…>`, if the current token opens it.
    fn angles(&mut self) -> bool {
        self.bracketed(b"<", b">")
    }

    fn bracketed(&mut self, opening: &[u8], closing: &[u8]) -> bool {
        let mut depth = 0_u32;
        loop {
            match self.token {
                Token::Punct(punct) if opening.contains(&punct) => {
                    depth = depth.saturating_add(1);
                    self.nesting = self.nesting.max(depth);
                }
                Token::Punct(punct) if depth > 0 && closing.contains(&punct) => depth -= 1,
                Token::End | Token::Word(b"define" | b"declare") if depth > 0 => {
                    self.lost = true;
                    self.parens = 0;
                    return true;
                }
                _ if depth == 0 => return false,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return true;
            }
        }
    }

    /// Goes past a type and a constant of it, whose braces must not be taken for a body.
    pub(super) fn typed_constant(&mut self) {
        let braced = |tokens: &mut Self| {
            matches!(tokens.token, Token::Punct(b'{' | b'[')) && tokens.group()
                || tokens.token == Token::Punct(b'<') && tokens.angles()
        };
        if !braced(self) {
            self.bump();
        }
        loop {
            match self.token {
                Token::Punct(b'*') | Token::Word(b"addrspace") => {
                    self.bump();
                }
                Token::Punct(b'(') => {
                    self.group();
                }
                _ => break,
            }
        }
        if braced(self) {
            return;
        }
        // An expression: its words, then its operands in parentheses.
        while !self.at_entity() {
            match self.bump() {
                Token::Word(b"c") => {}
                Token::Word(_) if matches!(self.token, Token::Word(w) if !follows_constant(w)) => {}
                _ => break,
            }
        }
        if self.token == Token::Punct(b'(') {
            self.group();
        }
    }

    /// Goes on to where the next entity begins.
    pub(super) fn skip_to_entity(&mut self) {
        while self.token != Token::End && !self.at_entity() {
            if !self.group() {
                if let Token::Punct(b')' | b']' | b'}') = self.bump() {
                    self.lost = true;
                }
            }
        }
    }
}

fn follows_constant(word: &[u8]) -> bool {
    matches!(word, b"prefix" | b"prologue" | b"personality")
}
