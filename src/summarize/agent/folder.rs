//! The material about a folder: descriptions of its children.

use crate::model::ContentHash;
use crate::model::SummaryScope;

use super::PromptMaterial;
use super::boundary::fenced;
use super::boundary::overhead;

/// A child of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderChild {
    /// The hash of its content.
    pub subject: ContentHash,
    /// The description of it.
    pub description: String,
    /// The bytes of the files that it comprises.
    pub bytes: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// Bytes reserved for the note about children that do not fit.
const REST_BYTES: usize = 64;
/// The most bytes of one child's description.
const WORDS_BYTES: usize = 2_000;

/// Returns the material about a folder in at most `most_bytes`, which must be at least some hundred: the descriptions
/// of its children, largest first, without their names.
pub fn folder_material(
    scope: SummaryScope,
    subject: &ContentHash,
    children: &[FolderChild],
    most_bytes: usize,
) -> PromptMaterial {
    let mut order: Vec<&FolderChild> = children.iter().collect();
    order.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.subject.cmp(&b.subject)));
    let folders = order.iter().filter(|child| child.is_folder).count();
    let whole = if scope == SummaryScope::Project { "Top of a project" } else { "Folder" };
    let about = format!("{whole}: {} files, {folders} folders", order.len() - folders);
    let mut room = most_bytes.saturating_sub(overhead(&about) + REST_BYTES);
    let (mut data, mut left_out) = (String::new(), 0_usize);
    for child in order {
        let kind = if child.is_folder { "Folder" } else { "File" };
        let words = child.description[..child.description.floor_char_boundary(WORDS_BYTES)].trim();
        let entry = format!("[{kind}, {} bytes]\n{words}\n", child.bytes);
        match room.checked_sub(entry.len()) {
            Some(rest) if left_out == 0 => {
                room = rest;
                data.push_str(&entry);
            }
            Some(_) | None => left_out += 1,
        }
    }
    if 0 < left_out {
        data.extend(["[", &left_out.to_string(), " more files and folders left out]\n"]);
    }
    PromptMaterial { text: fenced(subject, &about, &data), is_cut: 0 < left_out }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn child(number: u64, bytes: u64) -> FolderChild {
        let subject = ContentHash::digest(&number.to_le_bytes());
        let words = format!("Does the work of number {number}, and of nobody else.");
        FolderChild { subject, description: words, bytes, is_folder: number.is_multiple_of(2) }
    }

    #[test]
    fn the_largest_stand_first_whatever_the_order_was() {
        let subject = ContentHash::digest(b"folder");
        let children = [child(1, 10), child(2, 30), child(3, 20)];
        let backwards: Vec<FolderChild> = children.iter().rev().cloned().collect();
        let made = folder_material(SummaryScope::Folder, &subject, &children, 2_000);
        assert_eq!(made, folder_material(SummaryScope::Folder, &subject, &backwards, 2_000));
        let order = ["number 2", "number 3", "number 1"].map(|name| made.text.find(name).unwrap());
        assert!(order.is_sorted() && !made.is_cut);
        assert!(made.text.contains("\nFolder: 2 files, 1 folders\n"), "{}", made.text);
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let children: Vec<FolderChild> = (0..1_000).map(|number| child(number, number)).collect();
        for most in [500, 1_000, 24_000] {
            let made = folder_material(SummaryScope::Project, &ContentHash::digest(b"x"), &children, most);
            assert!(made.text.len() <= most && made.is_cut);
            assert!(made.text.contains("more files and folders left out]"));
        }
    }
}
