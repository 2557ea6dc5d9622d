//! Repairs of modules of text that change no program.
//!
//! Nothing moves to another line: what is added stands in front of the first line or behind the last,
//! so that the library's messages still speak of the user's lines.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use super::checks::{self, Difference, Layout, Path, Situation};
use super::modules::{LAYOUT, Module};
use super::options::Repair;
use super::reader::{self, Flags, ModuleInfo, ModuleKind, Places};
use crate::diagnostic::{Diagnostic, Severity};

/// The modules as the library is to get them, and what was done.
pub(super) struct Repaired<'a> {
    pub(super) modules: Cow<'a, [Module]>,
    pub(super) notes: Vec<Diagnostic>,
    /// The names that were respelt, with what they became.
    pub(super) names: BTreeMap<String, String>,
}

/// What was mended before, so that a handle that holds it is kept.
#[derive(Debug, Default)]
pub(super) struct Known(Vec<Module>);

impl Known {
    /// The number of a mended module: that of an equal one from before, or a new one.
    fn id(&mut self, mended: &Module, of: &Module, new_id: &mut dyn FnMut() -> u64) -> u64 {
        const MOST: usize = 64;
        let equal = |known: &&Module| known.name == of.name && known.bytes == mended.bytes;
        if let Some(known) = self.0.iter().find(equal) {
            return known.id;
        }
        let id = new_id();
        // Each dialect has a spelling of its own, but no program has many of one module.
        if self.0.len() >= MOST {
            self.0.remove(0);
        }
        self.0.push(Module {
            id,
            ..mended.clone()
        });
        id
    }
}

/// Mends what may be mended.
pub(super) fn mend<'a>(
    situation: &Situation<'_>,
    modules: &'a [Module],
    known: &mut Known,
    new_id: &mut dyn FnMut() -> u64,
) -> Repaired<'a> {
    let mut repaired = Repaired {
        modules: Cow::Borrowed(modules),
        notes: Vec::new(),
        names: BTreeMap::new(),
    };
    if situation.options.repair == Repair::Off {
        return repaired;
    }
    let names = respelt(situation, modules);
    for (at, module) in modules.iter().enumerate() {
        if module.lazy || module.info.kind != ModuleKind::Text || !module.info.certain {
            continue;
        }
        let mut mend = Mend::new(module);
        if needs_target(&module.info) || needs_top(&module.info, situation.path) {
            mend.target(situation.path);
        }
        if module.info.nvvmir_version.is_none() && module.info.nvvmir_version_malformed.is_none() {
            mend.version(situation);
        }
        if situation.path == Path::Legacy && module.info.compile_units > 0 {
            mend.flags();
        }
        if module
            .info
            .symbols
            .iter()
            .any(|s| names.contains_key(&s.name))
        {
            mend.names(&names);
        }
        let Some((mut mended, notes)) = mend.done() else {
            continue;
        };
        mended.id = known.id(&mended, module, new_id);
        repaired.notes.extend(notes);
        if let Some(place) = repaired.modules.to_mut().get_mut(at) {
            *place = mended;
        }
    }
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    repaired.names = names
        .iter()
        .map(|(old, new)| (text(old), new.clone()))
        .collect();
    repaired
}

fn needs_target(info: &ModuleInfo) -> bool {
    info.triple.is_none() || info.data_layout.as_deref() != Some(LAYOUT)
}

fn needs_top(info: &ModuleInfo, path: Path) -> bool {
    path == Path::Modern && info.late_target.is_some()
}

/// The names to respell: those that would stand in the result, and that text alone has.
fn respelt(situation: &Situation<'_>, modules: &[Module]) -> BTreeMap<Vec<u8>, String> {
    let bad = modules
        .iter()
        .filter(|module| !module.lazy)
        .flat_map(|module| {
            let symbols = module.info.symbols.iter();
            symbols.filter(|symbol| {
                symbol.defined
                    && !symbol.name.is_empty()
                    && !symbol.name.starts_with(b"llvm.")
                    && checks::stands(symbol)
                    && (symbol.kernel || !situation.lto)
                    && !checks::is_spelt(&symbol.name)
            })
        });
    let mut names: BTreeMap<Vec<u8>, String> =
        bad.map(|s| (s.name.clone(), spelling(&s.name))).collect();
    if names.is_empty() {
        return names;
    }
    let mut taken: HashSet<&[u8]> = HashSet::new();
    for module in modules {
        if !module.info.certain {
            return BTreeMap::new();
        }
        // A comdat goes by the name of its function, and must be found by it.
        let mends = module.info.kind == ModuleKind::Text
            && !module.lazy
            && !reader::places(&module.bytes).comdats;
        for symbol in &module.info.symbols {
            taken.insert(&symbol.name);
            if !mends {
                names.remove(&symbol.name);
            }
        }
    }
    let mut seen: HashSet<String> = HashSet::new();
    names.retain(|_, new| !taken.contains(new.as_bytes()) && seen.insert(new.clone()));
    names
}

/// A name that PTX can spell, the same for the same name wherever it stands.
fn spelling(name: &[u8]) -> String {
    let mut spelt = String::new();
    let short = name.len() == 1 && !name.first().is_some_and(u8::is_ascii_alphabetic);
    if name == b"WARP_SZ" || short || name.first().is_some_and(u8::is_ascii_digit) {
        spelt.push_str("_$");
    }
    for byte in name {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') {
            spelt.push(char::from(*byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(spelt, "${byte:02X}");
        }
    }
    spelt
}

/// A module that is being mended.
struct Mend<'a> {
    module: &'a Module,
    places: Option<Places>,
    front: String,
    back: String,
    edits: Vec<(Range<usize>, String)>,
    notes: Vec<Diagnostic>,
}

impl<'a> Mend<'a> {
    fn new(module: &'a Module) -> Self {
        Mend {
            module,
            places: None,
            front: String::new(),
            back: String::new(),
            edits: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn places(&mut self) -> &Places {
        let bytes = &self.module.bytes;
        self.places.get_or_insert_with(|| reader::places(bytes))
    }

    fn note(&mut self, line: Option<u32>, message: impl Into<String>) {
        let note = Diagnostic::new(Severity::Note, message).in_module(self.module.name());
        self.notes.push(match line {
            Some(line) => note.at_line(line),
            None => note,
        });
    }

    fn target(&mut self, path: Path) {
        let module = self.module;
        let info = &module.info;
        let late = path == Path::Modern && info.late_target.is_some();
        let layout = match info.data_layout.as_deref() {
            Some(LAYOUT) => None,
            None | Some("") => Some("the data layout of libNVVM was added"),
            Some(other) if says_the_same(other, self.places()) => {
                Some("the data layout was written as libNVVM does")
            }
            // Left to the library, which says what it does not like.
            Some(_) => None,
        };
        let triple = info.triple.is_none();
        if !late && layout.is_none() && !triple {
            return;
        }
        let (places, mut edits) = (self.places(), Vec::new());
        let (mut front, mut has_layout) = (String::new(), false);
        let quoted = format!("\"{LAYOUT}\"");
        for target in &places.targets {
            has_layout |= target.layout;
            let new = (target.layout && layout.is_some()).then_some(&quoted);
            if late {
                let bytes = &module.bytes;
                let text = |range: Range<usize>| {
                    String::from_utf8_lossy(bytes.get(range).unwrap_or_default()).into_owned()
                };
                let head = text(target.place.start..target.string.start);
                let string = new.cloned().unwrap_or_else(|| text(target.string.clone()));
                front.push_str(&head.replace(['\n', '\r'], " "));
                front.push_str(&string);
                front.push(' ');
                let lines = text(target.place.clone()).matches('\n').count();
                edits.push((target.place.clone(), "\n".repeat(lines)));
            } else if let Some(new) = new {
                edits.push((target.string.clone(), new.clone()));
            }
        }
        if layout.is_some() && !has_layout {
            let _ = write!(front, "target datalayout = {quoted} ");
        }
        if triple {
            front.push_str("target triple = \"nvptx64-nvidia-cuda\" ");
        }
        self.edits.extend(edits);
        self.front.push_str(&front);
        if late {
            self.note(info.late_target, "the `target` lines were moved to the top");
        }
        if let Some(message) = layout {
            self.note(info.data_layout_line, message);
        }
        if triple {
            self.note(None, "the target triple nvptx64-nvidia-cuda was added");
        }
    }

    fn version(&mut self, situation: &Situation<'_>) {
        let Some((ir, debug)) = situation.ir_version() else {
            return;
        };
        let node = self.places().free_node;
        let debug = if self.module.info.compile_units > 0 {
            format!(", i32 {}, i32 {}", debug.0, debug.1)
        } else {
            String::new()
        };
        let _ = write!(
            self.back,
            "\n!nvvmir.version = !{{!{node}}}\n!{node} = !{{i32 {}, i32 {}{debug}}}\n",
            ir.0, ir.1
        );
        self.note(
            None,
            format!("`!nvvmir.version` {}.{} was added", ir.0, ir.1),
        );
    }

    fn flags(&mut self) {
        let places = self.places();
        let edits: Vec<(Range<usize>, String)> = places
            .flags
            .iter()
            .filter_map(|flags| Some((flags.place.clone(), as_llvm_7(flags)?)))
            .collect();
        let line = places.flags.first().map(|flags| flags.line);
        if !edits.is_empty() {
            self.edits.extend(edits);
            self.note(
                line,
                "`spFlags` of debug metadata were written as LLVM 7 reads them",
            );
        }
    }

    fn names(&mut self, names: &BTreeMap<Vec<u8>, String>) {
        let places = self.places();
        let mut edits = Vec::new();
        let mut said: BTreeMap<&[u8], (u32, &String)> = BTreeMap::new();
        for (place, line, name) in &places.names {
            if let Some(new) = names.get(name) {
                edits.push((place.clone(), format!("@{new}")));
                said.entry(name).or_insert((*line, new));
            }
        }
        let said: Vec<(u32, String)> = said
            .into_iter()
            .map(|(old, (line, new))| {
                let old = String::from_utf8_lossy(old);
                (line, format!("PTX cannot spell `{old}`: it became `{new}`"))
            })
            .collect();
        self.edits.extend(edits);
        for (line, message) in said {
            self.note(Some(line), message);
        }
    }

    /// The mended module with what was done, if anything was.
    fn done(mut self) -> Option<(Module, Vec<Diagnostic>)> {
        if self.notes.is_empty() {
            return None;
        }
        let start = self.places().start;
        let bytes = &self.module.bytes;
        self.edits.sort_by_key(|(place, _)| place.start);
        let mut mended = self.front.into_bytes();
        let mut at = start;
        for (place, new) in &self.edits {
            mended.extend_from_slice(bytes.get(at..place.start)?);
            mended.extend_from_slice(new.as_bytes());
            at = place.end;
        }
        let rest = bytes.get(at..)?;
        // A closing NUL, as C brings it along, is blank to the library and may stand in between.
        mended.extend_from_slice(rest);
        mended.extend_from_slice(self.back.as_bytes());
        let info = reader::look(&mended).ok()?;
        let module = Module {
            bytes: Arc::from(mended),
            info: Arc::new(info),
            ..self.module.clone()
        };
        Some((module, self.notes))
    }
}

/// Whether a layout is that of libNVVM for all that a module has.
fn says_the_same(layout: &str, places: &Places) -> bool {
    let (Ok(theirs), Ok(ours)) = (Layout::parse(layout), Layout::parse(LAYOUT)) else {
        return false;
    };
    theirs
        .differences(&ours)
        .iter()
        .all(|difference| match difference {
            // What is said of one size holds for all down to the half.
            Difference::Integer(bits) => {
                *bits > 64 && places.widest_integer <= u64::from(*bits / 2)
            }
            Difference::Pointer(space) => *space != 0 && !places.spaces.contains(space),
            Difference::Other => false,
        })
}

/// The fields that say the same to LLVM 7; none where it has no words for them.
fn as_llvm_7(flags: &Flags) -> Option<String> {
    let names = flags.names.as_ref()?;
    let (mut local, mut definition, mut optimized, mut virtuality) = (false, false, false, "");
    for name in names {
        match name.as_str() {
            "DISPFlagZero" => {}
            "DISPFlagLocalToUnit" => local = true,
            "DISPFlagDefinition" => definition = true,
            "DISPFlagOptimized" => optimized = true,
            "DISPFlagVirtual" => virtuality = ", virtuality: DW_VIRTUALITY_virtual",
            "DISPFlagPureVirtual" => virtuality = ", virtuality: DW_VIRTUALITY_pure_virtual",
            _ => return None,
        }
    }
    Some(format!(
        "isLocal: {local}, isDefinition: {definition}, isOptimized: {optimized}{virtuality}"
    ))
}
