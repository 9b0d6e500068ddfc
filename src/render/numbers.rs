//! Formats numbers for people.

use std::time::Duration;

/// Returns a size in bytes, KiB, MiB or GiB, with one decimal place.
#[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
pub fn format_size(bytes: u64) -> String {
    let (mut size, mut unit) = (bytes as f64, "bytes");
    for next in ["KiB", "MiB", "GiB"] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    // A number of bytes is exact, so it has no decimal place.
    if unit == "bytes" { format!("{bytes} bytes") } else { format!("{size:.1} {unit}") }
}

/// Returns a time in seconds, with as many digits as are meaningful.
pub fn format_seconds(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 1.0 { format!("{:.0} ms", seconds * 1000.0) } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            [format_size(7), format_size(1536), format_size(3 << 30)],
            ["7 bytes", "1.5 KiB", "3.0 GiB"]
        );
        assert_eq!(
            [format_seconds(Duration::from_millis(12)), format_seconds(Duration::from_millis(1250))],
            ["12 ms", "1.2 s"]
        );
    }
}
