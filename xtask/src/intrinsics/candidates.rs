//! What is tried: names with the types that they are called with.

/// The list: names of LLVM's and NVVM IR's documents, with their types.
const LIST: &str = include_str!("candidates.txt");

const FLOATS: [&str; 6] = ["f16", "bf16", "f32", "f64", "f80", "f128"];
/// Those that GPUs have registers for, and one for each kind of the others.
const INTEGERS: [&str; 11] = [
    "i1", "i4", "i8", "i16", "i24", "i32", "i48", "i64", "i96", "i128", "i256",
];
const FLOAT_VECTORS: [&str; 12] = [
    "v2f16", "v4f16", "v8f16", "v2bf16", "v4bf16", "v2f32", "v3f32", "v4f32", "v8f32", "v2f64",
    "v3f64", "v4f64",
];
const INTEGER_VECTORS: [&str; 11] = [
    "v4i1", "v2i8", "v4i8", "v8i8", "v2i16", "v4i16", "v2i32", "v3i32", "v4i32", "v8i32", "v2i64",
];

/// One intrinsic with types for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its name, behind `llvm.`, with pointers as current LLVM writes them (`p0`).
    pub name: String,
    result: String,
    arguments: Vec<String>,
    /// What `T` stands for, if for anything.
    t: String,
    /// Where it is called so, if not everywhere.
    only: Option<Pointers>,
}

/// All of them, in the order of the list.
pub fn all() -> Vec<Candidate> {
    LIST.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .flat_map(line)
        .collect()
}

fn line(line: &str) -> Vec<Candidate> {
    let mut parts = line.splitn(3, " | ");
    let mut part = || parts.next().expect("three parts");
    let (set, signature, names) = (part(), part(), part());
    let (result, arguments) = signature.split_once(" (").expect("a signature");
    let arguments: Vec<String> = split(arguments.trim_end_matches(')'));
    let (set, only) = match set.strip_suffix("typed") {
        Some(rest) => (rest.trim_end(), Some(Pointers::Typed)),
        None => match set.strip_suffix("opaque") {
            Some(rest) => (rest.trim_end(), Some(Pointers::Opaque)),
            None => (set, None),
        },
    };
    let mut candidates = Vec::new();
    for name in names.split_whitespace().flat_map(braces) {
        for t in types(set) {
            candidates.push(Candidate {
                name: name
                    .replace('$', t)
                    .replace('%', element(t))
                    .replace('@', &pointers(t))
                    .replace(".q", ".p"),
                result: result.to_owned(),
                arguments: arguments.clone(),
                t: t.to_owned(),
                only,
            });
        }
    }
    candidates
}

fn types(set: &str) -> Vec<&str> {
    match set {
        "-" => vec![""],
        "FS" => FLOATS.to_vec(),
        "F" => [&FLOATS[..], &FLOAT_VECTORS].concat(),
        "I" => [&INTEGERS[..], &INTEGER_VECTORS].concat(),
        "VF" => FLOAT_VECTORS.to_vec(),
        "VI" => INTEGER_VECTORS.to_vec(),
        "V" => [&FLOAT_VECTORS[..], &INTEGER_VECTORS].concat(),
        list => list.split(',').collect(),
    }
}

/// Commas that are in no braces.
fn split(text: &str) -> Vec<String> {
    let mut depth = 0_u32;
    let mut parts = vec![String::new()];
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("one at least").push(c);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// `a{b,c}d` to `abd` and `acd`, nested ones too.
fn braces(text: &str) -> Vec<String> {
    let Some(open) = text.find('{') else {
        return vec![text.to_owned()];
    };
    let mut depth = 0;
    let close = text[open..]
        .char_indices()
        .find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0
        })
        .map(|(at, _)| open + at)
        .expect("braces that close");
    let inside = &text[open + 1..close];
    let mut alternatives = split(inside);
    if inside.starts_with(',') {
        alternatives.insert(0, String::new());
    }
    alternatives
        .iter()
        .flat_map(|one| braces(&format!("{}{one}{}", &text[..open], &text[close + 1..])))
        .collect()
}

/// The element of a vector, or the type itself.
fn element(t: &str) -> &str {
    vector(t).map_or(t, |(_, element)| element)
}

/// The suffix of a vector of as many pointers.
fn pointers(t: &str) -> String {
    vector(t).map_or_else(String::new, |(length, _)| format!("v{length}p0"))
}

/// How many elements a vector has, and of which type.
fn vector(t: &str) -> Option<(&str, &str)> {
    let rest = t.strip_prefix('v')?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then(|| rest.split_at(end))
}

/// In which words a compiler is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pointers {
    /// `i8*`, and `p0i8` in names.
    Typed,
    /// `ptr`, and `p0` in names.
    Opaque,
}

impl Candidate {
    /// Whether it is called so where pointers are these.
    pub fn is_for(&self, pointers: Pointers) -> bool {
        self.only.is_none_or(|only| only == pointers)
    }

    /// Whether there is a second module to try: some have code for fast arithmetic alone.
    pub fn may_be_fast(&self) -> bool {
        let result = if self.result == "T" {
            element(&self.t)
        } else {
            &self.result
        };
        FLOATS.contains(&result)
    }

    /// A module whose one function calls the intrinsic, with fast arithmetic or not, and keeps what
    /// comes of it.
    pub fn module(&self, pointers: Pointers, fast: bool) -> String {
        let name = self.name_for(pointers);
        let result = self.spell(&self.result, pointers);
        let (mut declared, mut parameters, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for (n, argument) in self.arguments.iter().enumerate() {
            match argument.split_once(':') {
                Some(("m", text)) => {
                    declared.push("metadata".to_owned());
                    given.push(format!("metadata !\"{text}\""));
                }
                Some((ty, value)) => {
                    let ty = self.spell(ty, pointers);
                    let value = match (ty.as_str(), value) {
                        ("i1", "0") => "false",
                        ("i1", _) => "true",
                        _ => value,
                    };
                    given.push(format!("{ty} {value}"));
                    declared.push(ty);
                }
                None => {
                    let ty = self.spell(argument, pointers);
                    parameters.push(format!("{ty} %a{n}"));
                    given.push(format!("{ty} %a{n}"));
                    declared.push(ty);
                }
            }
        }
        let fast = if fast { "fast " } else { "" };
        let call = format!("call {fast}{result} @llvm.{name}({})", given.join(", "));
        let body = match (self.result.as_str(), pointers) {
            ("void" | "token", _) => format!("  {call}\n"),
            (_, Pointers::Typed) => {
                parameters.push(format!("{result}* %out"));
                format!("  %r = {call}\n  store {result} %r, {result}* %out\n")
            }
            (_, Pointers::Opaque) => {
                parameters.push("ptr %out".to_owned());
                format!("  %r = {call}\n  store {result} %r, ptr %out\n")
            }
        };
        format!(
            "{HEAD}declare {result} @llvm.{name}({})\ndefine void @f({}) {{\n{body}  ret void\n}}\n{TAIL}",
            declared.join(", "),
            parameters.join(", "),
        )
    }

    /// The name, with what its pointers point to where that belongs to it.
    fn name_for(&self, pointers: Pointers) -> String {
        if pointers == Pointers::Opaque {
            return self.name.clone();
        }
        let has = |kind| self.arguments.iter().any(|a| a.starts_with(kind));
        let pointee = match () {
            () if has('q') => &self.t,
            () if has('W') => element(&self.t),
            () => "i8",
        };
        let is_pointer = |part| element(part).strip_prefix('p').is_some_and(is_number);
        let spelt: Vec<String> = self
            .name
            .split('.')
            .map(|part| match part {
                pointer if is_pointer(pointer) => format!("{pointer}{pointee}"),
                other => other.to_owned(),
            })
            .collect();
        spelt.join(".")
    }

    fn spell(&self, ty: &str, pointers: Pointers) -> String {
        if let Some(inside) = ty.strip_prefix('{') {
            let parts = split(inside.trim_end_matches('}'));
            let parts: Vec<String> = parts.iter().map(|p| self.spell(p, pointers)).collect();
            return format!("{{ {} }}", parts.join(", "));
        }
        let ty = match ty {
            "W" => {
                let (length, element) = vector(&self.t).unwrap_or(("1", &self.t));
                let element = self.spell(element, pointers);
                return match pointers {
                    Pointers::Typed => format!("<{length} x {element}*>"),
                    Pointers::Opaque => format!("<{length} x ptr>"),
                };
            }
            "T" => &self.t,
            "E" => element(&self.t),
            "B" => match vector(&self.t) {
                Some((length, _)) => return format!("<{length} x i1>"),
                None => "i1",
            },
            other => other,
        };
        if let Some((length, element)) = vector(ty) {
            return format!("<{length} x {}>", self.spell(element, pointers));
        }
        match ty {
            "f16" => "half".to_owned(),
            "bf16" => "bfloat".to_owned(),
            "f32" => "float".to_owned(),
            "f64" => "double".to_owned(),
            "f80" => "x86_fp80".to_owned(),
            "f128" => "fp128".to_owned(),
            _ => self.pointer(ty, pointers).unwrap_or_else(|| ty.to_owned()),
        }
    }

    fn pointer(&self, ty: &str, pointers: Pointers) -> Option<String> {
        let (to, space) = match ty.strip_prefix('q') {
            Some(space) => (self.spell(&self.t, pointers), space),
            None => ("i8".to_owned(), ty.strip_prefix('p')?),
        };
        let space = match space {
            "0" => String::new(),
            space if is_number(space) => format!(" addrspace({space})"),
            _ => return None,
        };
        Some(match pointers {
            Pointers::Typed => format!("{to}{space}*"),
            Pointers::Opaque => format!("ptr{space}"),
        })
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

const HEAD: &str = r#"target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
"#;
const TAIL: &str = "!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_alternatives_and_may_be_empty_or_nested() {
        assert_eq!(braces("a{b{c,d},e}f"), ["abcf", "abdf", "aef"]);
        assert_eq!(braces("x{,.ftz}"), ["x", "x.ftz"]);
    }

    #[test]
    fn a_pointer_is_named_with_what_it_points_to_where_pointers_are_typed() {
        let candidates = line("v2f32 | T (q1,i32:4,B,T) | masked.load.$.q1");
        let [load] = candidates.as_slice() else {
            panic!("{candidates:?}")
        };
        assert_eq!(load.name, "masked.load.v2f32.p1");
        let typed = load.module(Pointers::Typed, false);
        assert!(
            typed.contains(
                "declare <2 x float> @llvm.masked.load.v2f32.p1v2f32(<2 x float> addrspace(1)*, \
                 i32, <2 x i1>, <2 x float>)"
            ),
            "{typed}"
        );
        let opaque = load.module(Pointers::Opaque, false);
        assert!(
            opaque.contains("@llvm.masked.load.v2f32.p1(ptr addrspace(1) %a0, i32 4, <2 x i1> %a2"),
            "{opaque}"
        );
    }

    #[test]
    fn a_vector_of_pointers_is_named_with_their_number() {
        let candidates = line("v4f32 | T (W,i32:4,B,T) | masked.gather.$.@");
        let [gather] = candidates.as_slice() else {
            panic!("{candidates:?}")
        };
        let typed = gather.module(Pointers::Typed, false);
        assert!(
            typed.contains("@llvm.masked.gather.v4f32.v4p0f32(<4 x float*>, i32, <4 x i1>"),
            "{typed}"
        );
    }

    #[test]
    fn every_line_of_the_list_is_read_and_names_nothing_twice() {
        let all = all();
        assert!(all.len() > 1000, "{}", all.len());
        assert!(
            all.iter()
                .all(|c| !c.name.contains(['$', '%', '@', '{', ',']))
        );
    }
}
