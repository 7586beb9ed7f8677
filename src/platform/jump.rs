//! The stub that finds out where a call goes on and jumps there, with every register that could hold an argument as the caller left
//! it.

/// The body of a naked function that jumps to `target` with a constant below 2^16 in r11 (x11 on aarch64), as [`find_and_jump`] wants it.
macro_rules! jump_with_number {
    ($number:expr, $target:path) => {
        #[cfg(target_arch = "x86_64")]
        std::arch::naked_asm!(
            "mov r11d, {number}",
            "jmp {target}",
            number = const $number,
            target = sym $target,
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::naked_asm!(
            "mov w11, {number}",
            "b {target}",
            number = const $number,
            target = sym $target,
        );
    };
}
pub(crate) use jump_with_number;

/// The body of a naked function that calls `find` with r11 (x11 on aarch64), the caller's return address, and the second argument of the call, and jumps to
/// the address that it gives. With `vectors`, the registers of floating-point arguments are kept, too.
///
/// Sources are the x86-64 System V ABI (section 3.2.3) and the part on parameters in the procedure call standard for aarch64. On
/// aarch64, jumps go through x16: code that checks where it is entered (BTI) allows jumps through x16 and x17 only. No value lies in
/// these two across a jump to a symbol, to which the linker may add code that uses them.
macro_rules! find_and_jump {
    ($find:path) => {
        $crate::platform::jump::find_and_jump!($find, "", "")
    };
    ($find:path, vectors) => {
        #[cfg(target_arch = "x86_64")]
        $crate::platform::jump::find_and_jump!(
            $find,
            "sub rsp, 128
            movups [rsp], xmm0
            movups [rsp + 16], xmm1
            movups [rsp + 32], xmm2
            movups [rsp + 48], xmm3
            movups [rsp + 64], xmm4
            movups [rsp + 80], xmm5
            movups [rsp + 96], xmm6
            movups [rsp + 112], xmm7",
            "movups xmm0, [rbp - 192]
            movups xmm1, [rbp - 176]
            movups xmm2, [rbp - 160]
            movups xmm3, [rbp - 144]
            movups xmm4, [rbp - 128]
            movups xmm5, [rbp - 112]
            movups xmm6, [rbp - 96]
            movups xmm7, [rbp - 80]"
        );
        #[cfg(target_arch = "aarch64")]
        $crate::platform::jump::find_and_jump!(
            $find,
            "sub sp, sp, 128
            stp q0, q1, [sp]
            stp q2, q3, [sp, 32]
            stp q4, q5, [sp, 64]
            stp q6, q7, [sp, 96]",
            "ldp q0, q1, [sp]
            ldp q2, q3, [sp, 32]
            ldp q4, q5, [sp, 64]
            ldp q6, q7, [sp, 96]
            add sp, sp, 128"
        );
    };
    ($find:path, $keep:literal, $give_back:literal) => {
        #[cfg(target_arch = "x86_64")]
        std::arch::naked_asm!(
            "push rbp",
            "mov rbp, rsp",
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            "push rax",
            "push r10",
            $keep,
            "mov rdx, rsi",
            "mov rdi, r11",
            "mov rsi, [rbp + 8]",
            "and rsp, -16",
            "call {find}",
            "mov r11, rax",
            $give_back,
            "lea rsp, [rbp - 64]",
            "pop r10",
            "pop rax",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "pop rbp",
            "jmp r11",
            find = sym $find,
        );
        #[cfg(target_arch = "aarch64")]
        std::arch::naked_asm!(
            "stp x29, x30, [sp, -112]!",
            "mov x29, sp",
            "stp x0, x1, [sp, 16]",
            "stp x2, x3, [sp, 32]",
            "stp x4, x5, [sp, 48]",
            "stp x6, x7, [sp, 64]",
            // Where a large result goes; the frame of an enclosing function, of which compilers use one or the other.
            "stp x8, x15, [sp, 80]",
            "str x18, [sp, 96]",
            $keep,
            "mov x2, x1",
            "mov x0, x11",
            "mov x1, x30",
            "bl {find}",
            "mov x16, x0",
            $give_back,
            "ldr x18, [sp, 96]",
            "ldp x8, x15, [sp, 80]",
            "ldp x6, x7, [sp, 64]",
            "ldp x4, x5, [sp, 48]",
            "ldp x2, x3, [sp, 32]",
            "ldp x0, x1, [sp, 16]",
            "ldp x29, x30, [sp], 112",
            "br x16",
            find = sym $find,
        );
    };
}
pub(crate) use find_and_jump;
