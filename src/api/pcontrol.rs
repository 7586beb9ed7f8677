//! MPI_Pcontrol: 0 switches recording off, 1 on, 2 and 3 annotate.

use crate::api::annotate::annotate;
use crate::api::arguments::Arguments;
use crate::call::{Call, modes};
use crate::in_force;
use crate::mpi::functions::{NUMBERS, index};
use crate::mpi::slots::{self, CodeAddress};
use settings::Pcontrol;
use std::ffi::c_int;

/// Whether the settings have MPI_Pcontrol obeyed.
fn is_obeyed() -> bool {
    in_force::with(|settings| settings.is_none_or(|s| s.pcontrol == Pcontrol::Obey))
}

/// The wrapper of MPI_Pcontrol. It is variadic, which Rust cannot be: the registers that
/// may hold arguments are saved as a C function's prologue does, and a `va_list` is made of them.
#[unsafe(naked)]
pub unsafe extern "C" fn pcontrol<const P: usize>(level: c_int) -> c_int {
    #[cfg(target_arch = "x86_64")]
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 208",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "test al, al",
        "je 2f",
        "movaps [rsp + 48], xmm0",
        "movaps [rsp + 64], xmm1",
        "movaps [rsp + 80], xmm2",
        "movaps [rsp + 96], xmm3",
        "movaps [rsp + 112], xmm4",
        "movaps [rsp + 128], xmm5",
        "movaps [rsp + 144], xmm6",
        "movaps [rsp + 160], xmm7",
        "2:",
        // The list: offsets behind the level, which is in the first register, the caller's stack, the registers.
        "mov dword ptr [rsp + 176], 8",
        "mov dword ptr [rsp + 180], 48",
        "lea rax, [rbp + 16]",
        "mov [rsp + 184], rax",
        "mov [rsp + 192], rsp",
        "lea rsi, [rsp + 176]",
        "call {controlled}",
        "leave",
        "ret",
        controlled = sym controlled::<P>,
    );
    #[cfg(target_arch = "aarch64")]
    std::arch::naked_asm!(
        "stp x29, x30, [sp, -240]!",
        "mov x29, sp",
        "stp x0, x1, [sp, 48]",
        "stp x2, x3, [sp, 64]",
        "stp x4, x5, [sp, 80]",
        "stp x6, x7, [sp, 96]",
        "stp q0, q1, [sp, 112]",
        "stp q2, q3, [sp, 144]",
        "stp q4, q5, [sp, 176]",
        "stp q6, q7, [sp, 208]",
        // The list: the caller's stack, the ends of the two parts, how far before them the arguments behind the level begin.
        "add x9, sp, 240",
        "add x10, sp, 112",
        "stp x9, x10, [sp, 16]",
        "mov w10, -56",
        "mov w11, -128",
        "str x9, [sp, 32]",
        "stp w10, w11, [sp, 40]",
        "add x1, sp, 16",
        "bl {controlled}",
        "ldp x29, x30, [sp], 240",
        "ret",
        controlled = sym controlled::<P>,
    );
}

/// MPI_Pcontrol with its further arguments. The real function, which may be that of another tool, gets those of them that are in registers.
unsafe extern "C" fn controlled<const P: usize>(level: c_int, arguments: &Arguments) -> c_int {
    let obeyed = is_obeyed();
    match level {
        _ if !obeyed => {}
        0 => {}
        1 => modes::want(true),
        // SAFETY: registers and stack are as the caller left them.
        _ => unsafe { annotate(level, *arguments) },
    }
    // SAFETY: the real function, which is variadic, with registers as they were; the wrapper pattern of the generated `wrappers.rs`.
    let r = unsafe {
        let pass_on = std::mem::transmute::<CodeAddress, unsafe extern "C" fn(c_int, ...) -> c_int>(
            slots::real(2 * index::MPI_Pcontrol + P),
        );
        let ([a, b, c, d, e], [s, t, u, v, w, x, y, z]) = arguments.in_registers();
        let real = |level| pass_on(level, a, b, c, d, e, s, t, u, v, w, x, y, z);
        let call = Call::enter(index::MPI_Pcontrol as u16, P == 0);
        if call.ignored() {
            let r = real(level);
            call.leave();
            r
        } else {
            let number = NUMBERS[index::MPI_Pcontrol];
            let running = call.start(number);
            let r = real(level);
            let stopped = running.stop();
            if stopped.is_filtered_out(index::MPI_Pcontrol) {
                stopped.leave_out(index::MPI_Pcontrol as u16);
            } else {
                let mut w = stopped.record(number, r, 0, 4);
                w.args.i32(level);
                w.publish();
            }
            r
        }
    };
    // Last, so that the call that switches recording off is the last one there is.
    if obeyed && level == 0 {
        modes::want(false);
    }
    r
}
