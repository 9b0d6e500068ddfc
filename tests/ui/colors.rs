//! The colors: every text can be read on every ground that it is shown on, in both schemes.

use std::collections::BTreeMap;

use crate::files::page_files;

/// The contrast that text has to have (WCAG 2.2, level AA).
const LEAST: f64 = 4.5;
const GROUNDS: [&str; 3] = ["paper", "sheet", "wash"];
const TEXTS: [&str; 6] = ["ink", "faint", "red", "blue", "green", "amber"];
const RAMP: [&str; 5] = ["full", "skeleton", "outline", "summary", "path"];

type Colors = BTreeMap<String, [u8; 3]>;

/// Returns the colors of the light and of the dark scheme, by name.
fn schemes() -> [Colors; 2] {
    let (_, css) = page_files().into_iter().find(|(name, _)| name == "slop.css").unwrap();
    let (root, _) = css.split_once('}').unwrap();
    let mut schemes = [Colors::new(), Colors::new()];
    for line in root.lines() {
        let Some((name, value)) = line.trim().strip_prefix("--").and_then(|line| line.split_once(": "))
        else {
            continue;
        };
        let Some(pair) = value.strip_prefix("light-dark(#") else { continue };
        let (light, dark) = pair.trim_end_matches(");").split_once(", #").unwrap();
        for (scheme, hex) in schemes.iter_mut().zip([light, dark]) {
            let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            scheme.insert(name.to_owned(), [part(0), part(2), part(4)]);
        }
    }
    schemes
}

fn luminance(color: [u8; 3]) -> f64 {
    let [red, green, blue] = color.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn every_text_can_be_read_on_every_ground() {
    for scheme in schemes() {
        for (text, ground) in TEXTS.into_iter().flat_map(|text| GROUNDS.map(|ground| (text, ground))) {
            let found = contrast(scheme[text], scheme[ground]);
            assert!(LEAST <= found, "{text} on {ground}: {found:.2}");
        }
    }
}

#[test]
fn labels_can_be_read_on_the_ramp_of_views() {
    for scheme in schemes() {
        for step in RAMP {
            let found = contrast(scheme["ink"], scheme[step]).max(contrast(scheme["paper"], scheme[step]));
            assert!(LEAST <= found, "label on {step}: {found:.2}");
        }
    }
}
