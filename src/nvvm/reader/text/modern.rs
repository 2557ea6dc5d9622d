//! The words that LLVM 7 does not know, and so refuses wherever they stand as keywords.
//!
//! libNVVM reads its input with LLVM 7 below compute_100. Each word here was given to it and was
//! refused; one that it takes must not stand here, since a caller acts on it.

/// What a bare word proves, where it proves anything.
pub(super) fn word(word: &[u8], before_parenthesis: bool) -> Option<String> {
    let what = match word {
        b"ptr" | b"bfloat" | b"x86_amx" | b"vscale" => "type",
        b"target" if before_parenthesis => "type",
        b"freeze" | b"fneg" | b"callbr" => "instruction",
        b"poison" | b"splat" | b"dso_local_equivalent" | b"no_cfi" | b"ptrauth" => "constant",
        b"disjoint" | b"nneg" | b"samesign" | b"nusw" => "flag",
        b"uinc_wrap" | b"udec_wrap" | b"usub_cond" | b"usub_sat" | b"fmaximum" | b"fminimum" => {
            "atomic operation"
        }
        b"allocalign"
        | b"allockind"
        | b"allocptr"
        | b"byref"
        | b"captures"
        | b"coro_elide_safe"
        | b"dead_on_return"
        | b"dead_on_unwind"
        | b"disable_sanitizer_instrumentation"
        | b"elementtype"
        | b"fn_ret_thunk_extern"
        | b"hot"
        | b"hybrid_patchable"
        | b"immarg"
        | b"initializes"
        | b"memory"
        | b"mustprogress"
        | b"nocallback"
        | b"nocreateundeforpoison"
        | b"nodivergencesource"
        | b"noext"
        | b"nofpclass"
        | b"nofree"
        | b"nomerge"
        | b"noprofile"
        | b"nosanitize_bounds"
        | b"nosanitize_coverage"
        | b"nosync"
        | b"noundef"
        | b"null_pointer_is_valid"
        | b"optdebug"
        | b"preallocated"
        | b"presplitcoroutine"
        | b"range"
        | b"sanitize_alloc_token"
        | b"sanitize_memtag"
        | b"sanitize_numerical_stability"
        | b"sanitize_realtime"
        | b"sanitize_realtime_blocking"
        | b"sanitize_type"
        | b"skipprofile"
        | b"speculative_load_hardening"
        | b"swiftasync"
        | b"vscale_range"
        | b"willreturn"
        | b"writable" => "attribute",
        b"byval" | b"sret" | b"inalloca" | b"uwtable" if before_parenthesis => {
            let word = String::from_utf8_lossy(word);
            return Some(format!("the attribute `{word}` with parentheses"));
        }
        b"partition"
        | b"code_model"
        | b"no_sanitize_address"
        | b"no_sanitize_hwaddress"
        | b"sanitize_address_dyninit" => "word",
        b"tailcc" | b"cfguard_checkcc" | b"swifttailcc" => "calling convention",
        _ => return None,
    };
    Some(format!("the {what} `{}`", String::from_utf8_lossy(word)))
}

/// What a specialised metadata node proves, where it proves anything.
pub(super) fn node(name: &[u8]) -> Option<String> {
    matches!(
        name,
        b"DIGenericSubrange"
            | b"DIArgList"
            | b"DIAssignID"
            | b"DISubrangeType"
            | b"DIFixedPointType"
    )
    .then(|| format!("the metadata `!{}`", String::from_utf8_lossy(name)))
}

/// What a debug record proves: LLVM 7 has none.
pub(super) fn debug_record(name: &[u8]) -> Option<String> {
    let known = name.starts_with(b"dbg_");
    known.then(|| format!("the debug record `#{}`", String::from_utf8_lossy(name)))
}
