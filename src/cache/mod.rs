//! Artifacts that were compiled before.
//!
//! [`Cached`] stands before any [`Compiler`](crate::compile::Compiler). It looks for an artifact in
//! memory, then in a folder that processes share ([`Disk`], feature `cache-disk`), then in a store
//! that machines share ([`Remote`], feature `cache-remote`), and has it compiled where none of them
//! has it. [`Stats`] says whether it pays.
//!
//! # What an artifact is known by
//!
//! A [`Key`] is a hash of all that the artifact depends on: the whole job, the version of this crate,
//! the build of each library that runs it, libdevice, and the headers that it can read. NVRTC does
//! not say which files it read, so these must be declared: headers in memory count by their text, an
//! include folder by the content of all its files, and the toolkit's own headers where anything is
//! included that is not in memory. What else a job could read makes it [`Uncacheable`], with the
//! reason: a file beside the source, an include that a macro computes, a precompiled header, a flag
//! that could name a file, the time of day. Such a job is compiled each time.
//!
//! # What can go wrong with it
//!
//! Nothing that a user would see as an error. A process may be killed at any instant, two may write
//! the same entry, a disk may be full or flip a bit, a server may hang: each is a miss. Every entry on
//! a disk or a network has a checksum over all of it, and the key that it was stored under.
//!
//! ```
//! use cuda_program::cache::Cached;
//! use cuda_program::compile::{Compiler, InProcess};
//! # use cuda_program::compile::{Emit, Job};
//! # use cuda_program::{Arch, Toolkit, nvrtc};
//!
//! # fn main() -> cuda_program::Result<()> {
//! # /*
//! let toolkit = Toolkit::discover()?;
//! # */
//! # let toolkit = Toolkit::at(concat!(env!("CARGO_MANIFEST_DIR"), "/target/toolkits/13.5"))?;
//! # let job = Job::cpp("k.cu", "__global__ void k() {}", nvrtc::Options::new(Arch::SM_90), Emit::Ptx);
//! let mut compiler = Cached::new(InProcess::new(&toolkit), &toolkit).memory(64 << 20);
//! # #[cfg(feature = "cache-disk")]
//! # {
//! # /*
//! if let Some(disk) = cuda_program::cache::Disk::from_environment()? {
//!     compiler = compiler.disk(&disk);
//! }
//! # */
//! # let folder = tempfile::tempdir().unwrap();
//! # compiler = compiler.disk(&cuda_program::cache::Disk::at(folder.path()));
//! # }
//! # let _ = &mut compiler;
//! let output = compiler.compile(&job)?;
//! println!("{} bytes, and {} hits so far", output.as_bytes().len(), compiler.stats().hits());
//! # Ok(())
//! # }
//! ```

mod cached;
mod counters;
mod depends;
#[cfg(feature = "cache-disk")]
mod disk;
#[cfg(any(feature = "cache-disk", feature = "cache-remote"))]
mod entry;
mod key;
mod keys;
mod memory;
#[cfg(feature = "cache-remote")]
mod remote;

pub use cached::Cached;
pub use counters::Stats;
#[cfg(feature = "cache-disk")]
pub use disk::Disk;
pub use key::{Key, Uncacheable};
pub use keys::Keys;
#[cfg(feature = "cache-remote")]
pub use opendal;
#[cfg(feature = "cache-remote")]
pub use remote::Remote;
