//! What the scanner makes of each idiom.
