//! The types that a text spells.

use std::collections::HashMap;

use super::super::info::Malformed;
use super::super::symbol::OddParameter;
use super::super::types::{Type, Types};
use super::lexer::{Lexer, Token};

/// How deep brackets of a type are followed.
const DEEPEST: u32 = 64;

/// The types that have names, and where what each stands for begins.
#[derive(Debug, Default)]
pub(super) struct Named<'a> {
    places: Vec<(&'a [u8], Lexer<'a>)>,
}

impl<'a> Named<'a> {
    pub(super) fn define(&mut self, name: &'a [u8], place: Lexer<'a>) {
        self.places.push((name, place));
    }

    /// Reads all of them.
    pub(super) fn resolve(self) -> Resolved<'a> {
        let mut resolved = Resolved::default();
        for (name, place) in self.places {
            let at = resolved.named(name);
            if let Some(type_) = resolved.read(place) {
                resolved.types.alias(at, type_);
            }
            resolved.lines.push((at, name, place));
        }
        resolved
    }
}

/// The types of a text, by name.
#[derive(Debug, Default)]
pub(super) struct Resolved<'a> {
    types: Types,
    names: HashMap<&'a [u8], usize>,
    lines: Vec<(usize, &'a [u8], Lexer<'a>)>,
}

/// What matters of how a kernel is called.
pub(super) struct Signature {
    pub(super) returns_void: bool,
    pub(super) parameter_bytes: Option<u64>,
    pub(super) odd_parameter: Option<OddParameter>,
}

impl<'a> Resolved<'a> {
    pub(super) fn types(&self) -> &Types {
        &self.types
    }

    /// A structure that holds itself by value.
    pub(super) fn recursive(&self) -> Option<Malformed> {
        let at = self.types.holds_itself()?;
        let (_, name, place) = self.lines.iter().find(|(named, ..)| *named == at)?;
        Some(Malformed {
            line: Some(place.line()),
            ..Malformed::new(format!(
                "the type `%{}` holds itself by value",
                String::from_utf8_lossy(name)
            ))
        })
    }

    /// Reads the header of a function, from behind `define` on.
    pub(super) fn signature(&mut self, header: Lexer<'a>) -> Option<Signature> {
        let mut reader = Reader::new(self, header);
        let result = reader.first_type()?;
        while !matches!(reader.token, Token::Global(_) | Token::GlobalNumber(_)) {
            if reader.token == Token::End {
                return None;
            }
            reader.bump();
        }
        reader.bump();
        let parameters = reader.parameters();
        Some(Signature {
            returns_void: self.types.get(result) == Some(&Type::Void),
            odd_parameter: parameters
                .as_ref()
                .and_then(|parameters| self.types.odd_parameter(parameters.iter().copied())),
            parameter_bytes: parameters
                .and_then(|parameters| self.types.parameter_bytes(parameters.into_iter())),
        })
    }

    /// The type of a call's result, from behind `call` on.
    pub(super) fn result(&mut self, call: Lexer<'a>) -> Option<usize> {
        let at = Reader::new(self, call).first_type()?;
        match self.types.get(at) {
            Some(Type::Function { result, .. }) => Some(*result),
            _ => Some(at),
        }
    }

    /// The types of a call's arguments, from the parenthesis on.
    pub(super) fn arguments(&mut self, place: Lexer<'a>) -> Option<Vec<usize>> {
        Reader::new(self, place).parameters()
    }

    fn named(&mut self, name: &'a [u8]) -> usize {
        let types = &mut self.types;
        *self
            .names
            .entry(name)
            .or_insert_with(|| types.add(Type::Other))
    }

    fn read(&mut self, place: Lexer<'a>) -> Option<usize> {
        Reader::new(self, place).type_()
    }
}

struct Reader<'r, 'a> {
    known: &'r mut Resolved<'a>,
    lexer: Lexer<'a>,
    token: Token<'a>,
    depth: u32,
}

impl<'r, 'a> Reader<'r, 'a> {
    fn new(known: &'r mut Resolved<'a>, mut lexer: Lexer<'a>) -> Self {
        Reader {
            known,
            token: lexer.next(),
            lexer,
            depth: 0,
        }
    }

    fn bump(&mut self) {
        self.token = self.lexer.next();
    }

    fn eat(&mut self, punct: u8) -> bool {
        let there = self.token == Token::Punct(punct);
        if there {
            self.bump();
        }
        there
    }

    fn add(&mut self, type_: Type) -> usize {
        self.known.types.add(type_)
    }

    /// The first type behind linkage, calling convention and attributes.
    fn first_type(&mut self) -> Option<usize> {
        loop {
            if let Some(at) = self.type_() {
                return Some(at);
            }
            match self.token {
                Token::Word(_) => {
                    self.bump();
                    self.skip_parentheses()?;
                }
                Token::Int(_)
                | Token::Number
                | Token::Group
                | Token::String(_)
                | Token::Named(_)
                | Token::Numbered(_) => self.bump(),
                _ => return None,
            }
        }
    }

    fn skip_parentheses(&mut self) -> Option<()> {
        let mut depth = 0_u32;
        loop {
            match self.token {
                Token::Punct(b'(') => depth += 1,
                Token::End => return None,
                _ if depth == 0 => return Some(()),
                Token::Punct(b')') => depth -= 1,
                _ => {}
            }
            self.bump();
        }
    }

    /// A type, if one begins here.
    fn type_(&mut self) -> Option<usize> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let at = self.simple().map(|at| self.suffixes(at));
        self.depth -= 1;
        at?
    }

    fn simple(&mut self) -> Option<usize> {
        match self.token {
            Token::Word(word) => {
                let type_ = by_word(word)?;
                self.bump();
                if matches!(type_, Type::Pointer(_)) {
                    self.address_space();
                }
                Some(self.add(type_))
            }
            Token::Local(name) => {
                self.bump();
                Some(self.known.named(name))
            }
            Token::Punct(b'{') => self.structure(false),
            Token::Punct(b'[') => {
                self.bump();
                let (count, of) = self.repeated()?;
                self.eat(b']').then(|| self.add(Type::Array(count, of)))
            }
            Token::Punct(b'<') => {
                self.bump();
                if self.token == Token::Punct(b'{') {
                    let at = self.structure(true)?;
                    return self.eat(b'>').then_some(at);
                }
                let (count, of) = self.repeated()?;
                self.eat(b'>').then(|| self.add(Type::Vector(count, of)))
            }
            _ => None,
        }
    }

    fn repeated(&mut self) -> Option<(u64, usize)> {
        let Token::Int(count) = self.token else {
            return None;
        };
        self.bump();
        if self.token != Token::Word(b"x") {
            return None;
        }
        self.bump();
        Some((u64::try_from(count).ok()?, self.type_()?))
    }

    fn structure(&mut self, packed: bool) -> Option<usize> {
        self.bump();
        let mut fields = Vec::new();
        while !self.eat(b'}') {
            fields.push(self.type_()?);
            if !self.eat(b',') && self.token != Token::Punct(b'}') {
                return None;
            }
        }
        Some(self.add(Type::Struct { packed, fields }))
    }

    fn address_space(&mut self) -> bool {
        let there = self.token == Token::Word(b"addrspace");
        if there {
            self.bump();
            let _ = self.skip_parentheses();
        }
        there
    }

    /// What makes a pointer or a function of a type.
    fn suffixes(&mut self, mut at: usize) -> Option<usize> {
        loop {
            if self.address_space() && self.token != Token::Punct(b'*') {
                return Some(at);
            }
            if self.eat(b'*') {
                at = self.add(Type::Pointer(Some(at)));
            } else if self.token == Token::Punct(b'(') {
                let parameters = self.parameters()?;
                at = self.add(Type::Function {
                    result: at,
                    parameters,
                });
            } else {
                return Some(at);
            }
        }
    }

    /// The types between parentheses; one that is passed by value is what its pointer points to.
    fn parameters(&mut self) -> Option<Vec<usize>> {
        if !self.eat(b'(') {
            return None;
        }
        let mut parameters = Vec::new();
        while !self.eat(b')') {
            if self.token == Token::Punct(b'.') {
                self.bump();
                continue;
            }
            let mut type_ = self.type_()?;
            loop {
                match self.token {
                    Token::Punct(b',') => {
                        self.bump();
                        break;
                    }
                    Token::Punct(b')') => break,
                    Token::Word(b"byval") => {
                        self.bump();
                        if self.eat(b'(') {
                            type_ = self.type_()?;
                            if !self.eat(b')') {
                                return None;
                            }
                        } else if let Some(Type::Pointer(Some(to))) = self.known.types.get(type_) {
                            type_ = *to;
                        }
                    }
                    Token::Punct(b'(' | b'[' | b'{' | b'<') => self.skip_brackets()?,
                    Token::End => return None,
                    _ => self.bump(),
                }
            }
            parameters.push(type_);
        }
        Some(parameters)
    }

    fn skip_brackets(&mut self) -> Option<()> {
        let mut depth = 0_u32;
        loop {
            match self.token {
                Token::Punct(b'(' | b'[' | b'{' | b'<') => depth += 1,
                Token::Punct(b')' | b']' | b'}' | b'>') => depth = depth.saturating_sub(1),
                Token::End => return None,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return Some(());
            }
        }
    }
}

fn by_word(word: &[u8]) -> Option<Type> {
    Some(match word {
        b"void" => Type::Void,
        b"half" | b"bfloat" => Type::Float(16),
        b"float" => Type::Float(32),
        b"double" => Type::Float(64),
        b"fp128" | b"ppc_fp128" => Type::Float(128),
        b"ptr" => Type::Pointer(None),
        b"metadata" => Type::Metadata,
        b"opaque" | b"label" | b"token" | b"x86_fp80" | b"x86_mmx" => Type::Other,
        [b'i', digits @ ..] if !digits.is_empty() => {
            Type::Integer(std::str::from_utf8(digits).ok()?.parse().ok()?)
        }
        _ => return None,
    })
}
