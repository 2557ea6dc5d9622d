//! The search: from an environment to ordered candidates, opening nothing.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::layout::{Looker, Root};
use super::part::{Candidate, Part, Reason};
use super::places::{Place, Spot, explicit_places, places};
use crate::error::{Attempt, NotFound};

/// What the caller asked for, beside what the environment says.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    /// Toolkits that go before anything the environment names, in this order.
    pub(super) roots: Vec<PathBuf>,
    /// Files that are the only candidate of their part.
    pub(super) files: BTreeMap<Part, PathBuf>,
    /// Whether nothing but these roots and files is looked at.
    pub(super) only: bool,
}

/// The candidates of one place, and how that place ranks among all.
struct Group {
    /// Explicit places rank by their order; all others share the last rank.
    rank: usize,
    /// Whether it goes before the others of its rank.
    preferred: bool,
    candidates: Vec<Candidate>,
}

/// Every candidate of every part, in the order in which they are to be tried.
///
/// Within a rank, a toolkit that has all four parts goes before one that has some: parts of one
/// toolkit fit each other. A library that is already mapped keeps its place, because a second
/// copy of it can disturb the first.
pub(super) fn search(environment: &Environment, request: &Request) -> Vec<Candidate> {
    let looker = Looker::new(environment);
    let mut groups: Vec<Group> = places(&looker, environment, request)
        .iter()
        .flat_map(|place| groups(&looker, environment, place))
        .collect();
    groups.sort_by_key(|group| (group.rank, !group.preferred));

    let mut candidates: Vec<Candidate> = Vec::new();
    for (&part, path) in &request.files {
        let path = environment.absolute(path);
        candidates.push(file_candidate(&looker, part, path, Reason::Code, None));
    }
    candidates.extend(
        groups
            .into_iter()
            .flat_map(|group| group.candidates)
            .filter(|c| !request.files.contains_key(&c.part)),
    );
    once_each(environment, candidates)
}

/// The libdevice that belongs to a libNVVM, by that library's path.
pub(super) fn libdevice_beside(environment: &Environment, nvvm: &Path) -> Vec<Candidate> {
    let looker = Looker::new(environment);
    let real = environment.files().canonicalize(nvvm);
    let found = [Some(nvvm.to_owned()), real]
        .into_iter()
        .flatten()
        .filter_map(|file| Root::of_file(&file))
        .flat_map(|root| part_candidates(&looker, &root, Part::Libdevice, Reason::BesideNvvm))
        .collect();
    once_each(environment, found)
}

/// What is wrong with the toolkits that the caller or `CUDA_PROGRAM_TOOLKIT` named.
///
/// A name that leads to no toolkit is a mistake to report, never one to pass over: going on
/// would use another toolkit than the one that was asked for.
pub(super) fn explicit_problem(environment: &Environment, request: &Request) -> Option<NotFound> {
    let looker = Looker::new(environment);
    let tried: Vec<Attempt> = explicit_places(environment, request)
        .iter()
        .filter_map(|place| {
            let Spot::Folder(folder) = &place.spot else {
                return None;
            };
            let roots = looker.roots(folder);
            let has_any = Part::ALL.iter().any(|&part| {
                roots
                    .iter()
                    .any(|root| !looker.holding(root, part).files.is_empty())
            });
            (!has_any).then(|| Attempt {
                path: folder.clone(),
                because: place.because.to_string(),
                failure: if environment.files().is_folder(folder) {
                    "it has no part of a CUDA toolkit where an installer, a wheel or conda puts one"
                        .to_owned()
                } else {
                    missing_folder(environment, folder)
                },
            })
        })
        .collect();
    (!tried.is_empty()).then(|| NotFound {
        part: "the CUDA toolkit that was asked for".to_owned(),
        tried,
        hint: "name a toolkit's folder, a site-packages folder with NVIDIA's wheels, or a conda \
               prefix, or unset CUDA_PROGRAM_TOOLKIT to search the usual places"
            .to_owned(),
    })
}

/// The candidates of a place, one group for each toolkit in it.
fn groups(looker: &Looker<'_>, environment: &Environment, place: &Place) -> Vec<Group> {
    let group = |preferred, candidates| Group {
        rank: place.rank,
        preferred,
        candidates,
    };
    match &place.spot {
        Spot::Folder(folder) => {
            let mut groups: Vec<Group> = looker
                .roots(folder)
                .iter()
                .map(|root| root_group(looker, root, place))
                .collect();
            groups.push(group(false, misses(environment, folder, place, &groups)));
            groups
        }
        Spot::Root(root) => vec![root_group(looker, root, place)],
        Spot::Absent(pattern) => {
            let all = Part::ALL
                .iter()
                .map(|&part| {
                    miss(
                        part,
                        pattern.clone(),
                        place.because,
                        "no such folder".into(),
                    )
                })
                .collect();
            vec![group(false, all)]
        }
        Spot::File(part, file) => {
            let root = Root::of_file(file).map(|root| root.path);
            let one = file_candidate(looker, *part, file.clone(), place.because, root);
            vec![group(one.problem.is_none(), vec![one])]
        }
        Spot::Loader => {
            let names = Part::ALL.iter().flat_map(|&part| {
                part.loader_names(environment.platform())
                    .iter()
                    .map(move |name| Candidate {
                        part,
                        path: PathBuf::from(name),
                        because: place.because,
                        root: None,
                        problem: None,
                    })
            });
            vec![group(false, names.collect())]
        }
    }
}

fn root_group(looker: &Looker<'_>, root: &Root, place: &Place) -> Group {
    let candidates: Vec<Candidate> = Part::ALL
        .iter()
        .flat_map(|&part| part_candidates(looker, root, part, place.because))
        .collect();
    let complete = Part::ALL.iter().all(|&part| has(&candidates, part));
    Group {
        rank: place.rank,
        preferred: complete,
        candidates,
    }
}

fn has(candidates: &[Candidate], part: Part) -> bool {
    candidates
        .iter()
        .any(|c| c.part == part && c.problem.is_none())
}

fn part_candidates(
    looker: &Looker<'_>,
    root: &Root,
    part: Part,
    because: Reason,
) -> Vec<Candidate> {
    let holding = looker.holding(root, part);
    holding
        .files
        .into_iter()
        .chain(holding.stubs)
        .map(|path| file_candidate(looker, part, path, because, Some(root.path.clone())))
        .collect()
}

fn file_candidate(
    looker: &Looker<'_>,
    part: Part,
    path: PathBuf,
    because: Reason,
    root: Option<PathBuf>,
) -> Candidate {
    let problem = looker
        .is_stub(&path)
        .then(|| "it is a stub for linking, which does nothing".to_owned());
    Candidate {
        part,
        path,
        because,
        root,
        problem,
    }
}

/// One line for each part of which a folder has not even a stub.
fn misses(
    environment: &Environment,
    folder: &Path,
    place: &Place,
    found: &[Group],
) -> Vec<Candidate> {
    let seen: HashSet<Part> = found
        .iter()
        .flat_map(|group| group.candidates.iter().map(|c| c.part))
        .collect();
    let is_folder = environment.files().is_folder(folder);
    Part::ALL
        .iter()
        .filter(|part| !seen.contains(part))
        .map(|&part| {
            let problem = if is_folder {
                format!("it has no {}", part.pattern(environment.platform()))
            } else {
                missing_folder(environment, folder)
            };
            miss(part, folder.to_owned(), place.because, problem)
        })
        .collect()
}

fn missing_folder(environment: &Environment, folder: &Path) -> String {
    if environment.files().is_file(folder) {
        "it is a file, where a folder is needed".to_owned()
    } else {
        "no such folder".to_owned()
    }
}

fn miss(part: Part, path: PathBuf, because: Reason, problem: String) -> Candidate {
    Candidate {
        part,
        path,
        because,
        root: None,
        problem: Some(problem),
    }
}

/// Drops a candidate that is the same file as an earlier one of its part.
pub(super) fn once_each(environment: &Environment, candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut seen: HashSet<(Part, PathBuf)> = HashSet::new();
    candidates
        .into_iter()
        .filter(|candidate| {
            let real = if candidate.is_by_name() {
                None
            } else {
                environment.files().canonicalize(&candidate.path)
            };
            seen.insert((
                candidate.part,
                real.unwrap_or_else(|| candidate.path.clone()),
            ))
        })
        .collect()
}
