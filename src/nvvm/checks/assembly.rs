//! Inline assembly whose constraints or operands end the process.
//!
//! PTX has registers of a few kinds, and a letter for each: `h` (16 bits), `r` (32), `l` (64), `q` (128),
//! `f` and `d` (floating point), `b` (a predicate), `c` (8 bits). libNVVM has no answer to an output of
//! any other kind, and to none in memory.

use super::program::Path;
use super::refusal::Refusal;
use crate::nvvm::reader::{Assembly, OperandType};

/// The letters that stand for a register.
const REGISTERS: &[char] = &['h', 'r', 'l', 'q', 'f', 'd', 'b', 'c', 'N'];
const LETTERS: &str = "h, r, l, q, f, d, b or c";

/// One constraint, without its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Constraint<'a> {
    Output { codes: &'a str, indirect: bool },
    Input { codes: &'a str, indirect: bool },
    Clobber,
    Label,
}

fn parse(constraints: &str) -> Option<Vec<Constraint<'_>>> {
    if constraints.is_empty() {
        return Some(Vec::new());
    }
    constraints.split(',').map(one).collect()
}

fn one(text: &str) -> Option<Constraint<'_>> {
    if let Some(register) = text.strip_prefix('~') {
        return (register.starts_with('{') && register.ends_with('}'))
            .then_some(Constraint::Clobber);
    }
    if text.starts_with('!') {
        return Some(Constraint::Label);
    }
    let (output, rest) = match text.strip_prefix('=') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let indirect = rest.starts_with('*');
    let codes = rest.trim_start_matches(['*', '&', '%', '#', ' ']);
    if codes.is_empty() {
        return None;
    }
    Some(if output {
        Constraint::Output { codes, indirect }
    } else {
        Constraint::Input { codes, indirect }
    })
}

/// What no libNVVM takes.
pub(super) fn always(assembly: &Assembly) -> Result<(), Refusal> {
    let refuse = |problem: String, hint: &str| {
        Err(Refusal::new(
            format!(
                "the constraints \"{}\" of inline assembly are wrong: {problem}",
                assembly.constraints
            ),
            hint,
        )
        .at(assembly.line))
    };
    let Some(constraints) = parse(&assembly.constraints) else {
        return refuse(
            "one of them is empty, or a clobber without braces".to_owned(),
            "write them as in \"=r,r,~{memory}\"",
        );
    };
    for constraint in &constraints {
        match constraint {
            Constraint::Output { codes, .. } | Constraint::Input { codes, .. }
                if codes.contains('{') =>
            {
                return refuse(
                    format!("`{codes}` names a register, and PTX has none that can be named so"),
                    "use a letter, and move the value to the register in the assembly",
                );
            }
            Constraint::Output { codes, .. } | Constraint::Input { codes, .. }
                if codes.contains(['o', 'V']) =>
            {
                return refuse(
                    format!("`{codes}` is a place in memory"),
                    "pass a pointer as `l`, and load or store in the assembly",
                );
            }
            Constraint::Output {
                codes,
                indirect: true,
            }
            | Constraint::Input {
                codes,
                indirect: true,
            } if codes.contains('m') => {
                return refuse(
                    format!("`*{codes}` is a place in memory"),
                    "pass a pointer as `l`, and load or store in the assembly",
                );
            }
            Constraint::Output { codes, .. }
                if codes.contains('m') || !codes.contains(REGISTERS) =>
            {
                return refuse(
                    format!("the output `={codes}` is in no register"),
                    &format!("use {LETTERS} for an output"),
                );
            }
            _ => {}
        }
    }
    if let Some(problem) = counts(assembly, &constraints) {
        return refuse(
            problem,
            "give one constraint for each result and each argument",
        );
    }
    let aggregate = |list: &Option<Vec<OperandType>>| {
        list.as_ref()
            .is_some_and(|list| list.contains(&OperandType::Aggregate))
    };
    if aggregate(&assembly.results) {
        return Err(Refusal::new(
            "inline assembly returns an array or a structure in one output",
            "return each element in an output of its own, as in `{i32, i32}` for \"=r,=r\"",
        )
        .at(assembly.line));
    }
    if let Some(what) = template(&assembly.template, operands(&constraints)) {
        return Err(Refusal::new(
            format!(
                "the inline assembly \"{}\" has {what}",
                shortened(&assembly.template)
            ),
            "write `$0` for the first operand and `$$` for a dollar sign",
        )
        .at(assembly.line));
    }
    Ok(())
}

fn is_output(constraint: &Constraint<'_>) -> bool {
    matches!(
        constraint,
        Constraint::Output {
            indirect: false,
            ..
        }
    )
}

fn is_given(constraint: &Constraint<'_>) -> bool {
    matches!(
        constraint,
        Constraint::Input { .. } | Constraint::Output { indirect: true, .. }
    )
}

fn operands(constraints: &[Constraint<'_>]) -> usize {
    let clobber = |c: &&Constraint<'_>| **c == Constraint::Clobber;
    constraints.len() - constraints.iter().filter(clobber).count()
}

fn counts(assembly: &Assembly, constraints: &[Constraint<'_>]) -> Option<String> {
    let outputs = constraints.iter().filter(|c| is_output(c)).count();
    if let Some(results) = assembly.results.as_ref().map(Vec::len) {
        if results != outputs {
            return Some(format!("they have {outputs} outputs for {results} results"));
        }
    }
    let inputs = constraints.iter().filter(|c| is_given(c)).count();
    let arguments = assembly.arguments.as_ref().map(Vec::len)?;
    let labels = constraints.contains(&Constraint::Label);
    (arguments != inputs && !labels)
        .then(|| format!("they have {inputs} inputs for {arguments} arguments"))
}

/// What is wrong with the text, which refers to so many operands.
fn template(text: &str, operands: usize) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        rest = rest.get(at + 1..).unwrap_or_default();
        if let Some(behind) = rest.strip_prefix(['$', '(', ')', '|']) {
            rest = behind;
            continue;
        }
        let (reference, behind) = match rest.strip_prefix('{') {
            Some(inside) => match inside.split_once('}') {
                Some(parts) => parts,
                None => return Some("a `${` without an end".to_owned()),
            },
            None => {
                let end = rest.find(|c: char| !c.is_ascii_digit());
                rest.split_at_checked(end.unwrap_or(rest.len()))?
            }
        };
        rest = behind;
        if matches!(reference, ":uid" | ":private" | ":comment") {
            continue;
        }
        let number = match reference.split_once(':') {
            Some((number, modifier)) if modifier.len() == 1 => number,
            Some(_) => return Some(format!("`${{{reference}}}`, which says nothing")),
            None => reference,
        };
        match number.parse::<usize>() {
            Ok(number) if number < operands => {}
            Ok(number) => return Some(format!("`${number}`, and there are {operands} operands")),
            Err(_) => return Some("a `$` that no number follows".to_owned()),
        }
    }
    None
}

fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    let mut short: String = text.chars().take(MOST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short.escape_debug().to_string()
}

/// What the library at hand does not take; `older` is one of CUDA 12 before 12.9.
pub(super) fn here(assembly: &Assembly, path: Path, older: bool) -> Result<(), Refusal> {
    let Some(constraints) = parse(&assembly.constraints) else {
        return Ok(());
    };
    let refuse = |problem: &str, hint: &str| {
        Err(Refusal::new(
            format!(
                "inline assembly with \"{}\" {problem}",
                assembly.constraints
            ),
            hint,
        )
        .at(assembly.line))
    };
    if path == Path::Modern {
        return Ok(());
    }
    let outputs: Vec<&str> = codes(&constraints, is_output);
    if older && outputs.contains(&"q") {
        return refuse(
            "has an output of 128 bits, at which this libNVVM ends the process",
            "use a libNVVM of CUDA 12.9 or later, or two outputs of 64 bits",
        );
    }
    let inputs: Vec<&str> = codes(&constraints, is_given);
    let none = Vec::new();
    let results = assembly.results.as_ref().unwrap_or(&none);
    let arguments = assembly.arguments.as_ref().unwrap_or(&none);
    let wide = outputs
        .iter()
        .zip(results)
        .chain(inputs.iter().zip(arguments));
    if !older
        && wide
            .into_iter()
            .any(|(codes, type_)| *type_ == OperandType::Integer(128) && !codes.contains('q'))
    {
        return refuse(
            "has an operand of 128 bits in a smaller register, at which this libNVVM ends the process",
            "use `q` for it, or split it in two",
        );
    }
    let kinds_differ = |(codes, given): (&&str, &OperandType)| {
        let tied: Option<usize> = codes.parse().ok();
        let made = tied.and_then(|at| results.get(at));
        matches!(
            (made, given),
            (Some(OperandType::Float), OperandType::Integer(_))
                | (Some(OperandType::Integer(_)), OperandType::Float)
        )
    };
    if inputs.iter().zip(arguments).any(kinds_differ) {
        return refuse(
            "ties an integer to a floating-point number",
            "cast the argument to the type of the result before",
        );
    }
    Ok(())
}

fn codes<'a>(
    constraints: &[Constraint<'a>],
    wanted: impl Fn(&Constraint<'a>) -> bool,
) -> Vec<&'a str> {
    constraints
        .iter()
        .filter(|constraint| wanted(constraint))
        .map(|constraint| match constraint {
            Constraint::Output { codes, .. } | Constraint::Input { codes, .. } => *codes,
            Constraint::Clobber | Constraint::Label => "",
        })
        .collect()
}
