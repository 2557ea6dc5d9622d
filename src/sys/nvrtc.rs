//! NVRTC: its function table and the owner of its handle.

mod bundle;
mod raw;

pub(crate) use raw::{NvrtcFailed, RawNvrtc};

use super::bindings::nvrtc::*;
use super::table::table;

table! {
    /// The functions of NVRTC.
    Nvrtc, "NVRTC";
    required {
        nvrtcGetErrorString: nvrtcGetErrorString_fn,
        nvrtcVersion: nvrtcVersion_fn,
        nvrtcGetNumSupportedArchs: nvrtcGetNumSupportedArchs_fn,
        nvrtcGetSupportedArchs: nvrtcGetSupportedArchs_fn,
        nvrtcCreateProgram: nvrtcCreateProgram_fn,
        nvrtcDestroyProgram: nvrtcDestroyProgram_fn,
        nvrtcCompileProgram: nvrtcCompileProgram_fn,
        nvrtcGetPTXSize: nvrtcGetPTXSize_fn,
        nvrtcGetPTX: nvrtcGetPTX_fn,
        nvrtcGetCUBINSize: nvrtcGetCUBINSize_fn,
        nvrtcGetCUBIN: nvrtcGetCUBIN_fn,
        nvrtcGetLTOIRSize: nvrtcGetLTOIRSize_fn,
        nvrtcGetLTOIR: nvrtcGetLTOIR_fn,
        nvrtcGetOptiXIRSize: nvrtcGetOptiXIRSize_fn,
        nvrtcGetOptiXIR: nvrtcGetOptiXIR_fn,
        nvrtcGetProgramLogSize: nvrtcGetProgramLogSize_fn,
        nvrtcGetProgramLog: nvrtcGetProgramLog_fn,
        nvrtcAddNameExpression: nvrtcAddNameExpression_fn,
        nvrtcGetLoweredName: nvrtcGetLoweredName_fn,
    }
    optional {
        nvrtcGetPCHHeapSize: nvrtcGetPCHHeapSize_fn,
        nvrtcSetPCHHeapSize: nvrtcSetPCHHeapSize_fn,
        nvrtcGetPCHCreateStatus: nvrtcGetPCHCreateStatus_fn,
        nvrtcGetPCHHeapSizeRequired: nvrtcGetPCHHeapSizeRequired_fn,
        nvrtcSetFlowCallback: nvrtcSetFlowCallback_fn,
        nvrtcGetTileIRSize: nvrtcGetTileIRSize_fn,
        nvrtcGetTileIR: nvrtcGetTileIR_fn,
        nvrtcInstallBundledHeaders: nvrtcInstallBundledHeaders_fn,
        nvrtcGetBundledHeadersInfo: nvrtcGetBundledHeadersInfo_fn,
        nvrtcRemoveBundledHeaders: nvrtcRemoveBundledHeaders_fn,
    }
}
