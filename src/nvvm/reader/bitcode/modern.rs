//! What in bitcode LLVM 7 cannot read, or reads as something else.
//!
//! A newer producer alone proves nothing: bitcode of LLVM 14 compiles below compute_100 as long as
//! it holds none of this. Each proof was given to libNVVM there, which refused it; newer constants
//! it takes for undefined values without a word, and inline assembly of LLVM 14 is one of those.

use super::attributes::behind_zero;
use super::stream::Record;

/// What an entry of the type table proves.
pub(super) fn type_entry(code: u64) -> Option<&'static str> {
    Some(match code {
        23 => "the type `bfloat`",
        24 => "the type `x86_amx`",
        25 => "opaque pointers",
        26 => "a target type",
        27.. => "a type of a later LLVM",
        _ => return None,
    })
}

/// What a record of a function proves; `major` is the LLVM that wrote it.
pub(super) fn instruction(code: u64, major: Option<u32>) -> Option<&'static str> {
    /// It has carried an alignment from then on.
    const COMPARE_EXCHANGE_GREW: u32 = 13;
    Some(match code {
        46 if major.is_some_and(|m| m >= COMPARE_EXCHANGE_GREW) => {
            "the instruction `cmpxchg` as later LLVMs write it"
        }
        56 => "the instruction `fneg`",
        57 => "the instruction `callbr`",
        58 => "the instruction `freeze`",
        59 => "the instruction `atomicrmw` as later LLVMs write it",
        61..=65 => "debug records",
        60.. => "a record of a later LLVM in a function",
        _ => return None,
    })
}

/// What a constant proves.
pub(super) fn constant(code: u64) -> Option<&'static str> {
    const POISON: u64 = 26;
    match code {
        // To take poison for an undefined value changes no program.
        POISON | 0..=24 => None,
        28 | 30 => Some("inline assembly as later LLVMs write it"),
        _ => Some("a constant of a later LLVM"),
    }
}

/// What a group of attributes proves.
pub(super) fn attributes(record: &Record<'_, '_>) -> Option<String> {
    const ENTRY: u64 = 3;
    const FIRST_UNKNOWN: u64 = 59;
    if record.code != ENTRY {
        return None;
    }
    let mut rest = record.operands.get(2..)?;
    while let [form, behind @ ..] = rest {
        rest = match (form, behind) {
            (0 | 1, [kind @ (FIRST_UNKNOWN..), ..]) => {
                return Some(match attribute_name(*kind) {
                    Some(name) => format!("the attribute `{name}`"),
                    None => format!("the attribute of number {kind}"),
                });
            }
            (0, [_, rest @ ..]) | (1, [_, _, rest @ ..]) => rest,
            (3, text) => behind_zero(text)?,
            (4, text) => behind_zero(behind_zero(text)?)?,
            (5.., [kind, ..]) => {
                return Some(match attribute_name(*kind) {
                    Some(name) => format!("the attribute `{name}` with a type or range"),
                    None => "an attribute with a type or range".to_owned(),
                });
            }
            _ => return None,
        };
    }
    None
}

fn attribute_name(kind: u64) -> Option<&'static str> {
    Some(match kind {
        3 => "byval",
        29 => "sret",
        38 => "inalloca",
        59 => "speculative_load_hardening",
        60 => "immarg",
        61 => "willreturn",
        62 => "nofree",
        63 => "nosync",
        64 => "sanitize_memtag",
        65 => "preallocated",
        66 => "nomerge",
        67 => "null_pointer_is_valid",
        68 => "noundef",
        69 => "byref",
        70 => "mustprogress",
        71 => "nocallback",
        72 => "hot",
        73 => "noprofile",
        74 => "vscale_range",
        75 => "swiftasync",
        76 => "nosanitize_coverage",
        77 => "elementtype",
        78 => "disable_sanitizer_instrumentation",
        79 => "nosanitize_bounds",
        80 => "allocalign",
        81 => "allocptr",
        82 => "allockind",
        83 => "presplitcoroutine",
        84 => "fn_ret_thunk_extern",
        85 => "skipprofile",
        86 => "memory",
        87 => "nofpclass",
        88 => "optdebug",
        89 => "writable",
        91 => "dead_on_unwind",
        92 => "range",
        93 => "sanitize_numerical_stability",
        95 => "hybrid_patchable",
        96 => "sanitize_realtime",
        97 => "sanitize_realtime_blocking",
        98 => "coro_elide_safe",
        99 => "noext",
        100 => "nodivergencesource",
        101 => "sanitize_type",
        102 => "captures",
        103 => "dead_on_return",
        104 => "sanitize_alloc_token",
        105 => "nocreateundeforpoison",
        _ => return None,
    })
}
