//! Formats numbers for rules, errors and lists.

/// Returns a number with its digits in groups of three: `12,345`.
pub fn format_grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if 0 < at && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!([7, 1234, 1_234_567].map(format_grouped), ["7", "1,234", "1,234,567"]);
    }
}
