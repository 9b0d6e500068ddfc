//! Answers are what they were on the other side of the wire.
