//! The parameters of kernels and functions.

use super::lexer::{Kind, Token};
use super::model::Parameter;
use super::parse::{Parser, Result, clip, never_closed, refuse};

/// Reads `( .param …, .param … )`; the first bracket is looked at.
pub(super) fn parameters(parser: &mut Parser<'_>) -> Result<Vec<Parameter>> {
    parser.take()?;
    let mut parameters = Vec::new();
    if parser.take_mark(")")? {
        return Ok(parameters);
    }
    loop {
        parameters.push(parameter(parser)?);
        if parser.take_mark(")")? {
            return Ok(parameters);
        }
        if !parser.take_mark(",")? {
            return Err(parser.unexpected("`,` or `)`"));
        }
    }
}

/// `.param .align 8 .b8 name[24]`, or `.param .u64 .ptr .global .align 16 name`.
fn parameter(parser: &mut Parser<'_>) -> Result<Parameter> {
    if !parser.token.is(Kind::Directive, ".param") {
        return Err(parser.unexpected("`.param`"));
    }
    parser.take()?;
    let mut ty = None;
    let mut align = None;
    let mut pointer = false;
    while parser.token.kind == Kind::Directive {
        let word = parser.take()?;
        match word.text {
            ".align" => {
                let number = parser.expect(Kind::Number, "an alignment in bytes")?;
                let bytes = integer(&number)?;
                if !bytes.is_power_of_two() {
                    let problem = format!("an alignment is a power of two, not {bytes}");
                    return Err(refuse(number.line, problem));
                }
                // After `.ptr` it speaks of what the pointer points to.
                if !pointer {
                    align = Some(bytes);
                }
            }
            ".ptr" => pointer = true,
            ".global" | ".const" | ".shared" | ".local" if pointer => {}
            text => {
                let Some(size) = size_of(text) else {
                    let problem = format!("`{}` is no type of a kernel parameter", clip(text));
                    return Err(refuse(word.line, problem));
                };
                ty = Some((text, size));
            }
        }
    }
    let Some((ty, element)) = ty else {
        return Err(parser.unexpected("the type of a parameter"));
    };
    let name = parser.expect(Kind::Name, "the name of a parameter")?;
    let mut count = 1;
    if parser.take_mark("[")? {
        let number = parser.expect(Kind::Number, "the size of an array")?;
        count = integer(&number)?;
        if !parser.take_mark("]")? {
            return Err(parser.unexpected("`]`"));
        }
    }
    let size = element.checked_mul(count).ok_or_else(|| {
        let problem = format!("the parameter `{}` is larger than memory", clip(name.text));
        refuse(name.line, problem)
    })?;
    Ok(Parameter {
        name: name.text.to_owned(),
        ty: ty.to_owned(),
        size,
        align: align.unwrap_or(element.max(1)),
    })
}

/// The sizes of what stands in brackets before or behind the name of a function, as in
/// `( .param .b64 a, .param .align 4 .b8 b[12] )`: none at all where there are no brackets, and no
/// answer where one of them is of no known size. What is wrong with them, ptxas says.
pub(super) fn sizes(parser: &mut Parser<'_>) -> Result<Option<Vec<usize>>> {
    if !parser.token.is_mark("(") {
        return Ok(Some(Vec::new()));
    }
    let open = parser.take()?;
    let mut sizes = Some(Vec::new());
    let mut size = None;
    let mut array = false;
    let mut any = false;
    loop {
        let word = parser.take()?;
        match (word.kind, word.text) {
            (Kind::End, _) => return Err(never_closed(&open)),
            (Kind::Mark, mark @ ("," | ")")) => {
                if any {
                    sizes = sizes.zip(size).map(|(mut sizes, size)| {
                        sizes.push(size);
                        sizes
                    });
                }
                if mark == ")" {
                    return Ok(sizes);
                }
                (size, array, any) = (None, false, false);
                continue;
            }
            (Kind::Mark, "[") => array = true,
            (Kind::Mark, "]") if array => size = None,
            (Kind::Number, _) if array => {
                let count = integer(&word).ok();
                size = size.zip(count).and_then(|(size, n)| size.checked_mul(n));
                array = false;
            }
            (Kind::Directive, ty) => size = size_of(ty).or(size),
            _ => {}
        }
        any = true;
    }
}

/// Bytes of one value of a type, which is also its natural alignment.
fn size_of(ty: &str) -> Option<usize> {
    Some(match ty {
        ".b8" | ".u8" | ".s8" => 1,
        ".b16" | ".u16" | ".s16" | ".f16" | ".bf16" => 2,
        ".b32" | ".u32" | ".s32" | ".f32" | ".f16x2" | ".bf16x2" => 4,
        ".b64" | ".u64" | ".s64" | ".f64" => 8,
        ".b128" => 16,
        // Bound by name, not passed: ptxas gives them no room among the parameters.
        ".texref" | ".samplerref" | ".surfref" => 0,
        _ => return None,
    })
}

/// A decimal, hexadecimal, octal or binary number above zero, perhaps with a `U` behind it.
fn integer(token: &Token<'_>) -> Result<usize> {
    let text = token.text.strip_suffix('U').unwrap_or(token.text);
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (text.get(2..), 16),
        [b'0', b'b' | b'B', ..] => (text.get(2..), 2),
        [b'0', _, ..] => (text.get(1..), 8),
        _ => (Some(text), 10),
    };
    digits
        .and_then(|digits| usize::from_str_radix(digits, radix).ok())
        .filter(|number| *number > 0)
        .ok_or_else(|| {
            let problem = format!("`{}` is no number of bytes or elements", clip(token.text));
            refuse(token.line, problem)
        })
}
