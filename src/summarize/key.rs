//! What a summary's cache key is made of.

use crate::model::ArtifactKind;
use crate::model::Producer;

/// Version of the heuristic: raised by every change that gives other words for the same content.
pub const VERSION: u32 = 1;

/// Returns the producer of the heuristic's summary of a content that is read as `language`.
///
/// | | enters the key | because |
/// |---|---|---|
/// | content | yes, by its hash, which stands beside the producer | the words are about it |
/// | language | yes, the file type's id | the same text is told otherwise as C and as C++ |
/// | the heuristic | yes, its name and [`VERSION`] | a better one must be asked again |
/// | the outline | yes, but not here: the engine appends its producer's version | the words name its symbols |
/// | the budget | no: it is a constant of the heuristic | a caller clips, or takes another view |
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
