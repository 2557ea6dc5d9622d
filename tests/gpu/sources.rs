//! The kernels that are tested.

use cuda_program::{Arch, Ptx, nvvm};
use libtest_mimic::{Failed, Trial};

/// Needs no GPU: what is to run on one must not fail for a slip in its source.
pub fn test() -> Trial {
    Trial::test("every_source_is_what_its_compiler_takes", || {
        let compiled = || -> cuda_program::Result<()> {
            let toolkit = crate::toolkit()?;
            for (name, ty, arity) in crate::math::names() {
                let program = nvvm::Program::new(&toolkit)?;
                program.add_module(&name, apply(&name, ty, arity))?;
                let ptx: Ptx = program.compile(&nvvm::Options::new(Arch::SM_90))?;
                assert!(ptx.externs().is_empty(), "{name}: {:?}", ptx.externs());
            }
            for ptx in [GLOBALS, BY_VALUE, REVERSE, MEET, RANK, &body("8.0", "")] {
                assert_eq!(Ptx::from_text(ptx)?.kernels().len(), 1);
            }
            Ok(())
        };
        compiled().map_err(|e| Failed::from(e.to_string()))
    })
}

/// The first lines of a module for libNVVM.
pub const TARGET: &str = "\
target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"
target triple = \"nvptx64-nvidia-cuda\"
";

pub const SAXPY: &[u8] = include_bytes!("../../fixtures/saxpy.ll");
pub const GELU: &[u8] = include_bytes!("../../fixtures/gelu.ll");
pub const BITCODE: &[u8] = include_bytes!("../../fixtures/bitcode/every.llvm7.bc");

/// A kernel `k(n, y, x0, x1, …)` that puts `function(x0[i], x1[i], …)` into `y[i]`.
pub fn apply(function: &str, ty: &str, arity: usize) -> String {
    let inputs: Vec<String> = (0..arity).map(|n| format!("{ty}* %x{n}")).collect();
    let types = vec![ty; arity].join(", ");
    let pointers = vec![format!("{ty}*"); arity].join(", ");
    let loads: String = (0..arity)
        .map(|n| {
            format!(
                "  %p{n} = getelementptr {ty}, {ty}* %x{n}, i64 %o\n  \
                 %v{n} = load {ty}, {ty}* %p{n}\n"
            )
        })
        .collect();
    let values: Vec<String> = (0..arity).map(|n| format!("{ty} %v{n}")).collect();
    format!(
        "{TARGET}
declare {ty} @{function}({types})
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define void @k(i32 %n, {ty}* %y, {inputs}) {{
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %s = mul i32 %b, %w
  %i = add i32 %s, %t
  %in = icmp slt i32 %i, %n
  br i1 %in, label %body, label %done
body:
  %o = sext i32 %i to i64
{loads}  %r = call {ty} @{function}({values})
  %q = getelementptr {ty}, {ty}* %y, i64 %o
  store {ty} %r, {ty}* %q
  br label %done
done:
  ret void
}}
!nvvm.annotations = !{{!0}}
!0 = !{{void (i32, {ty}*, {pointers})* @k, !\"kernel\", i32 1}}
!nvvmir.version = !{{!1}}
!1 = !{{i32 2, i32 0}}
",
        inputs = inputs.join(", "),
        values = values.join(", "),
    )
}

/// A variable and a constant, and a kernel that multiplies them: `out[t] = weights[t] * scale`.
pub const GLOBALS: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .f32 scale = 0f40000000;
.visible .const .align 4 .f32 weights[3] = {0f3F800000, 0f40000000, 0f40400000};
.visible .entry weigh(.param .u64 out) {
    .reg .u64 %p, %o, %w;
    .reg .f32 %a, %s;
    .reg .u32 %t;
    ld.param.u64 %p, [out];
    cvta.to.global.u64 %p, %p;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 4;
    mov.u64 %w, weights;
    add.u64 %w, %w, %o;
    ld.const.f32 %a, [%w];
    ld.global.f32 %s, [scale];
    mul.f32 %a, %a, %s;
    add.u64 %p, %p, %o;
    st.global.f32 [%p], %a;
    ret;
}
";

/// A struct by value, a pointer and a byte: `*out = scale * (c0 + 10 c1 + 100 c2) + tag + flag`.
pub const BY_VALUE: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .entry by_value(.param .align 8 .b8 s[24], .param .u64 out, .param .u8 flag) {
    .reg .f64 %scale, %sum;
    .reg .s32 %c0, %c1, %c2, %tag, %flag;
    .reg .s16 %byte;
    .reg .u64 %p;
    ld.param.f64 %scale, [s];
    ld.param.s32 %c0, [s+8];
    ld.param.s32 %c1, [s+12];
    ld.param.s32 %c2, [s+16];
    ld.param.s8 %byte, [s+20];
    cvt.s32.s16 %tag, %byte;
    ld.param.u8 %byte, [flag];
    cvt.s32.s16 %flag, %byte;
    ld.param.u64 %p, [out];
    cvta.to.global.u64 %p, %p;
    mad.lo.s32 %c0, %c1, 10, %c0;
    mad.lo.s32 %c0, %c2, 100, %c0;
    cvt.rn.f64.s32 %sum, %c0;
    mul.f64 %sum, %sum, %scale;
    add.s32 %tag, %tag, %flag;
    cvt.rn.f64.s32 %scale, %tag;
    add.f64 %sum, %sum, %scale;
    st.global.f64 [%p], %sum;
    ret;
}
";

/// `out[i] = n - 1 - i` for `n` words, through dynamic shared memory, by one block.
pub const REVERSE: &str = "
.version 8.0
.target sm_75
.address_size 64
.extern .shared .align 4 .b8 words[];
.visible .entry reverse(.param .u64 out, .param .u32 n) {
    .reg .u64 %p, %o;
    .reg .u32 %n, %i, %j, %a, %base, %step;
    .reg .pred %q;
    ld.param.u64 %p, [out];
    cvta.to.global.u64 %p, %p;
    ld.param.u32 %n, [n];
    mov.u32 %base, words;
    mov.u32 %step, %ntid.x;
    mov.u32 %i, %tid.x;
fill:
    setp.ge.u32 %q, %i, %n;
    @%q bra filled;
    mad.lo.u32 %a, %i, 4, %base;
    st.shared.u32 [%a], %i;
    add.u32 %i, %i, %step;
    bra fill;
filled:
    bar.sync 0;
    mov.u32 %i, %tid.x;
empty:
    setp.ge.u32 %q, %i, %n;
    @%q bra done;
    sub.u32 %j, %n, %i;
    sub.u32 %j, %j, 1;
    mad.lo.u32 %a, %j, 4, %base;
    ld.shared.u32 %j, [%a];
    mul.wide.u32 %o, %i, 4;
    add.u64 %o, %p, %o;
    st.global.u32 [%o], %j;
    add.u32 %i, %i, %step;
    bra empty;
done:
    ret;
}
";

/// Each block waits until all have come, which ends only where all run at once.
pub const MEET: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .entry meet(.param .u64 count, .param .u64 out) {
    .reg .u64 %c, %p, %o;
    .reg .u32 %n, %seen, %b, %t;
    .reg .pred %q;
    mov.u32 %t, %tid.x;
    setp.ne.u32 %q, %t, 0;
    @%q bra done;
    ld.param.u64 %c, [count];
    cvta.to.global.u64 %c, %c;
    ld.param.u64 %p, [out];
    cvta.to.global.u64 %p, %p;
    mov.u32 %n, %nctaid.x;
    atom.global.add.u32 %seen, [%c], 1;
wait:
    ld.volatile.global.u32 %seen, [%c];
    setp.lt.u32 %q, %seen, %n;
    @%q bra wait;
    mov.u32 %b, %ctaid.x;
    mul.wide.u32 %o, %b, 4;
    add.u64 %o, %p, %o;
    st.global.u32 [%o], 1;
done:
    ret;
}
";

/// `out[block] = its rank in its cluster`.
pub const RANK: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry rank(.param .u64 out) {
    .reg .u64 %p, %o;
    .reg .u32 %r, %b;
    ld.param.u64 %p, [out];
    cvta.to.global.u64 %p, %p;
    mov.u32 %b, %ctaid.x;
    mul.wide.u32 %o, %b, 4;
    add.u64 %p, %p, %o;
    mov.u32 %r, %cluster_ctarank;
    st.global.u32 [%p], %r;
    ret;
}
";

/// A kernel with nothing in it but `body`, in some version of PTX.
pub fn body(version: &str, body: &str) -> String {
    format!(
        ".version {version}\n.target sm_75\n.address_size 64\n.extern .func elsewhere();\n\
         .visible .entry k() {{ {body} ret; }}\n"
    )
}
