//! nvJitLink: its function table and the owner of its handle.

mod raw;

pub(crate) use raw::{Fetch, LinkFailed, Linked, RawLinker, code_name};

use super::bindings::nvjitlink::*;
use super::table::table;

table! {
    /// The functions of nvJitLink.
    NvJitLink, "nvJitLink";
    required {
        nvJitLinkCreate: nvJitLinkCreate_fn,
        nvJitLinkDestroy: nvJitLinkDestroy_fn,
        nvJitLinkAddData: nvJitLinkAddData_fn,
        nvJitLinkAddFile: nvJitLinkAddFile_fn,
        nvJitLinkComplete: nvJitLinkComplete_fn,
        nvJitLinkGetLinkedCubinSize: nvJitLinkGetLinkedCubinSize_fn,
        nvJitLinkGetLinkedCubin: nvJitLinkGetLinkedCubin_fn,
        nvJitLinkGetLinkedPtxSize: nvJitLinkGetLinkedPtxSize_fn,
        nvJitLinkGetLinkedPtx: nvJitLinkGetLinkedPtx_fn,
        nvJitLinkGetErrorLogSize: nvJitLinkGetErrorLogSize_fn,
        nvJitLinkGetErrorLog: nvJitLinkGetErrorLog_fn,
        nvJitLinkGetInfoLogSize: nvJitLinkGetInfoLogSize_fn,
        nvJitLinkGetInfoLog: nvJitLinkGetInfoLog_fn,
    }
    optional {
        nvJitLinkGetLinkedLTOIRSize: nvJitLinkGetLinkedLTOIRSize_fn,
        nvJitLinkGetLinkedLTOIR: nvJitLinkGetLinkedLTOIR_fn,
        nvJitLinkVersion: nvJitLinkVersion_fn,
    }
}
