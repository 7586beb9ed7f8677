//! Arguments of a variadic function, as its caller left them in registers and on the stack: the `va_list` of the processor's ABI.

use std::ffi::c_void;

/// A `va_list` of the x86-64 System V ABI (section 3.5.7).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Arguments {
    /// Offset of the next integer register in `registers`; 48 when all are used up.
    pub gp_offset: u32,
    /// Offset of the next vector register; 176 when all are used up.
    pub fp_offset: u32,
    /// The next argument on the stack.
    pub stack: *const c_void,
    /// The six integer registers, 8 bytes each, and the eight vector registers, 16 bytes each.
    pub registers: *const c_void,
}

impl Arguments {
    /// Takes an argument of an integer or pointer type.
    ///
    /// # Safety
    /// The saved registers and the caller's stack are as they were when the variadic function was called.
    pub unsafe fn word(&mut self) -> u64 {
        let at = if self.gp_offset < 48 {
            self.gp_offset += 8;
            self.registers
                .wrapping_byte_add(self.gp_offset as usize - 8)
        } else {
            self.stack = self.stack.wrapping_byte_add(8);
            self.stack.wrapping_byte_sub(8)
        };
        // SAFETY: one of the saved registers, or a word of the caller's stack.
        unsafe { at.cast::<u64>().read() }
    }

    /// Passes a double over.
    pub fn skip_double(&mut self) {
        if self.fp_offset < 176 {
            self.fp_offset += 16;
        } else {
            self.stack = self.stack.wrapping_byte_add(8);
        }
    }

    /// Passes a long double over, which is always on the stack, aligned to 16 bytes.
    pub fn skip_long_double(&mut self) {
        let padding = self.stack.addr() % 16;
        self.stack = self.stack.wrapping_byte_add(padding + 16);
    }
}
