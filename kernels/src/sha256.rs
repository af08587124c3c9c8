//! SHA-256 (FIPS 180-4) of many short messages: by the processor's own instructions where it has them, several
//! messages at a time, since one alone waits for itself.

pub const DIGEST_BYTES: usize = 32;
const BLOCK_BYTES: usize = 64;
/// Of the last block: the bit behind the message, and its length in bits.
const PADDING_BYTES: usize = 9;
const LANES: usize = 4;

pub type Block = [u8; BLOCK_BYTES];
type State = [u32; 8];

const INITIAL: State = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

#[rustfmt::skip]
static ROUNDS: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The longest message that fits so many blocks.
const fn most_bytes(blocks: usize) -> usize {
    blocks * BLOCK_BYTES - PADDING_BYTES
}

/// Writes the digest of each message to its row of `digests`, which has DIGEST_BYTES a row.
pub struct Hasher<'a> {
    digests: Digests<'a>,
    short: Lanes<1>,
    longer: Lanes<2>,
}

struct Digests<'a> {
    rows: &'a mut [u8],
    is_fast: bool,
}

/// Messages of so many blocks that wait for others of this size.
struct Lanes<const BLOCKS: usize> {
    blocks: [[Block; LANES]; BLOCKS],
    rows: [usize; LANES],
    waiting: usize,
}

impl<'a> Hasher<'a> {
    pub fn new(digests: &'a mut [u8]) -> Self {
        let digests = Digests { rows: digests, is_fast: has_instructions() };
        Hasher { digests, short: Lanes::new(), longer: Lanes::new() }
    }

    /// The digest of `message` will stand in `row` once all is finished.
    pub fn add(&mut self, row: usize, message: &[u8]) {
        if message.len() <= most_bytes(1) {
            self.short.add(row, message, &mut self.digests);
        } else if message.len() <= most_bytes(2) {
            self.longer.add(row, message, &mut self.digests);
        } else {
            self.digests.write(row, digest(message, self.digests.is_fast));
        }
    }

    /// As `add`, of the message of `size` at the front of `block`, behind which are zeros.
    pub fn add_block(&mut self, row: usize, block: &Block, size: usize) {
        if size <= most_bytes(1) {
            self.short.add_block(row, block, size, &mut self.digests);
        } else {
            self.longer.add_block(row, block, size, &mut self.digests);
        }
    }

    pub fn finish(mut self) {
        self.short.flush(&mut self.digests);
        self.longer.flush(&mut self.digests);
    }
}

impl Digests<'_> {
    fn write(&mut self, row: usize, digest: [u8; DIGEST_BYTES]) {
        self.rows[row * DIGEST_BYTES..][..DIGEST_BYTES].copy_from_slice(&digest);
    }
}

impl<const BLOCKS: usize> Lanes<BLOCKS> {
    fn new() -> Self {
        Lanes { blocks: [[[0; BLOCK_BYTES]; LANES]; BLOCKS], rows: [0; LANES], waiting: 0 }
    }

    fn add(&mut self, row: usize, message: &[u8], digests: &mut Digests) {
        let (full, rest) = message.as_chunks::<BLOCK_BYTES>();
        for (blocks, block) in self.blocks.iter_mut().zip(full) {
            blocks[self.waiting] = *block;
        }
        for (place, blocks) in self.blocks.iter_mut().enumerate().skip(full.len()) {
            let block = &mut blocks[self.waiting];
            let begin = if place == full.len() { rest.len() } else { 0 };
            block[begin..].fill(0);
            if place == full.len() {
                block[..begin].copy_from_slice(rest);
                block[begin] = 0x80;
            }
        }
        self.end(row, message.len(), digests);
    }

    /// As `add`, of a message that is less than a block with zeros behind it.
    fn add_block(&mut self, row: usize, block: &Block, size: usize, digests: &mut Digests) {
        self.blocks[0][self.waiting] = *block;
        self.blocks[0][self.waiting][size] = 0x80;
        for blocks in &mut self.blocks[1..] {
            blocks[self.waiting] = [0; BLOCK_BYTES];
        }
        self.end(row, size, digests);
    }

    /// Ends the message of `size` for `row`.
    fn end(&mut self, row: usize, size: usize, digests: &mut Digests) {
        let last = &mut self.blocks[BLOCKS - 1][self.waiting];
        last[BLOCK_BYTES - 8..].copy_from_slice(&(8 * size as u64).to_be_bytes());
        self.rows[self.waiting] = row;
        self.waiting += 1;
        if self.waiting == LANES {
            self.flush(digests);
        }
    }

    fn flush(&mut self, digests: &mut Digests) {
        let mut states = [INITIAL; LANES];
        for blocks in &self.blocks {
            compress(&mut states, blocks, digests.is_fast);
        }
        for (state, row) in states.iter().zip(self.rows).take(self.waiting) {
            digests.write(row, in_bytes(state));
        }
        self.waiting = 0;
    }
}

fn digest(message: &[u8], is_fast: bool) -> [u8; DIGEST_BYTES] {
    let mut states = [INITIAL];
    let (blocks, rest) = message.as_chunks::<BLOCK_BYTES>();
    for block in blocks {
        compress(&mut states, &[*block], is_fast);
    }
    let mut last = [0; 2 * BLOCK_BYTES];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let end = if rest.len() > most_bytes(1) { 2 * BLOCK_BYTES } else { BLOCK_BYTES };
    last[end - 8..end].copy_from_slice(&(8 * message.len() as u64).to_be_bytes());
    for block in last[..end].as_chunks::<BLOCK_BYTES>().0 {
        compress(&mut states, &[*block], is_fast);
    }
    in_bytes(&states[0])
}

fn in_bytes(state: &State) -> [u8; DIGEST_BYTES] {
    let mut digest = [0; DIGEST_BYTES];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}

fn compress<const N: usize>(states: &mut [State; N], blocks: &[Block; N], is_fast: bool) {
    #[cfg(target_arch = "x86_64")]
    if is_fast {
        // SAFETY: `is_fast` says that the processor has these instructions.
        return unsafe { x86::compress(states, blocks) };
    }
    let _ = is_fast;
    for (state, block) in states.iter_mut().zip(blocks) {
        compress_portably(state, block);
    }
}

fn has_instructions() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("sha") && std::is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

fn compress_portably(state: &mut State, block: &Block) {
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for place in 16..64 {
        let (near, far) = (words[place - 15], words[place - 2]);
        let small = near.rotate_right(7) ^ near.rotate_right(18) ^ near >> 3;
        let great = far.rotate_right(17) ^ far.rotate_right(19) ^ far >> 10;
        words[place] = words[place - 16].wrapping_add(small).wrapping_add(words[place - 7]).wrapping_add(great);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(&ROUNDS) {
        let great = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = h.wrapping_add(great).wrapping_add(e & f ^ !e & g).wrapping_add(*constant).wrapping_add(*word);
        let small = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = small.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (word, added) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(added);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, State, ROUNDS};
    use std::arch::x86_64::*;

    /// One block of each of `N` messages. The processor must have the instructions that are named.
    #[target_feature(enable = "sha,ssse3,sse4.1")]
    pub unsafe fn compress<const N: usize>(states: &mut [State; N], blocks: &[Block; N]) {
        let big_endian = _mm_set_epi64x(0x0c0d0e0f_08090a0b, 0x04050607_00010203);
        let zero = _mm_setzero_si128();
        let (mut abef, mut cdgh) = ([zero; N], [zero; N]);
        let mut words = [[zero; 4]; N];
        for lane in 0..N {
            // SAFETY: a state has 32 bytes and a block 64; these loads need no alignment.
            let (low, high) = unsafe {
                let state = states[lane].as_ptr().cast::<__m128i>();
                (_mm_loadu_si128(state), _mm_loadu_si128(state.add(1)))
            };
            let (cdab, efgh) = (_mm_shuffle_epi32(low, 0xb1), _mm_shuffle_epi32(high, 0x1b));
            abef[lane] = _mm_alignr_epi8(cdab, efgh, 8);
            cdgh[lane] = _mm_blend_epi16(efgh, cdab, 0xf0);
            for (place, word) in words[lane].iter_mut().enumerate() {
                // SAFETY: as above.
                let loaded = unsafe { _mm_loadu_si128(blocks[lane].as_ptr().cast::<__m128i>().add(place)) };
                *word = _mm_shuffle_epi8(loaded, big_endian);
            }
        }
        let (abef_before, cdgh_before) = (abef, cdgh);
        for four in 0..16 {
            // SAFETY: ROUNDS has 16 times four words.
            let constants = unsafe { _mm_loadu_si128(ROUNDS.as_ptr().cast::<__m128i>().add(four)) };
            for lane in 0..N {
                let [first, second, third, fourth] = words[lane];
                let added = _mm_add_epi32(first, constants);
                cdgh[lane] = _mm_sha256rnds2_epu32(cdgh[lane], abef[lane], added);
                abef[lane] = _mm_sha256rnds2_epu32(abef[lane], cdgh[lane], _mm_shuffle_epi32(added, 0x0e));
                let partial = _mm_add_epi32(_mm_sha256msg1_epu32(first, second), _mm_alignr_epi8(fourth, third, 4));
                words[lane] = [second, third, fourth, _mm_sha256msg2_epu32(partial, fourth)];
            }
        }
        for lane in 0..N {
            let feba = _mm_shuffle_epi32(_mm_add_epi32(abef[lane], abef_before[lane]), 0x1b);
            let dchg = _mm_shuffle_epi32(_mm_add_epi32(cdgh[lane], cdgh_before[lane]), 0xb1);
            // SAFETY: a state has 32 bytes; these stores need no alignment.
            unsafe {
                let state = states[lane].as_mut_ptr().cast::<__m128i>();
                _mm_storeu_si128(state, _mm_blend_epi16(feba, dchg, 0xf0));
                _mm_storeu_si128(state.add(1), _mm_alignr_epi8(dchg, feba, 8));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digest that the standard gives for "abc", and that of two blocks (FIPS 180-2, appendix B).
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const LONG: &str = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";

    fn hexadecimal(digest: &[u8]) -> String {
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn gives_the_digests_of_the_standard_either_way() {
        for is_fast in [false, has_instructions()] {
            assert_eq!(hexadecimal(&digest(b"abc", is_fast)), ABC);
            let long = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
            assert_eq!(hexadecimal(&digest(long, is_fast)), LONG);
        }
    }

    #[test]
    fn many_messages_have_the_digests_that_each_has_alone() {
        let messages: Vec<Vec<u8>> = (0..200).map(|size| vec![size as u8; size]).collect();
        let mut digests = vec![0; messages.len() * DIGEST_BYTES];
        let mut hasher = Hasher::new(&mut digests);
        for (row, message) in messages.iter().enumerate() {
            hasher.add(row, message);
        }
        hasher.finish();
        for (message, found) in messages.iter().zip(digests.chunks(DIGEST_BYTES)) {
            assert_eq!(found, digest(message, false));
        }
    }
}
