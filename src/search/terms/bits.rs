//! Numbers as bits: varints, Rice codes and Elias gamma codes, least significant bit first.
//!
//! The input may be damaged: a read returns `None` at the end of the bytes, or if a number exceeds its limit.

/// Reads a number written by [`BitWriter::write_varint`], and removes it from the bytes.
pub(super) fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Writes numbers to a buffer.
pub(in crate::search) struct BitWriter {
    bytes: Vec<u8>,
    buffer: u64,
    filled: u32,
}

impl BitWriter {
    pub(in crate::search) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), buffer: 0, filled: 0 }
    }

    /// Writes a number before all bits.
    pub(super) fn write_varint(&mut self, mut value: u64) {
        while 0x80 <= value {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push((value & 0x7f) as u8);
    }

    /// Writes a Rice code: the lowest `parameter` bits of a number as they are, and the rest of it in unary.
    pub(super) fn write_rice(&mut self, value: u64, parameter: u32) {
        let mut ones = value >> parameter;
        while 32 <= ones {
            self.write(0xffff_ffff, 32);
            ones -= 32;
        }
        self.write((1 << ones) - 1, u32::try_from(ones).map_or(32, |ones| ones + 1));
        self.write(value & ((1 << parameter) - 1), parameter);
    }

    /// Writes a number greater than zero: as many zeros as it has binary digits after the first, a one, and these
    /// digits.
    pub(super) fn write_gamma(&mut self, value: u64) {
        let digits = value.ilog2();
        self.write(1 << digits, digits + 1);
        self.write(value & ((1 << digits) - 1), digits);
    }

    /// Writes the lowest bits of a value, at most 33; its other bits must be zero.
    fn write(&mut self, value: u64, bits: u32) {
        self.buffer |= value << self.filled;
        self.filled += bits;
        while 8 <= self.filled {
            self.bytes.push((self.buffer & 0xff) as u8);
            self.buffer >>= 8;
            self.filled -= 8;
        }
    }

    /// Returns the bytes; the last one is padded with zeros.
    pub(in crate::search) fn finish(mut self) -> Vec<u8> {
        if 0 < self.filled {
            self.bytes.push((self.buffer & 0xff) as u8);
        }
        self.bytes
    }
}

/// Reads the numbers written by a [`BitWriter`].
pub(in crate::search) struct BitReader<'a> {
    bytes: &'a [u8],
    buffer: u64,
    available: u32,
}

impl<'a> BitReader<'a> {
    pub(in crate::search) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, buffer: 0, available: 0 }
    }

    /// Reads a number below 2^`bits`, at most 2^32.
    #[inline]
    pub(super) fn read_rice(&mut self, parameter: u32, bits: u32) -> Option<u32> {
        self.refill();
        let ones = self.read_unary((1_u64 << bits >> parameter) - 1)?;
        self.refill();
        (parameter <= self.available).then(|| ones << parameter | self.take(parameter))
    }

    /// Reads a number of at most `most_digits` binary digits after the first.
    #[inline]
    pub(super) fn read_gamma(&mut self, most_digits: u32) -> Option<u32> {
        self.refill();
        let digits = self.buffer.trailing_zeros();
        if most_digits < digits || self.available < 2 * digits + 1 {
            return None;
        }
        self.take(digits + 1);
        Some(1 << digits | self.take(digits))
    }

    /// Counts the ones up to the next zero, and consumes that too.
    #[inline]
    fn read_unary(&mut self, most: u64) -> Option<u32> {
        let mut ones = 0;
        loop {
            let run = self.buffer.trailing_ones().min(self.available);
            ones += run;
            if most < u64::from(ones) || self.available == 0 {
                return None;
            }
            if run < self.available {
                self.take(run);
                self.take(1);
                return Some(ones);
            }
            (self.buffer, self.available) = (0, 0);
            self.refill();
        }
    }

    /// Reads fewer than 32 bits that are known to be available.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the mask leaves fewer than 32 bits")]
    fn take(&mut self, bits: u32) -> u32 {
        let value = (self.buffer & ((1 << bits) - 1)) as u32;
        self.buffer >>= bits;
        self.available -= bits;
        value
    }

    /// Fills the buffer with at least 56 bits, or with all that remain.
    #[inline]
    fn refill(&mut self) {
        if let Some(chunk) = self.bytes.first_chunk::<8>() {
            // Bits above `available` may already be set from the last refill. They are the same bits, so this is
            // harmless.
            self.buffer |= u64::from_le_bytes(*chunk) << self.available;
            let whole = (63 - self.available) / 8;
            self.bytes = &self.bytes[whole as usize..];
            self.available += whole * 8;
            return;
        }
        while self.available < 56
            && let Some((byte, rest)) = self.bytes.split_first()
        {
            self.buffer |= u64::from(*byte) << self.available;
            self.available += 8;
            self.bytes = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_as_they_were_written() {
        let numbers = [0, 1, 2, 7, 8, 100, 4_095, 70_000, (1 << 20) - 1];
        let mut writer = BitWriter::with_capacity(0);
        writer.write_varint(1 << 40);
        for number in numbers {
            writer.write_rice(number, 12);
            writer.write_gamma(number + 1);
        }
        let bytes = writer.finish();
        let mut rest = &bytes[..];
        assert_eq!(read_varint(&mut rest), Some(1 << 40));
        let mut reader = BitReader::new(rest);
        for number in numbers {
            assert_eq!(reader.read_rice(12, 20).map(u64::from), Some(number));
            assert_eq!(reader.read_gamma(21).map(u64::from), Some(number + 1));
        }
        assert_eq!(reader.read_gamma(21), None);
    }

    #[test]
    fn too_large_or_truncated_numbers_are_not_read() {
        assert_eq!(read_varint(&mut &[0xff; 20][..]), None);
        assert_eq!(read_varint(&mut &[0x80][..]), None);
        assert_eq!(BitReader::new(&[0xff; 20]).read_rice(3, 8), None);
        assert_eq!(BitReader::new(&[0xff; 2]).read_rice(0, 28), None);
        assert_eq!(BitReader::new(&[0; 20]).read_gamma(7), None);
        assert_eq!(BitReader::new(&[0b100]).read_gamma(7), Some(0b100));
        assert_eq!(BitReader::new(&[0b1000_0000]).read_gamma(7), None);
    }
}
