//! Distinguishes generated words from names: random letters rarely follow each other as those of a language do.

use std::ops::RangeInclusive;

/// For each letter, the letters that commonly follow it in identifiers and English: together 94 % of all pairs, but
/// only a third of those in random text. Counted in the sources of `CPython`, git, redis and Vite.
const FOLLOWERS: [&str; 26] = [
    "bcdgiklmnprstuvxy",
    "aeijlosuy",
    "acehiklortu",
    "adeilorsu",
    "acdefgilmnopqrstvwxy",
    "aefiloru",
    "ehinrs",
    "aeiot",
    "abcdefglmnoprstvxz",
    "e",
    "ei",
    "adeilostuvy",
    "abeimopsu",
    "acdefgiklnostuv",
    "abcdfgiklmnoprstuvw",
    "aeiloprstu",
    "u",
    "acdegiklmnorstuvy",
    "acehilopstuy",
    "acdefhiloprstuy",
    "abcefgilmnprst",
    "aei",
    "aehior",
    "ipt",
    "ps",
    "e",
];

/// [`FOLLOWERS`] as sets of bits.
const FOLLOWER_BITS: [u32; 26] = {
    let mut sets = [0_u32; 26];
    let mut letter = 0;
    while letter < 26 {
        let followers = FOLLOWERS[letter].as_bytes();
        let mut at = 0;
        while at < followers.len() {
            sets[letter] |= 1 << (followers[at] - b'a');
            at += 1;
        }
        letter += 1;
    }
    sets
};

/// How much likelier a random word has such a pair of characters than a name: the logarithm of the ratio, in tenths.
const RARE_PAIR: i32 = 24;
const COMMON_PAIR: i32 = -10;
const LETTER_AND_DIGIT: i32 = 18;
/// A word with at least this sum counts as generated.
const LEAST_EVIDENCE: i32 = 70;
/// The same for a word without digits, which a name in an unusual language might be.
const LEAST_EVIDENCE_OF_LETTERS: i32 = 110;

/// Returns whether a word is likely to be generated: a key, a digest, an identifier of a record.
pub(crate) fn is_generated(word: &str) -> bool {
    const SHORTEST: usize = 12;
    const FEWEST_LETTERS: usize = 3;
    let bytes = word.as_bytes();
    if bytes.len() < SHORTEST {
        return false;
    }
    let letters = bytes.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let least = if digits < 2 { LEAST_EVIDENCE_OF_LETTERS } else { LEAST_EVIDENCE };
    FEWEST_LETTERS <= letters && least <= evidence(bytes)
}

/// Returns whether a word must be generated, whatever its context: nearly every pair of its characters indicates it.
pub(crate) fn is_surely_generated(word: &str) -> bool {
    const LEAST_OF_A_PAIR: i32 = 7;
    let length = i32::try_from(word.len()).unwrap_or(i32::MAX);
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    word.len() <= letters * 2
        && is_generated(word)
        && LEAST_OF_A_PAIR.saturating_mul(length) <= evidence(word.as_bytes())
}

/// Returns whether a word is the name that a cluster or a cloud gave to a resource: that of a pod in Kubernetes,
/// `coredns-844dbb9f6f-9g9lg`, or of a resource in AWS, `ami-0ff61e0bcfc81dc94`.
pub(crate) fn is_resource_name(word: &str) -> bool {
    const TEMPLATE_LENGTHS: RangeInclusive<usize> = 8..=10;
    const POD_LENGTH: usize = 5;
    const ID_LENGTH: usize = 17;
    // The letters and digits of which Kubernetes makes the ends of names: they spell no word.
    let is_drawn = |part: &str| part.bytes().all(|b| b"bcdfghjklmnpqrstvwxz2456789".contains(&b));
    let is_kind = |kind: &str| {
        kind.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && kind.starts_with(|first: char| first.is_ascii_lowercase())
            && !is_generated(kind)
    };
    let Some((rest, last)) = word.rsplit_once('-') else { return false };
    if last.len() == ID_LENGTH {
        return is_kind(rest) && last.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    }
    rest.rsplit_once('-').is_some_and(|(kind, template)| {
        last.len() == POD_LENGTH
            && TEMPLATE_LENGTHS.contains(&template.len())
            && is_drawn(last)
            && is_drawn(template)
            && is_kind(kind)
    })
}

/// Returns whether a word is a name in camel case: its capitals begin words, which are not all short, and none but
/// those of an acronym at its start follows another one.
pub(crate) fn is_camel_case(word: &str) -> bool {
    const LONGEST_ACRONYM: usize = 4;
    const LEAST_MEAN: usize = 4;
    let acronym = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let rest = &word.as_bytes()[acronym..];
    let capitals = rest.iter().filter(|b| b.is_ascii_uppercase()).count();
    let has_pair = rest.windows(2).any(|pair| pair.iter().all(u8::is_ascii_uppercase));
    acronym <= LONGEST_ACRONYM
        && !has_pair
        && (capitals + 1) * LEAST_MEAN <= word.len()
        && word.bytes().all(|b| b.is_ascii_alphabetic())
        && !is_generated(word)
}

/// Returns whether a word consists of words, of which the digits are at their ends: `grub2-mkpasswd-pbkdf2`,
/// `text-embedding-3-small`; or whether it is a constant of many parts: `BR2_ARM_FPU_VFPV3D16`.
pub(crate) fn is_compound_name(word: &str) -> bool {
    const WORD_LENGTHS: RangeInclusive<usize> = 2..=12;
    const MOST_DIGITS: usize = 2;
    const LONGEST_PART: usize = 10;
    // Some keys are groups of four letters.
    const LONG: usize = 5;
    let is_small = word.bytes().any(|b| b.is_ascii_lowercase());
    if is_small && word.bytes().any(|b| b.is_ascii_uppercase()) {
        return false;
    }
    let parts: Vec<&str> = word.split(['-', '_']).collect();
    let letters = |part: &str| part.bytes().take_while(u8::is_ascii_alphabetic).count();
    let is_word = |part: &str| {
        let (letters, digits) = (letters(part), part.len() - letters(part));
        digits <= MOST_DIGITS
            && (WORD_LENGTHS.contains(&letters) || letters == 0 && 0 < digits)
            && part.bytes().skip(letters).all(|b| b.is_ascii_digit())
    };
    let is_constant_part = |part: &str| {
        let letters = part.bytes().filter(u8::is_ascii_uppercase).count();
        part.starts_with(|first: char| first.is_ascii_uppercase())
            && part.len() <= LONGEST_PART.min(letters * 2)
            && part.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let are_words = parts.iter().all(|part| is_word(part)) && parts.iter().any(|part| LONG <= letters(part));
    let is_constant = !is_small && 3 < parts.len() && parts.iter().all(|part| is_constant_part(part));
    1 < parts.len() && are_words || is_constant
}

/// Returns whether a word is an ordinary word or name, such as `urllib2` and `DEFAULT_REALM`, that a text may contain
/// for many reasons.
pub(crate) fn is_ordinary_name(word: &str) -> bool {
    const SHORTEST: usize = 2;
    const MOST_DIGITS: usize = 1;
    let is_word = |part: &str| {
        let letters = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        SHORTEST <= letters && part.len() - letters <= MOST_DIGITS && {
            part.bytes().skip(letters).all(|b| b.is_ascii_digit())
        }
    };
    let is_cased = word.split(['_', '.', '-', '/', ':']).all(|part| {
        let capitals = part.bytes().filter(u8::is_ascii_uppercase).count();
        capitals <= 1
            || capitals == part.bytes().filter(u8::is_ascii_alphabetic).count()
            || is_camel_case(part)
    });
    is_cased && word.split(['_', '.', '-', '/', ':']).all(is_word) && !is_generated(word)
}

fn evidence(bytes: &[u8]) -> i32 {
    let mut evidence = 0_i32;
    for pair in bytes.windows(2) {
        let (a, b) = (pair[0], pair[1]);
        // Where words of a camel-case name meet, any letters may.
        let is_joint = a.is_ascii_lowercase() && b.is_ascii_uppercase();
        // An alphabet is written down in its order.
        if b == a.wrapping_add(1) {
            evidence += COMMON_PAIR;
        } else if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() {
            let (a, b) = (a.to_ascii_lowercase() - b'a', b.to_ascii_lowercase() - b'a');
            let is_common = FOLLOWER_BITS[usize::from(a)] & (1 << b) != 0;
            evidence += if is_common || is_joint { COMMON_PAIR } else { RARE_PAIR };
        } else if a.is_ascii_alphabetic() && b.is_ascii_digit()
            || a.is_ascii_digit() && b.is_ascii_alphabetic()
        {
            evidence += LETTER_AND_DIGIT;
        }
    }
    evidence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_words_are_generated() {
        for word in [
            "q8Zt3Lw0pXv7Rk2Nf5Yb",
            "8f14e45fceea167a5a36dedd4bea2543",
            "xq7vkz2mhtp9wdrc",
            "550e8400-e29b-41d4-a716-446655440000",
            "QZKXWVJTBHQPFXKZ",
        ] {
            assert!(is_generated(word), "{word}");
        }
    }

    #[test]
    fn alphabets_are_not_generated() {
        for word in ["0123456789bcdefghjkmnpqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"] {
            assert!(!is_generated(word), "{word}");
        }
    }

    #[test]
    fn names_are_not_generated() {
        for word in [
            "AbstractSingletonProxyFactoryBean2",
            "test_that_a_long_name_in_snake_case_2_stays",
            "python3.11-dev_2024",
            "2026-05-18T14:32:10Z",
            "/usr/share/doc/python3/examples",
            "getElementsByTagName",
            "PKCS7_SIGNER_INFO",
            "12345678901234567890",
        ] {
            assert!(!is_generated(word), "{word}");
        }
    }

    #[test]
    fn the_name_of_an_encoding_or_a_path_of_a_drawing_is_not_surely_generated() {
        for word in ["csISO123CSAZ24341985gr", "IconifyId1813088fe1fbc01fb466", "256V128l64-64v128l-64"] {
            assert!(!is_surely_generated(word), "{word}");
        }
        assert!(is_surely_generated("q8Zt3Lw0pXv7Rk2Nf5Yb"));
    }

    #[test]
    fn names_of_resources_are_known() {
        for word in ["coredns-844dbb9f6f-9g9lg", "my-app2-7d9c8bf5b4-x2k7q", "ami-0ff61e0bcfc81dc94"] {
            assert!(is_resource_name(word), "{word}");
        }
        for word in ["coredns-844dbb9f6f-9g9la", "q8zt3lw0pxv7-844dbb9f6f-9g9lg", "0ff61e0bcfc81dc94"] {
            assert!(!is_resource_name(word), "{word}");
        }
    }

    #[test]
    fn words_and_names_are_distinguished_from_keys_with_the_same_signs() {
        for word in ["PSAvoidUsingConvertToSecureStringWithPlainText", "DefaultAzureCredential"] {
            assert!(is_camel_case(word), "{word}");
        }
        for word in ["xKqTbZwRmVpLdHsY", "QzxvKjwqPlmTbnRd"] {
            assert!(!is_camel_case(word), "{word}");
        }
        for word in ["grub2-mkpasswd-pbkdf2", "text-embedding-3-small", "BR2_ARM_FPU_VFPV3D16"] {
            assert!(is_compound_name(word), "{word}");
        }
        for word in
            ["abcd-efgh-ijkl-mnop", "q8Zt3Lw0pXv7-Rk2Nf5Yb", "xq7vkz2m-htp9wdrc", "-9NzH7Fa5JaHu4ArEFpa_"]
        {
            assert!(!is_compound_name(word), "{word}");
        }
        for word in ["urllib2", "KRB5_PASSWORD", "DefaultAzureCredential", "api/types.md"] {
            assert!(is_ordinary_name(word), "{word}");
        }
        for word in ["blue42sky", "vK7-tulip-92x", "hunter2!", "q8Zt3Lw0pX", "vZrEclFwOqeA", "98761234"] {
            assert!(!is_ordinary_name(word), "{word}");
        }
    }
}
