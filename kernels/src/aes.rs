//! AES with a key of 256 bits (FIPS 197), each block on its own: by the processor's own instructions only, since tables
//! would tell the key to whoever shares its caches.

pub const KEY_BYTES: usize = 32;

/// 16 bytes as they stand in memory.
pub type Block = u128;

const ROUND_KEYS: usize = 15;

/// What is encrypted under one key.
pub struct Cipher {
    #[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "there is none"))]
    round_keys: [Block; ROUND_KEYS],
}

impl Cipher {
    /// None where the processor has no such instructions.
    pub fn new(key: &[u8; KEY_BYTES]) -> Option<Cipher> {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("aes") {
            // SAFETY: the processor has these instructions.
            return Some(Cipher { round_keys: unsafe { x86::expand(key) } });
        }
        let _ = key;
        None
    }

    /// Encrypts each of `blocks` where it stands.
    pub fn encrypt(&self, blocks: &mut [Block]) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: there are round keys only where the processor has these instructions.
        unsafe {
            x86::encrypt(&self.round_keys, blocks)
        };
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("{} blocks, and no instructions", blocks.len());
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Block, KEY_BYTES, ROUND_KEYS};
    use std::arch::x86_64::*;

    /// So many blocks are encrypted side by side: one alone waits for itself.
    const LANES: usize = 8;

    fn loaded(block: &Block) -> __m128i {
        // SAFETY: a block has 16 bytes, and this needs no alignment.
        unsafe { _mm_loadu_si128(std::ptr::from_ref(block).cast()) }
    }

    fn store(value: __m128i, block: &mut Block) {
        // SAFETY: as above.
        unsafe { _mm_storeu_si128(std::ptr::from_mut(block).cast(), value) }
    }

    /// The next round key, from the one before the last and a word made from the last.
    #[target_feature(enable = "aes")]
    fn next(mut key: __m128i, word: __m128i) -> __m128i {
        for _ in 0..3 {
            key = _mm_xor_si128(_mm_slli_si128(key, 4), key);
        }
        _mm_xor_si128(key, word)
    }

    #[target_feature(enable = "aes")]
    pub fn expand(key: &[u8; KEY_BYTES]) -> [Block; ROUND_KEYS] {
        let (halves, mut round_keys) = (key.as_chunks().0, [0; ROUND_KEYS]);
        let mut pair = [0, 1].map(|half| loaded(&Block::from_ne_bytes(halves[half])));
        for place in 0..ROUND_KEYS {
            if place > 1 {
                let (own, last) = (pair[place % 2], pair[1 - place % 2]);
                let word = match place {
                    2 => _mm_aeskeygenassist_si128(last, 0x01),
                    4 => _mm_aeskeygenassist_si128(last, 0x02),
                    6 => _mm_aeskeygenassist_si128(last, 0x04),
                    8 => _mm_aeskeygenassist_si128(last, 0x08),
                    10 => _mm_aeskeygenassist_si128(last, 0x10),
                    12 => _mm_aeskeygenassist_si128(last, 0x20),
                    14 => _mm_aeskeygenassist_si128(last, 0x40),
                    _ => _mm_aeskeygenassist_si128(last, 0),
                };
                let turned = place % 2 == 0;
                let word = if turned { _mm_shuffle_epi32(word, 0xff) } else { _mm_shuffle_epi32(word, 0xaa) };
                pair[place % 2] = next(own, word);
            }
            store(pair[place % 2], &mut round_keys[place]);
        }
        round_keys
    }

    #[target_feature(enable = "aes")]
    pub fn encrypt(round_keys: &[Block; ROUND_KEYS], blocks: &mut [Block]) {
        let keys = round_keys.each_ref().map(loaded);
        let (groups, rest) = blocks.as_chunks_mut();
        for group in groups {
            side_by_side::<LANES>(&keys, group);
        }
        for block in rest {
            side_by_side(&keys, std::array::from_mut(block));
        }
    }

    #[target_feature(enable = "aes")]
    fn side_by_side<const N: usize>(keys: &[__m128i; ROUND_KEYS], blocks: &mut [Block; N]) {
        let mut states = [keys[0]; N];
        for (state, block) in states.iter_mut().zip(&*blocks) {
            *state = _mm_xor_si128(*state, loaded(block));
        }
        for key in &keys[1..ROUND_KEYS - 1] {
            for state in &mut states {
                *state = _mm_aesenc_si128(*state, *key);
            }
        }
        for (state, block) in states.iter().zip(blocks) {
            store(_mm_aesenclast_si128(*state, keys[ROUND_KEYS - 1]), block);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_block_of_the_standard() {
        // FIPS 197, appendix C.3.
        let key: [u8; KEY_BYTES] = std::array::from_fn(|place| place as u8);
        let plain = Block::from_be_bytes(std::array::from_fn(|place| 0x11 * place as u8)).to_be();
        let encrypted = 0x8ea2b7ca_516745bf_eafc4990_4b496089_u128.to_be();
        if let Some(cipher) = Cipher::new(&key) {
            for count in 0..20 {
                let mut blocks = vec![plain; count];
                cipher.encrypt(&mut blocks);
                assert_eq!(blocks, vec![encrypted; count]);
            }
        }
    }
}
