//! Arguments of a variadic function, as its caller left them in registers and on the stack: the `va_list` of the processor's ABI.

#[cfg(target_arch = "aarch64")]
use std::ffi::c_int;
use std::ffi::c_void;

/// A `va_list` of the x86-64 System V ABI (section 3.5.7).
#[cfg(target_arch = "x86_64")]
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

/// A `va_list` of the procedure call standard for aarch64 (appendix B).
#[cfg(target_arch = "aarch64")]
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Arguments {
    /// The next argument on the stack.
    pub stack: *const c_void,
    /// End of the eight integer registers, 8 bytes each.
    pub registers_end: *const c_void,
    /// End of the eight vector registers, 16 bytes each.
    pub vectors_end: *const c_void,
    /// Offset of the next integer register from their end; 0 when all are used up.
    pub register: c_int,
    /// Offset of the next vector register from their end; 0 when all are used up.
    pub vector: c_int,
}

#[cfg(target_arch = "x86_64")]
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

    /// The arguments behind the first in registers: five of integer and pointer types, and eight doubles. Those that were not given have any value.
    ///
    /// # Safety
    /// The saved registers are as they were when the variadic function was called.
    pub unsafe fn in_registers(mut self) -> ([u64; 5], [f64; 8]) {
        let vectors = self.registers.wrapping_byte_add(48);
        // SAFETY: saved registers, of 16 bytes each.
        let double =
            |nth: usize| unsafe { vectors.wrapping_byte_add(16 * nth).cast::<f64>().read() };
        // SAFETY: as promised, and there are five behind the first.
        let words = std::array::from_fn(|_| unsafe { self.word() });
        (words, std::array::from_fn(double))
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

#[cfg(target_arch = "aarch64")]
impl Arguments {
    /// Takes an argument of an integer or pointer type.
    ///
    /// # Safety
    /// The saved registers and the caller's stack are as they were when the variadic function was called.
    pub unsafe fn word(&mut self) -> u64 {
        let at = if self.register < 0 {
            self.register += 8;
            self.registers_end
                .wrapping_byte_offset(self.register as isize - 8)
        } else {
            self.stack = self.stack.wrapping_byte_add(8);
            self.stack.wrapping_byte_sub(8)
        };
        // SAFETY: one of the saved registers, or a word of the caller's stack.
        unsafe { at.cast::<u64>().read() }
    }

    /// The arguments behind the first in registers: five of integer and pointer types, and eight doubles. Those that were not given have any value.
    ///
    /// # Safety
    /// The saved registers are as they were when the variadic function was called.
    pub unsafe fn in_registers(mut self) -> ([u64; 5], [f64; 8]) {
        let vectors = self.vectors_end.wrapping_byte_sub(128);
        // SAFETY: saved registers, of 16 bytes each.
        let double =
            |nth: usize| unsafe { vectors.wrapping_byte_add(16 * nth).cast::<f64>().read() };
        // SAFETY: as promised, and there are seven behind the first.
        let words = std::array::from_fn(|_| unsafe { self.word() });
        (words, std::array::from_fn(double))
    }

    /// Passes a double over.
    pub fn skip_double(&mut self) {
        if self.vector < 0 {
            self.vector += 16;
        } else {
            self.stack = self.stack.wrapping_byte_add(8);
        }
    }

    /// Passes a long double over, which is in a vector register, or on the stack, aligned to 16 bytes.
    pub fn skip_long_double(&mut self) {
        if self.vector < 0 {
            self.vector += 16;
        } else {
            let padding = self.stack.addr() % 16;
            self.stack = self.stack.wrapping_byte_add(padding + 16);
        }
    }
}

/// Arguments of integer and pointer types, saved as a variadic function does, for tests.
#[cfg(test)]
pub struct SavedArguments {
    registers: [u64; Self::REGISTERS],
    #[cfg(target_arch = "aarch64")]
    vectors: [u128; 8],
    stack: Vec<u64>,
}

#[cfg(test)]
impl SavedArguments {
    /// Registers for integers and pointers.
    const REGISTERS: usize = if cfg!(target_arch = "aarch64") { 8 } else { 6 };

    /// Arguments that are these words, with `room` for more on the stack.
    pub fn new(words: &[u64], room: usize) -> SavedArguments {
        let (in_registers, on_stack) = words.split_at(words.len().min(Self::REGISTERS));
        let mut registers = [0; Self::REGISTERS];
        registers[..in_registers.len()].copy_from_slice(in_registers);
        let mut stack = on_stack.to_vec();
        stack.resize(stack.len() + room, 0);
        SavedArguments {
            registers,
            #[cfg(target_arch = "aarch64")]
            vectors: [0; 8],
            stack,
        }
    }

    /// The list of all but the first.
    pub fn behind_first(&self) -> Arguments {
        #[cfg(target_arch = "x86_64")]
        return Arguments {
            gp_offset: 8,
            fp_offset: 48 + 8 * 16,
            stack: self.stack.as_ptr().cast(),
            registers: self.registers.as_ptr().cast(),
        };
        #[cfg(target_arch = "aarch64")]
        return Arguments {
            stack: self.stack.as_ptr().cast(),
            registers_end: self.registers.as_ptr_range().end.cast(),
            vectors_end: self.vectors.as_ptr_range().end.cast(),
            register: -8 * (Self::REGISTERS as c_int - 1),
            vector: -128,
        };
    }
}
