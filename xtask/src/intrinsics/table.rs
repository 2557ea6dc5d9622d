//! What the trials came to, as the table that the library has inside.

use std::collections::BTreeMap;

use super::trial::Path;
use super::worker::Answer;

/// The answers of some compilers to one intrinsic; `None` is the end of a process.
pub type Answers = Vec<Option<Answer>>;

/// What is said of one intrinsic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// At least one library compiles it, and none dies.
    Taken,
    /// No library compiles it, or one dies.
    Refused,
    /// None compiles it, none dies, and it is one of NVVM's own, of which newer libraries have more.
    Unsaid,
}

/// What the answers of all compilers of one kind come to.
pub fn verdict(name: &str, answers: &Answers) -> Verdict {
    if answers.iter().any(Option::is_none) {
        Verdict::Refused
    } else if answers.contains(&Some(Answer::Code)) {
        Verdict::Taken
    } else if name.starts_with("nvvm.") {
        Verdict::Unsaid
    } else {
        Verdict::Refused
    }
}

/// What the table of a path is called.
pub fn title(path: Path) -> String {
    let of = match path {
        Path::Legacy => "LLVM 7",
        Path::Modern => "a current LLVM",
    };
    format!("of libNVVM's compiler of {of}")
}

/// The file for a table: a line for each name, with the types that it is taken with
/// behind `+`, and those that it is refused with behind `-`; `.` stands for none.
pub fn write(title: &str, verdicts: &BTreeMap<String, Verdict>) -> String {
    let mut families: BTreeMap<&str, [Vec<&str>; 2]> = BTreeMap::new();
    for (name, verdict) in verdicts {
        let (head, tail) = split(name);
        let family = families.entry(head).or_default();
        match verdict {
            Verdict::Taken => family[0].push(tail),
            Verdict::Refused => family[1].push(tail),
            Verdict::Unsaid => {}
        }
    }
    let mut text = format!("# Intrinsics: {title}; written by `cargo xtask intrinsics`.\n");
    for (head, [taken, refused]) in families {
        if taken.is_empty() && refused.is_empty() {
            continue;
        }
        text.push_str(head);
        for (sign, tails) in [(" +", taken), (" -", refused)] {
            if !tails.is_empty() {
                text.push_str(sign);
            }
            for tail in tails {
                text.push(' ');
                text.push_str(if tail.is_empty() { "." } else { tail });
            }
        }
        text.push('\n');
    }
    text
}

/// What a file says, by name.
pub fn read(text: &str) -> BTreeMap<String, Verdict> {
    let mut verdicts = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let head = words.next().unwrap_or_default();
        let mut verdict = Verdict::Unsaid;
        for word in words {
            match word {
                "+" => verdict = Verdict::Taken,
                "-" => verdict = Verdict::Refused,
                "." => _ = verdicts.insert(head.to_owned(), verdict),
                tail => _ = verdicts.insert(format!("{head}.{tail}"), verdict),
            }
        }
    }
    verdicts
}

/// Where trials and a table say different things, in words.
pub fn differences(
    tried: &BTreeMap<String, Verdict>,
    table: &BTreeMap<String, Verdict>,
) -> Vec<String> {
    tried
        .iter()
        .filter_map(|(name, tried)| {
            let said = table.get(name).unwrap_or(&Verdict::Unsaid);
            (said != tried).then(|| format!("llvm.{name}: {tried:?}, and {said:?} in the table"))
        })
        .collect()
}

/// A name and the types that it ends in.
fn split(name: &str) -> (&str, &str) {
    let mut at = 0;
    for part in name.split('.') {
        if at > 0 && is_type(part) {
            return (&name[..at - 1], &name[at..]);
        }
        at += part.len() + 1;
    }
    (name, "")
}

/// Whether part of a name is a type, as in `v2f32` or `p3`.
fn is_type(part: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let scalar = match part.strip_prefix('v') {
        Some(vector) => vector.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => part,
    };
    ["bf", "f", "i", "p"]
        .iter()
        .any(|kind| scalar.strip_prefix(kind).is_some_and(number))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ctpop.i32", "ctpop", "i32")]
    #[case("memcpy.p0.p1.i64", "memcpy", "p0.p1.i64")]
    #[case("nvvm.f2i.rn", "nvvm.f2i.rn", "")]
    #[case("vector.reduce.add.v4i32", "vector.reduce.add", "v4i32")]
    fn a_name_ends_where_its_types_begin(
        #[case] name: &str,
        #[case] head: &str,
        #[case] tail: &str,
    ) {
        assert_eq!(split(name), (head, tail));
    }

    #[rstest]
    #[case("exp.f32", vec![Some(Answer::Code), None], Verdict::Refused)]
    #[case("exp.f32", vec![Some(Answer::Code), Some(Answer::Unresolved)], Verdict::Taken)]
    #[case("exp.f32", vec![Some(Answer::Refused)], Verdict::Refused)]
    #[case("nvvm.new", vec![Some(Answer::Refused)], Verdict::Unsaid)]
    fn one_death_refuses_and_one_success_takes(
        #[case] name: &str,
        #[case] answers: Answers,
        #[case] expected: Verdict,
    ) {
        assert_eq!(verdict(name, &answers), expected);
    }

    #[test]
    fn a_family_is_one_line() {
        let verdicts = [
            ("ctpop.i32", Verdict::Taken),
            ("ctpop.i128", Verdict::Refused),
            ("trap", Verdict::Taken),
            ("nvvm.new", Verdict::Unsaid),
        ];
        let verdicts = verdicts.map(|(name, verdict)| (name.to_owned(), verdict));
        let text = write("told", &BTreeMap::from(verdicts));
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, ["ctpop + i32 - i128", "trap + ."]);
    }

    #[test]
    fn what_is_written_is_read_again_and_what_differs_is_named() {
        let verdicts = |i32: Verdict| {
            let verdicts = [("ctpop.i32", i32), ("trap", Verdict::Taken)];
            BTreeMap::from(verdicts.map(|(name, verdict)| (name.to_owned(), verdict)))
        };
        let taken = verdicts(Verdict::Taken);
        let table = read(&write("told", &taken));
        assert_eq!(table, taken);
        assert_eq!(differences(&taken, &table), Vec::<String>::new());
        let refused = verdicts(Verdict::Refused);
        assert_eq!(
            differences(&refused, &table),
            ["llvm.ctpop.i32: Refused, and Taken in the table"]
        );
    }
}
