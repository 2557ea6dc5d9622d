//! The places where a toolkit may lie, in the order in which they are looked at.

use std::path::PathBuf;

use super::environment::Environment;
use super::layout::{Looker, Root};
use super::part::{EXPLICIT, Part, Reason};
use super::search::Request;

/// A place, why it is looked at, and how it ranks.
#[derive(Debug)]
pub(super) struct Place {
    /// Explicit places rank by their order; all others share the last rank.
    pub(super) rank: usize,
    pub(super) because: Reason,
    pub(super) spot: Spot,
}

/// What is looked at.
#[derive(Debug)]
pub(super) enum Spot {
    /// A folder at or below which toolkits may lie.
    Folder(PathBuf),
    /// One toolkit.
    Root(Root),
    /// A pattern that no folder matches, kept so that an error can show it.
    Absent(PathBuf),
    /// One file of a part.
    File(Part, PathBuf),
    /// The system's loader, asked by name.
    Loader,
}

/// The places that the caller or `CUDA_PROGRAM_TOOLKIT` named.
pub(super) fn explicit_places(environment: &Environment, request: &Request) -> Vec<Place> {
    let given = request
        .roots
        .iter()
        .map(|root| (Reason::Code, environment.absolute(root)));
    let named = (!request.only)
        .then(|| environment.path(EXPLICIT))
        .flatten()
        .map(|path| (Reason::Variable(EXPLICIT), path));
    given
        .chain(named)
        .enumerate()
        .map(|(rank, (because, path))| Place {
            rank,
            because,
            spot: Spot::Folder(path),
        })
        .collect()
}

/// Every place, in order.
pub(super) fn places(
    looker: &Looker<'_>,
    environment: &Environment,
    request: &Request,
) -> Vec<Place> {
    let mut places = explicit_places(environment, request);
    if request.only {
        return places;
    }
    let rank = places.len();
    let mut add = |because, spot| {
        places.push(Place {
            rank,
            because,
            spot,
        });
    };

    let variable = |name| {
        environment
            .path(name)
            .map(|path| (Reason::Variable(name), Spot::Folder(path)))
    };
    for (because, spot) in ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(variable)
    {
        add(because, spot);
    }
    for (because, spot) in mapped(environment) {
        add(because, spot);
    }
    for (because, spot) in ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable) {
        add(because, spot);
    }
    if environment.asks_loader() {
        add(Reason::Loader, Spot::Loader);
    }
    for spot in well_known(looker, environment) {
        add(Reason::WellKnown, spot);
    }
    places
}

/// The mapped libraries themselves, then the toolkits that they belong to.
fn mapped(environment: &Environment) -> Vec<(Reason, Spot)> {
    let mut files = Vec::new();
    let mut roots: Vec<Root> = Vec::new();
    for file in environment.mapped() {
        let Some(name) = file.file_name().and_then(|n| n.to_str()) else {
            continue;
        };
        let part = Part::ALL
            .into_iter()
            .find(|part| part.file_version(name, environment.platform()).is_some());
        let Some(part) = part else {
            continue;
        };
        files.push((Reason::Mapped, Spot::File(part, file.clone())));
        if let Some(root) = Root::of_file(file).filter(|root| !roots.contains(root)) {
            roots.push(root);
        }
    }
    files.extend(
        roots
            .into_iter()
            .map(|root| (Reason::BesideMapped, Spot::Root(root))),
    );
    files
}

fn well_known(looker: &Looker<'_>, environment: &Environment) -> Vec<Spot> {
    let mut spots = Vec::new();
    let mut versions = |folder: PathBuf, head: &str| {
        let found = looker.versioned(&folder, head);
        if found.is_empty() {
            spots.push(Spot::Absent(folder.join(format!("{head}*"))));
        }
        spots.extend(found.into_iter().map(Spot::Folder));
    };
    if environment.platform().is_windows() {
        let programs = environment
            .path("ProgramFiles")
            .unwrap_or_else(|| PathBuf::from(r"C:\Program Files"));
        versions(
            programs.join("NVIDIA GPU Computing Toolkit").join("CUDA"),
            "v",
        );
        let user = environment.path("APPDATA").map(|data| data.join("Python"));
        let base = environment.path("PYTHONUSERBASE").or(user);
        spots.extend(base.map(Spot::Folder));
        return spots;
    }
    versions(PathBuf::from("/usr/local"), "cuda-");
    spots.push(Spot::Folder(PathBuf::from("/usr/local/cuda")));
    spots.push(Spot::Folder(PathBuf::from("/opt/cuda")));
    let user = environment.path("HOME").map(|home| home.join(".local"));
    let base = environment.path("PYTHONUSERBASE").or(user);
    spots.extend(base.map(Spot::Folder));
    // Python packages of the system, and Debian's own packages.
    spots.push(Spot::Folder(PathBuf::from("/usr/local")));
    spots.push(Spot::Folder(PathBuf::from("/usr")));
    spots
}
