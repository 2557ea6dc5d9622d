//! The outermost entities of a module, one after another.

use super::super::info::{ModuleInfo, ModuleKind};
use super::super::kind::BYTE_ORDER_MARK;
use super::super::symbol::{Linkage, Symbol, SymbolKind};
use super::lexer::{Lexer, Token, unescaped};
use super::metadata::Metadata;
use super::tokens::Tokens;
use super::types::Named;

pub(in super::super) fn read(bytes: &[u8]) -> ModuleInfo {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let mut parser = Parser {
        tokens: Tokens::new(bytes),
        info: ModuleInfo::new(ModuleKind::Text),
        metadata: Metadata::default(),
        types: Named::default(),
        headers: Vec::new(),
        behind_targets: false,
    };
    while parser.tokens.token() != Token::End {
        parser.entity();
    }
    let Parser {
        tokens,
        mut info,
        metadata,
        types,
        headers,
        ..
    } = parser;
    info.certain &= !tokens.lost;
    info.nesting = tokens.nesting;
    info.opaque_pointers = tokens.opaque_pointers;
    info.modern = tokens.modern;
    metadata.apply(&mut info);
    let mut types = types.resolve();
    info.recursive_type = types.recursive();
    for (symbol, header) in headers {
        let kernel = info.symbols.get_mut(symbol).filter(|symbol| symbol.kernel);
        if let (Some(kernel), Some(signature)) = (kernel, types.signature(header)) {
            kernel.returns_void = Some(signature.returns_void);
            kernel.parameter_bytes = signature.parameter_bytes;
            kernel.odd_parameter = signature.odd_parameter;
        }
    }
    (info.intrinsics, info.assembly) = tokens.uses.found(&mut types);
    info
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    info: ModuleInfo,
    metadata: Metadata<'a>,
    types: Named<'a>,
    /// Where the header of each function with a body begins, and which symbol it is.
    headers: Vec<(usize, Lexer<'a>)>,
    /// Whether an entity was met behind which a current LLVM takes no `target`.
    behind_targets: bool,
}

impl<'a> Parser<'a> {
    fn entity(&mut self) {
        self.behind_targets |= !matches!(
            self.tokens.token(),
            Token::Word(b"target" | b"source_filename")
        );
        match self.tokens.token() {
            Token::Word(b"target") => self.target(),
            Token::Word(b"define") => self.function(true),
            Token::Word(b"declare") => self.function(false),
            Token::Word(
                b"source_filename" | b"module" | b"attributes" | b"uselistorder"
                | b"uselistorder_bb" | b"deplibs",
            )
            | Token::Comdat
            | Token::Summary => {
                self.tokens.bump();
            }
            Token::Local(name) => {
                self.tokens.bump();
                if self.tokens.eat(Token::Punct(b'=')) && self.tokens.eat(Token::Word(b"type")) {
                    self.types.define(name, self.tokens.place());
                }
            }
            Token::Global(_) | Token::GlobalNumber(_) => self.variable(),
            Token::Named(_) | Token::Numbered(_) => {
                self.info.certain &= self.metadata.entity(&mut self.tokens);
            }
            _ => {
                self.tokens.bump();
                self.info.certain = false;
            }
        }
        self.tokens.skip_to_entity();
    }

    fn target(&mut self) {
        let line = self.tokens.line();
        if self.behind_targets {
            self.info.late_target.get_or_insert(line);
        }
        self.tokens.bump();
        let info = &mut self.info;
        let (place, its_line) = match self.tokens.bump() {
            Token::Word(b"triple") => (&mut info.triple, &mut info.triple_line),
            Token::Word(b"datalayout") => (&mut info.data_layout, &mut info.data_layout_line),
            _ => return self.info.certain = false,
        };
        self.tokens.eat(Token::Punct(b'='));
        match self.tokens.token() {
            Token::String(text) => {
                let text = unescaped(text);
                *place = Some(String::from_utf8_lossy(&text).into_owned());
                *its_line = Some(line);
                self.tokens.bump();
            }
            _ => self.info.certain = false,
        }
    }

    /// `@name = …`: a variable, a constant, an alias or an ifunc.
    fn variable(&mut self) {
        let line = self.tokens.line();
        let name = self.tokens.bump();
        if !self.tokens.eat(Token::Punct(b'=')) {
            return self.info.certain = false;
        }
        let mut linkage = None;
        let kind = loop {
            match self.tokens.token() {
                Token::Word(b"global" | b"constant") => break SymbolKind::Variable,
                Token::Word(b"alias") => break SymbolKind::Alias,
                Token::Word(b"ifunc") => break SymbolKind::Ifunc,
                Token::Word(word) if !self.tokens.at_entity() => {
                    linkage = linkage.or(Linkage::from_word(word));
                    self.tokens.bump();
                }
                Token::Punct(b'(') => {
                    self.tokens.group();
                }
                _ => return self.info.certain = false,
            }
        };
        self.tokens.bump();
        // A variable says that it has no value by writing out one of these two.
        let declared = kind == SymbolKind::Variable
            && matches!(linkage, Some(Linkage::External | Linkage::ExternWeak));
        self.symbol(name, line, kind, linkage, !declared, false);
    }

    fn function(&mut self, defined: bool) {
        self.tokens.bump();
        let header = self.tokens.place();
        let mut linkage = None;
        let mut kernel = false;
        let (name, line) = loop {
            if self.tokens.token() == Token::End || self.tokens.at_entity() {
                return self.info.certain = false;
            }
            let line = self.tokens.line();
            if self.tokens.group() {
                continue;
            }
            match self.tokens.bump() {
                name @ (Token::Global(_) | Token::GlobalNumber(_)) => break (name, line),
                Token::Word(b"ptx_kernel" | b"cc71") => kernel = true,
                Token::Word(b"cc") => kernel |= self.tokens.token() == Token::Int(71),
                Token::Word(word) => linkage = linkage.or(Linkage::from_word(word)),
                _ => {}
            }
        };
        if defined {
            self.headers.push((self.info.symbols.len(), header));
        }
        self.symbol(name, line, SymbolKind::Function, linkage, defined, kernel);
        if self.tokens.token() != Token::Punct(b'(') {
            return self.info.certain = false;
        }
        self.tokens.group();
        if defined {
            self.body();
        }
    }

    /// What stands between the parameters of a function and its body, and the body.
    fn body(&mut self) {
        loop {
            match self.tokens.token() {
                Token::Punct(b'{') => {
                    self.tokens.uses.in_body = true;
                    self.tokens.group();
                    self.tokens.uses.in_body = false;
                    return;
                }
                Token::Word(b"prefix" | b"prologue" | b"personality") => {
                    self.tokens.bump();
                    self.tokens.typed_constant();
                }
                Token::Punct(b'!') => {
                    self.tokens.bump();
                    self.tokens.group();
                }
                Token::End => return self.info.certain = false,
                _ if self.tokens.at_entity() => return self.info.certain = false,
                _ => {
                    if !self.tokens.group() {
                        self.tokens.bump();
                    }
                }
            }
        }
    }

    fn symbol(
        &mut self,
        name: Token<'a>,
        line: u32,
        kind: SymbolKind,
        linkage: Option<Linkage>,
        defined: bool,
        kernel: bool,
    ) {
        let name = match name {
            Token::Global(name) => unescaped(name).into_owned(),
            Token::GlobalNumber(number) => {
                self.metadata.number(number, self.info.symbols.len());
                Vec::new()
            }
            _ => Vec::new(),
        };
        self.info.symbols.push(Symbol {
            name,
            kind,
            defined,
            linkage: linkage.unwrap_or(Linkage::External),
            kernel,
            annotated: false,
            returns_void: None,
            parameter_bytes: None,
            odd_parameter: None,
            line: Some(line),
        });
    }
}
