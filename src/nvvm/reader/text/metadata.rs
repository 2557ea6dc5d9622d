//! The metadata of a text: what the two names that matter list, wherever their nodes stand.

use std::collections::{HashMap, HashSet};

use super::super::debug::Links;
use super::super::info::ModuleInfo;
use super::super::notes::{self, Node, Operand};
use super::lexer::{Lexer, Token, unescaped};
use super::tokens::Tokens;

#[derive(Debug, Default)]
pub(super) struct Metadata<'a> {
    annotations: Vec<u64>,
    version: Vec<u64>,
    has_version: bool,
    /// Where the value of each numbered node begins. They are read when all of them are known,
    /// and of them only the few that are asked for.
    nodes: Vec<(u64, Lexer<'a>)>,
    /// The same of the nodes of debug metadata.
    debug: Vec<(u64, Lexer<'a>)>,
    compile_units: Vec<u64>,
    /// The symbols that have a number for a name.
    numbers: HashMap<u64, usize>,
}

impl<'a> Metadata<'a> {
    /// Takes `!name = …` or `!7 = …`, and says whether it could be followed.
    pub(super) fn entity(&mut self, tokens: &mut Tokens<'a>) -> bool {
        let subject = tokens.bump();
        if !tokens.eat(Token::Punct(b'=')) {
            return false;
        }
        match subject {
            Token::Named(name) => match unescaped(name).as_ref() {
                b"llvm.dbg.cu" => list(tokens, &mut self.compile_units),
                b"nvvm.annotations" => list(tokens, &mut self.annotations),
                b"nvvmir.version" => {
                    self.has_version = true;
                    list(tokens, &mut self.version)
                }
                _ => true,
            },
            Token::Numbered(number) => {
                let place = tokens.place();
                if tokens.token() == Token::Word(b"distinct") {
                    tokens.bump();
                }
                match tokens.token() {
                    Token::Punct(b'!') | Token::Word(b"metadata") => {
                        self.nodes.push((number, place));
                    }
                    Token::Named(_) => self.debug.push((number, tokens.place())),
                    _ => {}
                }
                true
            }
            _ => true,
        }
    }

    /// Remembers that a symbol has a number for a name.
    pub(super) fn number(&mut self, number: u64, symbol: usize) {
        self.numbers.insert(number, symbol);
    }

    /// Adds to what is known of a module what its metadata says of it.
    pub(super) fn apply(mut self, info: &mut ModuleInfo) {
        // Stable: of two nodes with one number the first counts.
        self.nodes.sort_by_key(|(number, _)| *number);
        if !self.annotations.is_empty() {
            let nodes = self.resolve(&self.annotations, &info.symbols_by_name());
            notes::annotate(info, &nodes);
        }
        if self.has_version {
            let nodes = self.resolve(&self.version, &HashMap::new());
            notes::version(info, &nodes);
        }
        self.follow_debug(info);
    }

    fn follow_debug(&mut self, info: &mut ModuleInfo) {
        let listed: HashSet<u64> = self.compile_units.iter().copied().collect();
        let mut links = Links::default();
        for (number, place) in &self.debug {
            if listed.contains(number) {
                info.compile_units += u32::from(!says_no_debug(*place));
            } else {
                follow(*number, *place, &mut links);
            }
        }
        info.debug_cycle = links.cycle().map(|mut cycle| {
            let first = cycle.nodes.first();
            let node = self.debug.iter().find(|(number, _)| Some(number) == first);
            cycle.line = node.map(|(_, place)| line_of(*place));
            cycle
        });
    }

    fn resolve(&self, listed: &[u64], names: &HashMap<Vec<u8>, usize>) -> Vec<Node<'a>> {
        // A node that is listed many times is read once.
        let mut seen = HashSet::new();
        let fresh = listed.iter().filter(|number| seen.insert(**number));
        let find = |number: &u64| {
            let at = self.nodes.partition_point(|(n, _)| n < number);
            self.nodes.get(at).filter(|(n, _)| n == number)
        };
        let symbol = |token: Token<'_>| match token {
            Token::Global(name) => names.get(unescaped(name).as_ref()).copied(),
            Token::GlobalNumber(number) => self.numbers.get(&number).copied(),
            _ => None,
        };
        fresh
            .map(|number| {
                let place = find(number).map(|(_, place)| *place);
                Node {
                    number: *number,
                    line: place.map(line_of),
                    operands: place.and_then(|place| operands(place, &symbol)),
                }
            })
            .collect()
    }
}

fn first_of(mut place: Lexer<'_>) -> Token<'_> {
    place.next()
}

/// The line of the token behind a place.
fn line_of(mut place: Lexer<'_>) -> u32 {
    place.next();
    place.line()
}

/// The fields of a node of debug metadata, `!DIx(field: value, …)`, with the token behind each name;
/// those of a node that is written inside another count for the outer.
fn fields<'a>(mut place: Lexer<'a>) -> impl Iterator<Item = (&'a [u8], Token<'a>)> {
    place.next();
    let mut depth = 0_u32;
    std::iter::from_fn(move || {
        loop {
            match place.next() {
                Token::Punct(b'(') => depth = depth.saturating_add(1),
                Token::Punct(b')') if depth > 1 => depth -= 1,
                Token::Label(name) if depth > 0 => {
                    let mut ahead = place;
                    return Some((name, ahead.next()));
                }
                Token::Punct(b')') | Token::End => return None,
                _ if depth == 0 => return None,
                _ => {}
            }
        }
    })
}

fn says_no_debug(place: Lexer<'_>) -> bool {
    fields(place).any(|field| field == (b"emissionKind", Token::Word(b"NoDebug")))
}

fn follow(number: u64, place: Lexer<'_>, links: &mut Links) {
    if first_of(place) == Token::Named(b"DIDerivedType") {
        links.derived(number);
    }
    for (name, value) in fields(place) {
        let Token::Numbered(to) = value else { continue };
        match name {
            b"scope" | b"inlinedAt" => links.scope(number, to),
            b"baseType" => links.base(number, to),
            _ => {}
        }
    }
}

/// Takes `!{!0, !1}`, and says whether it is no more than that.
fn list(tokens: &mut Tokens<'_>, into: &mut Vec<u64>) -> bool {
    if !tokens.eat(Token::Punct(b'!')) || !tokens.eat(Token::Punct(b'{')) {
        return false;
    }
    loop {
        match tokens.bump() {
            Token::Numbered(number) => into.push(number),
            Token::Punct(b',') => {}
            Token::Punct(b'}') => return true,
            _ => return false,
        }
    }
}

/// The operands of the node that begins here, or `None` where it has another form.
fn operands<'a>(
    mut lexer: Lexer<'a>,
    symbol: &impl Fn(Token<'_>) -> Option<usize>,
) -> Option<Vec<Operand<'a>>> {
    let mut token = lexer.next();
    while let Token::Word(b"distinct" | b"metadata") = token {
        token = lexer.next();
    }
    if token != Token::Punct(b'!') || lexer.next() != Token::Punct(b'{') {
        return None;
    }
    let mut operands = Vec::new();
    let mut last_two = (Token::End, Token::End);
    let mut depth = 0_u32;
    loop {
        let token = lexer.next();
        match token {
            Token::End => return None,
            Token::Punct(b'(' | b'[' | b'{' | b'<') => depth = depth.saturating_add(1),
            Token::Punct(b',' | b'}') if depth == 0 => {
                if last_two.1 != Token::End {
                    operands.push(operand(last_two, symbol));
                }
                if token == Token::Punct(b'}') {
                    return Some(operands);
                }
                last_two = (Token::End, Token::End);
                continue;
            }
            Token::Punct(b')' | b']' | b'}' | b'>') => depth = depth.saturating_sub(1),
            _ => {}
        }
        last_two = (last_two.1, token);
    }
}

/// The operand that ends in these two tokens: what comes before them is its type.
fn operand<'a>(
    last_two: (Token<'a>, Token<'a>),
    symbol: &impl Fn(Token<'_>) -> Option<usize>,
) -> Operand<'a> {
    match last_two {
        (_, Token::Word(b"null")) => Operand::Null,
        (Token::Word(b"half" | b"float" | b"double"), _)
        | (_, Token::Word(b"undef" | b"poison")) => Operand::NoInteger,
        (Token::End, Token::Numbered(_)) => Operand::Node,
        (Token::Punct(b'!'), Token::String(text)) => Operand::Text(unescaped(text)),
        (Token::Word(_), Token::Int(value)) => Operand::Int(value),
        (Token::Word(b"i1"), Token::Word(b"true")) => Operand::Int(1),
        (Token::Word(b"i1"), Token::Word(b"false")) => Operand::Int(0),
        (_, name @ (Token::Global(_) | Token::GlobalNumber(_))) => {
            symbol(name).map_or(Operand::Other, Operand::Symbol)
        }
        _ => Operand::Other,
    }
}
