//! What the bodies of a text use, noted as their tokens go by.

use std::collections::HashSet;

use super::super::types::Types;
use super::super::uses::{Assembly, Intrinsic, OperandType, operand_type, result_types};
use super::lexer::{Lexer, Token, unescaped};
use super::types::Resolved;

#[derive(Debug, Default)]
pub(super) struct Uses<'a> {
    /// Whether the tokens are those of a body.
    pub(super) in_body: bool,
    called: HashSet<&'a [u8]>,
    intrinsics: Vec<Intrinsic>,
    /// In front of the call met last.
    call: Option<Lexer<'a>>,
    /// Each call of inline assembly: in front of `call` and of `asm`, and the line.
    assembly: Vec<(Lexer<'a>, Lexer<'a>, u32)>,
}

impl<'a> Uses<'a> {
    /// Takes a word, with the place in front of it.
    pub(super) fn word(&mut self, word: &'a [u8], place: Lexer<'a>, line: u32) {
        if !self.in_body {
            return;
        }
        match word {
            b"call" | b"invoke" | b"callbr" => self.call = Some(place),
            b"asm" => {
                if let Some(call) = self.call.take() {
                    self.assembly.push((call, place, line));
                }
            }
            _ => {}
        }
    }

    /// Takes the name of a symbol in front of a parenthesis.
    pub(super) fn called(&mut self, name: &'a [u8], line: u32) {
        if !self.in_body || !matches!(name.first(), Some(b'l' | b'\\')) {
            return;
        }
        let plain = unescaped(name);
        if plain.starts_with(b"llvm.") && self.called.insert(name) {
            self.intrinsics.push(Intrinsic {
                name: String::from_utf8_lossy(&plain).into_owned(),
                line: Some(line),
            });
        }
    }

    /// All that was met.
    pub(super) fn found(self, types: &mut Resolved<'a>) -> (Vec<Intrinsic>, Vec<Assembly>) {
        let assembly = self
            .assembly
            .into_iter()
            .filter_map(|(call, asm, line)| read(call, asm, line, types))
            .collect();
        (self.intrinsics, assembly)
    }
}

/// `asm sideeffect "…", "…"(…)`.
fn read<'a>(
    mut call: Lexer<'a>,
    mut asm: Lexer<'a>,
    line: u32,
    types: &mut Resolved<'a>,
) -> Option<Assembly> {
    call.next();
    asm.next();
    let template = loop {
        match asm.next() {
            Token::Word(b"sideeffect" | b"alignstack" | b"inteldialect" | b"unwind") => {}
            Token::String(template) => break template,
            _ => return None,
        }
    };
    if asm.next() != Token::Punct(b',') {
        return None;
    }
    let Token::String(constraints) = asm.next() else {
        return None;
    };
    let result = types.result(call);
    let arguments = types.arguments(asm);
    let known: &Types = types.types();
    let text = |bytes: &[u8]| String::from_utf8_lossy(&unescaped(bytes)).into_owned();
    Some(Assembly {
        template: text(template),
        constraints: text(constraints),
        results: result.map(|at| result_types(known, at)),
        arguments: arguments.map(|list| {
            list.iter()
                .map(|at| operand_type(known, *at))
                .collect::<Vec<OperandType>>()
        }),
        line: Some(line),
    })
}
