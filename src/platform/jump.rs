//! The stub that finds out where a call goes on and jumps there, with every register that could hold an argument as the caller left
//! it.

/// The body of a naked function that calls `find` with r11 and the caller's return address and jumps to the address that it gives.
/// With `vectors`, the registers of floating-point arguments are kept, too. System V ABI (section 3.2.3 for x86-64).
macro_rules! find_and_jump {
    ($find:path) => {
        $crate::platform::jump::find_and_jump!($find, "", "")
    };
    ($find:path, vectors) => {
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
        )
    };
    ($find:path, $keep:literal, $give_back:literal) => {
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
        )
    };
}
pub(crate) use find_and_jump;
