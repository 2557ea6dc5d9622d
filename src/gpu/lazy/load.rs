//! What makes a kernel.

use crate::arch::Arch;
use crate::error::Result;

/// Compiles a kernel and loads it.
///
/// Every method may be called from any thread, and from several at once for different devices. A
/// panic is caught on the way, so it must not leave the loader itself in disorder.
pub trait Load {
    /// What compiling makes, as in a [`Ptx`](crate::Ptx); kept for the other devices of its
    /// architecture.
    type Artifact: Send + Sync;

    /// What loading makes; one for each device, kept until the [`Lazy`](super::Lazy) goes.
    type Kernel: Send + Sync;

    /// The kernel's name, for messages.
    fn name(&self) -> &str;

    /// The architecture to compile for, for a device; devices of one answer share one compilation.
    ///
    /// # Errors
    ///
    /// Where there is no such device.
    fn arch(&self, device: usize) -> Result<Arch>;

    /// Compiles.
    ///
    /// # Errors
    ///
    /// Whatever the compiler says.
    fn compile(&self, arch: Arch) -> Result<Self::Artifact>;

    /// Loads on one device what was compiled for its architecture.
    ///
    /// # Errors
    ///
    /// Whatever the driver says.
    fn load(&self, device: usize, artifact: &Self::Artifact) -> Result<Self::Kernel>;

    /// Keeps what the calling thread has current for as long as the returned value lives.
    ///
    /// It is asked for before the other methods and dropped after them, on the same thread, also
    /// when they fail or panic: the place for a loader to save the thread's CUDA context and set it
    /// back.
    ///
    /// # Errors
    ///
    /// Where that cannot be saved; nothing is compiled or loaded then.
    fn keep_current(&self) -> Result<impl Sized> {
        Ok(())
    }
}
