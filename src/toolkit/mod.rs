//! Finding and opening NVIDIA's libraries.
//!
//! A [`Toolkit`] stands for the four parts that this crate uses: libNVVM, libdevice, NVRTC and
//! nvJitLink. Each is opened when it is first needed and stays open for the life of the process,
//! because NVIDIA's libraries do not survive being closed.
//!
//! # Where is looked
//!
//! 1. what the code names: a file of one part, then a toolkit ([`Builder`]);
//! 2. the toolkit that `CUDA_PROGRAM_TOOLKIT` names;
//! 3. the active virtual environment (`VIRTUAL_ENV`) and conda prefix (`CONDA_PREFIX`);
//! 4. libraries already mapped into the process, and the toolkits they belong to;
//! 5. `CUDA_HOME`, then `CUDA_PATH`;
//! 6. the system's own loader, by name;
//! 7. well-known folders, the newest version first: `/usr/local/cuda-*`, `/usr/local/cuda`,
//!    `/opt/cuda`, the user's and the system's Python packages, Debian's folders, and on Windows
//!    `CUDA\v*` below the program files.
//!
//! The parts of one toolkit fit each other, so among the places from 3 on, a toolkit that has all
//! four parts goes before one that has only some, and before what the system's loader finds.
//! Toolkits that were named (1 and 2) always win for the parts they have. A library that is already
//! mapped is not passed over for a more complete toolkit later in the list. libdevice comes from
//! beside the libNVVM in use, unless a named toolkit has one.
//!
//! A named toolkit that does not exist, or has no part at all, is an error, never passed over in
//! silence: the search would find another toolkit than the one asked for. A stale `CUDA_HOME` is
//! passed over, because other software sets it; the error lists it if nothing else is found.
//!
//! A folder may be named in any form that toolkits come in: an installed toolkit
//! (`/usr/local/cuda`), a `site-packages` folder with NVIDIA's wheels, its `nvidia` folder,
//! `nvidia/cu13`, a virtual environment, or a conda prefix. Folders called `stubs` are never
//! opened: their libraries are for linking alone.
//!
//! # How
//!
//! The search turns an [`Environment`] (plain data over a small [`FileSystem`]) into ordered
//! [`Candidate`]s and opens nothing. Every candidate that cannot be used is kept with the reason, in
//! the error or in [`Opened::passed_over`].

mod builder;
mod environment;
mod image;
mod layout;
mod libdevice;
mod library;
mod loader;
mod part;
mod places;
mod search;
#[expect(
    clippy::module_inception,
    reason = "the type gives the module its name"
)]
mod toolkit;
mod version;

pub use builder::Builder;
pub use environment::{Disk, Environment, FileSystem, Platform};
pub use libdevice::Libdevice;
pub use library::Opened;
#[cfg(feature = "gpu")]
pub(crate) use loader::table_of;
#[cfg(feature = "gpu")]
pub(crate) use part::is_stub;
pub use part::{Candidate, Part, Reason};
pub use toolkit::{Source, Toolkit};
