//! PTX as a module: its header, and its statements one by one.

use std::collections::HashSet;

use super::lexer::{Kind, Lexer, Token};
use super::model::{ExternKind, ExternSymbol, Linkage, Module, PtxKernel, Refusal};
use super::{header, signature};
use crate::artifact::symbol::{Binding, Prototype, Space, Symbol, What};

pub(super) type Result<T> = std::result::Result<T, Refusal>;

/// Reads what a PTX module declares, in one pass over it.
pub(super) fn parse(text: &str) -> Result<Module> {
    let mut parser = Parser::new(text)?;
    let mut module = header::header(&mut parser)?;
    let mut symbols = Symbols::default();
    while parser.token.kind != Kind::End {
        parser.statement(&mut module, &mut symbols)?;
    }
    module.externs = symbols.undefined();
    Ok(module)
}

/// Names that are declared and names that are defined.
#[derive(Default)]
struct Symbols<'a> {
    declared: Vec<(&'a str, ExternKind)>,
    defined: HashSet<&'a str>,
}

impl Symbols<'_> {
    fn undefined(self) -> Vec<ExternSymbol> {
        let mut seen = self.defined;
        let fresh = self.declared.into_iter().filter(|(n, _)| seen.insert(n));
        fresh
            .map(|(name, kind)| ExternSymbol {
                name: name.to_owned(),
                kind,
            })
            .collect()
    }
}

/// What stands before `.entry`, `.func` or a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    None,
    Extern,
    Visible,
    Weak,
    Common,
}

impl Prefix {
    /// Whose a definition is.
    fn binding(self) -> Binding {
        match self {
            Prefix::Extern => Binding::Needed,
            Prefix::Visible => Binding::Strong,
            Prefix::Weak | Prefix::Common => Binding::Weak,
            Prefix::None => Binding::Local,
        }
    }
}

/// Notes what a name stands for.
fn note(module: &mut Module, name: &Token<'_>, what: What, binding: Binding) {
    module.symbols.push(Symbol {
        name: name.text.to_owned(),
        what,
        binding,
    });
}

/// Whose signature it is that a body may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Kernel,
    Function,
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    pub text: &'a str,
    /// The word that is looked at, not yet taken.
    pub token: Token<'a>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        Ok(Parser { lexer, text, token })
    }

    /// Takes the word that is looked at.
    pub fn take(&mut self) -> Result<Token<'a>> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Takes the word if it is that mark.
    pub fn take_mark(&mut self, mark: &str) -> Result<bool> {
        let there = self.token.is_mark(mark);
        if there {
            self.take()?;
        }
        Ok(there)
    }

    /// Takes a word of that kind, or says what was expected.
    pub fn expect(&mut self, kind: Kind, what: &str) -> Result<Token<'a>> {
        if self.token.kind == kind {
            self.take()
        } else {
            Err(self.unexpected(what))
        }
    }

    pub fn unexpected(&self, what: &str) -> Refusal {
        let problem = match self.token.kind {
            Kind::End => format!("{what} is expected, and the text ends"),
            _ => format!(
                "{what} is expected, and `{}` is there",
                clip(self.token.text)
            ),
        };
        refuse(self.token.line, problem)
    }

    /// Steps over a pair of brackets and all between them; the first is looked at.
    pub fn skip_brackets(&mut self) -> Result<()> {
        let open = self.token;
        let mut depth = 0_usize;
        loop {
            match self.take()? {
                Token {
                    kind: Kind::End, ..
                } => {
                    return Err(never_closed(&open));
                }
                Token {
                    kind: Kind::Mark,
                    text: "{" | "(" | "[",
                    ..
                } => depth += 1,
                Token {
                    kind: Kind::Mark,
                    text: "}" | ")" | "]",
                    ..
                } => {
                    depth = depth.saturating_sub(1);
                }
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn statement(&mut self, module: &mut Module, symbols: &mut Symbols<'a>) -> Result<()> {
        let mut prefix = Prefix::None;
        loop {
            if self.token.kind != Kind::Directive {
                return Err(self.unexpected("a directive"));
            }
            let said = match self.token.text {
                ".extern" => Prefix::Extern,
                ".visible" => Prefix::Visible,
                ".weak" => Prefix::Weak,
                ".common" => Prefix::Common,
                _ => break,
            };
            if prefix != Prefix::None {
                return Err(self.unexpected("`.entry`, `.func` or a variable"));
            }
            prefix = said;
            self.take()?;
        }
        match self.token.text {
            ".entry" => self.entry(prefix, module),
            ".func" => self.function(prefix, module, symbols),
            ".version" | ".target" | ".address_size" => {
                let problem = format!("`{}` stands at the beginning, once", self.token.text);
                Err(refuse(self.token.line, problem))
            }
            ".file" => self.file(),
            ".section" => {
                self.take()?;
                while !self.token.is_mark("{") {
                    // A section that is one string, as that of the compiler's version.
                    if self.token.kind == Kind::String {
                        self.take()?;
                        return Ok(());
                    }
                    if !matches!(self.token.kind, Kind::Directive | Kind::Name) {
                        return Err(self.unexpected("the `{` of a section"));
                    }
                    self.take()?;
                }
                self.skip_brackets()
            }
            ".alias" => {
                self.take()?;
                let name = self.expect(Kind::Name, "the name of an alias")?;
                symbols.defined.insert(name.text);
                module.functions.push(name.text.to_owned());
                self.skip_statement()
            }
            ".global" | ".const" | ".shared" | ".local" | ".reg" | ".tex" => {
                self.variable(prefix, module, symbols)
            }
            // A later version of the language may have more of them.
            _ => self.skip_statement(),
        }
    }

    fn entry(&mut self, prefix: Prefix, module: &mut Module) -> Result<()> {
        self.take()?;
        if self.token.is_mark("(") {
            // libNVVM writes one for a kernel that returns a value.
            return Err(Refusal {
                line: self.token.line,
                problem: "a kernel returns a value, which PTX does not have".to_owned(),
                hint: "let every kernel return void".to_owned(),
            });
        }
        let name = self.name("a kernel")?;
        let parameters = if self.token.is_mark("(") {
            signature::parameters(self)?
        } else {
            Vec::new()
        };
        if self.body(&name, Of::Kernel)? {
            note(module, &name, What::Kernel, prefix.binding());
            module.kernels.push(PtxKernel {
                name: name.text.to_owned(),
                linkage: match prefix {
                    Prefix::Visible => Linkage::Visible,
                    Prefix::Weak => Linkage::Weak,
                    Prefix::None | Prefix::Extern | Prefix::Common => Linkage::Unmarked,
                },
                parameters,
            });
        }
        Ok(())
    }

    fn function(
        &mut self,
        prefix: Prefix,
        module: &mut Module,
        symbols: &mut Symbols<'a>,
    ) -> Result<()> {
        self.take()?;
        while self.token.kind == Kind::Directive {
            let attribute = self.take()?.text == ".attribute";
            if attribute && self.token.is_mark("(") {
                self.skip_brackets()?;
            }
        }
        let results = signature::sizes(self)?;
        let name = self.name("a function")?;
        let parameters = signature::sizes(self)?;
        let prototype = results.zip(parameters);
        let what = What::Function(prototype.map(|(results, parameters)| Prototype {
            results,
            parameters,
        }));
        if self.body(&name, Of::Function)? {
            symbols.defined.insert(name.text);
            note(module, &name, what, prefix.binding());
            module.functions.push(name.text.to_owned());
        } else {
            symbols.declared.push((name.text, ExternKind::Function));
            note(module, &name, what, Binding::Needed);
        }
        Ok(())
    }

    fn name(&mut self, of: &str) -> Result<Token<'a>> {
        match self.token.kind {
            Kind::Name => self.take(),
            Kind::Number => Err(self.no_name(&self.token)),
            _ => Err(self.unexpected(&format!("the name of {of}"))),
        }
    }

    /// libNVVM writes a name as the module spells it, even where PTX allows no such name.
    fn no_name(&self, at: &Token<'_>) -> Refusal {
        let rest = self.text.get(at.start..).unwrap_or_default();
        let end = rest.find(|c: char| c == '(' || c.is_whitespace());
        let name = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
        Refusal {
            line: at.line,
            problem: format!("`{}` is no name that PTX allows", clip(name)),
            hint: "rename it in the source: letters, digits, `_` and `$`, and no digit first"
                .to_owned(),
        }
    }

    /// Steps over all that follows a signature; says whether there was a body.
    fn body(&mut self, name: &Token<'a>, of: Of) -> Result<bool> {
        loop {
            match (self.token.kind, self.token.text) {
                (Kind::Mark, "{") => return self.skip_brackets().map(|()| true),
                (Kind::Mark, ";") => return self.take().map(|_| false),
                (Kind::Mark, ",") | (Kind::Number | Kind::String | Kind::Name, _) => {}
                (Kind::Mark, "(") => return Err(self.no_name(name)),
                // The one directive here that has a `;` of its own, which is not that of a prototype.
                (Kind::Directive, ".pragma") => {
                    self.skip_statement()?;
                    continue;
                }
                (Kind::Directive, directive) if !begins_statement(directive) => {}
                // The `;` of a prototype may be left out.
                (Kind::Directive | Kind::End, _) if of == Of::Function => return Ok(false),
                _ => {
                    let what = format!("the body of `{}`", clip(name.text));
                    return Err(self.unexpected(&what));
                }
            }
            self.take()?;
        }
    }

    /// A declaration of one or more variables.
    fn variable(
        &mut self,
        prefix: Prefix,
        module: &mut Module,
        symbols: &mut Symbols<'a>,
    ) -> Result<()> {
        let space = self.take()?;
        let what = What::Variable(match space.text {
            ".global" => Some(Space::Global),
            ".const" => Some(Space::Constant),
            ".shared" => Some(Space::Shared),
            _ => None,
        });
        let mut name_may_come = true;
        loop {
            match (self.token.kind, self.token.text) {
                (Kind::Mark, ";") => return self.take().map(|_| ()),
                (Kind::Mark, ",") => name_may_come = true,
                (Kind::Mark, "{" | "(") => {
                    self.skip_brackets()?;
                    continue;
                }
                (Kind::Mark, "}" | ")") | (Kind::End, _) => {
                    return Err(self.unexpected("the `;` of a variable"));
                }
                (Kind::Name, _) if name_may_come => {
                    name_may_come = false;
                    let name = self.take()?;
                    let unsized_array = self.take_mark("[")? && self.token.is_mark("]");
                    if prefix == Prefix::Extern {
                        let kind = if space.text == ".shared" && unsized_array {
                            ExternKind::DynamicShared
                        } else {
                            ExternKind::Variable
                        };
                        symbols.declared.push((name.text, kind));
                    } else {
                        symbols.defined.insert(name.text);
                    }
                    note(module, &name, what.clone(), prefix.binding());
                    continue;
                }
                _ => {}
            }
            self.take()?;
        }
    }

    /// `.file 1 "name", time, size`, which nothing ends.
    fn file(&mut self) -> Result<()> {
        self.take()?;
        self.expect(Kind::Number, "the number of a file")?;
        self.expect(Kind::String, "the name of a file")?;
        while self.take_mark(",")? {
            self.expect(Kind::Number, "the time or the size of a file")?;
        }
        Ok(())
    }

    /// Steps over a statement, to its `;` or past its block.
    fn skip_statement(&mut self) -> Result<()> {
        let first = self.take()?;
        loop {
            match (self.token.kind, self.token.text) {
                (Kind::Mark, ";") => return self.take().map(|_| ()),
                (Kind::Mark, "{") => return self.skip_brackets(),
                (Kind::Mark, "(") => self.skip_brackets()?,
                (Kind::Mark, "}" | ")") | (Kind::End, _) => {
                    let what = format!("the `;` that ends `{}`", clip(first.text));
                    return Err(self.unexpected(&what));
                }
                _ => {
                    self.take()?;
                }
            }
        }
    }
}

fn begins_statement(directive: &str) -> bool {
    matches!(
        directive,
        ".entry"
            | ".func"
            | ".extern"
            | ".visible"
            | ".weak"
            | ".common"
            | ".global"
            | ".const"
            | ".shared"
            | ".file"
            | ".section"
            | ".alias"
    )
}

pub(super) fn never_closed(open: &Token<'_>) -> Refusal {
    Refusal {
        line: open.line,
        problem: format!("the `{}` here is never closed", open.text),
        hint: "the text may be cut off; make it again".to_owned(),
    }
}

pub(super) fn refuse(line: u32, problem: String) -> Refusal {
    Refusal {
        line,
        problem,
        hint: "mend the PTX, or have its compiler make it again".to_owned(),
    }
}

/// As much of an untrusted word as a message should repeat.
pub(super) fn clip(text: &str) -> String {
    let mut clipped: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        clipped.push('…');
    }
    clipped
}
