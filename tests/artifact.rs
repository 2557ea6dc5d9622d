//! PTX and LTO IR of real compilers, held against what their sources say.

mod artifact {
    mod files;
    mod ltoir;
    mod ptx;
    mod ptx_refused;
    mod ptx_syntax;
}
