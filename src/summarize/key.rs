//! The cache key of heuristic summaries.

use crate::model::ArtifactKind;
use crate::model::Producer;

/// Version of the heuristic: raised by every change that gives another summary for the same content.
pub const VERSION: u32 = 1;

/// Returns the producer of the heuristic summary of a content that is read as `language`.
///
/// | | enters the key | because |
/// |---|---|---|
/// | content | yes, by its hash, next to the producer | it is what the summary describes |
/// | language | yes, the file type's id | the same text is described differently as C and as C++ |
/// | the heuristic | yes, its name and [`VERSION`] | a better one must run again |
/// | the outline | yes, but not here: the engine appends its producer's version | the summary names its symbols |
/// | the budget | no: it is a constant of the heuristic | a caller clips, or uses another view |
/// | path, time, machine | never | a moved or touched file keeps its summary |
pub fn producer(language: &'static str) -> Producer {
    Producer { artifact: ArtifactKind::Summary, language, version: format!("heuristic/{VERSION}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_producer_names_the_language_and_the_version() {
        let made = producer("python");
        assert_eq!(made.artifact, ArtifactKind::Summary);
        assert_eq!(made.language, "python");
        assert_eq!(made.version, "heuristic/1");
    }

    #[test]
    fn two_languages_never_share_a_key() {
        assert_ne!(producer("c"), producer("cpp"));
    }
}
