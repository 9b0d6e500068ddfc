//! Edits of files that are written by hand, on a disk in memory.

mod batch;
mod modes;
mod presets;
mod takes;

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::config::{ConfigInputs, Error, LoadedConfig};
use crate::model::{ContentHash, FileItem, FileStamp, MaskMode, Slice, SliceAnchors, ViewMode};
use crate::sys::{Disk, WriteContent};

/// Two files; the second read of the project's may find it changed.
#[derive(Default)]
struct MemoryFiles {
    project: Mutex<Option<Vec<u8>>>,
    user: Mutex<Option<Vec<u8>>>,
    writes: Mutex<u32>,
    intruder: Mutex<Option<(u32, Vec<u8>)>>,
    /// How many writes succeed before all fail, as if the process had been killed.
    writes_left: Mutex<Option<u32>>,
}

const PROJECT: &str = "slop.toml";
const USER: &str = "user.toml";

impl MemoryFiles {
    fn new(project: &str) -> Self {
        Self { project: Mutex::new(Some(project.as_bytes().to_vec())), ..Self::default() }
    }

    fn file(&self, path: &Path) -> &Mutex<Option<Vec<u8>>> {
        if path == Path::new(PROJECT) { &self.project } else { &self.user }
    }

    fn text(&self) -> String {
        String::from_utf8(self.project.lock().unwrap().clone().unwrap()).unwrap()
    }

    fn count_write(&self) -> io::Result<()> {
        *self.writes.lock().unwrap() += 1;
        match &mut *self.writes_left.lock().unwrap() {
            Some(0) => Err(io::ErrorKind::Other.into()),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn writes(&self) -> u32 {
        *self.writes.lock().unwrap()
    }

    #[track_caller]
    fn load(&self) -> LoadedConfig {
        let file = |name: &str, bytes: &Mutex<Option<Vec<u8>>>| {
            bytes.lock().unwrap().clone().map(|bytes| (name.into(), bytes))
        };
        let inputs = ConfigInputs {
            user_file: file(USER, &self.user),
            project_file: file(PROJECT, &self.project),
            environment: Vec::new(),
            project_link: None,
            links_file: None,
            private: crate::config::PrivateFolders::default(),
            flags: Vec::new(),
        };
        crate::config::load(&inputs).unwrap()
    }
}

impl Disk for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut intruder = self.intruder.lock().unwrap();
        if let Some((0, bytes)) = &*intruder {
            *self.project.lock().unwrap() = Some(bytes.clone());
        }
        if let Some((reads, _)) = &mut *intruder {
            *reads = reads.saturating_sub(1);
        }
        Ok(self.file(path).lock().unwrap().clone())
    }

    fn create_new_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()> {
        assert_eq!(*self.file(path).lock().unwrap(), None);
        self.replace_with(path, write)
    }

    fn replace_with(&self, path: &Path, write: WriteContent<'_>) -> io::Result<()> {
        self.count_write()?;
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        *self.file(path).lock().unwrap() = Some(bytes);
        Ok(())
    }

    fn lock_folder(&self, _: &Path) -> io::Result<Option<File>> {
        Ok(None)
    }

    fn create_private_folder(&self, _: &Path) -> io::Result<()> {
        unreachable!("an edit makes no folder of its own")
    }

    fn check_writable(&self, _: &Path) -> io::Result<()> {
        unreachable!("an edit writes or fails")
    }

    fn entry_names(&self, _: &Path) -> io::Result<Vec<OsString>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn read_prefix(&self, _: &Path, _: u64) -> io::Result<Vec<u8>> {
        unreachable!("an edit reads the whole")
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.count_write()?;
        *self.file(path).lock().unwrap() = None;
        Ok(())
    }

    fn size(&self, _: &Path) -> io::Result<u64> {
        unreachable!("an edit reads the whole")
    }

    fn stamp(&self, _: &Path) -> io::Result<Option<FileStamp>> {
        unreachable!("an edit reads the whole")
    }

    fn file_system_time(&self, _: &Path) -> io::Result<i64> {
        unreachable!("an edit asks for no time")
    }
}

fn slice(start_line: u32, end_line: u32) -> Slice {
    let (tag, comment) = (String::new(), String::new());
    Slice { start_line, end_line, tag, comment, anchors: SliceAnchors::default() }
}

fn add(disk: &MemoryFiles, path: &str, slice: &Slice) -> Result<(), Error> {
    add_slice(disk, Path::new(PROJECT), path, slice)
}

fn mask(disk: &MemoryFiles, path: &str, masks: &[(&str, MaskMode)]) -> Result<(), Error> {
    let masks: Vec<_> = masks.iter().map(|(key, mode)| ((*key).to_owned(), *mode)).collect();
    set_masks(disk, Path::new(PROJECT), path, &masks)
}

fn save(
    disk: &MemoryFiles,
    target: &str,
    name: &str,
    files: &[&str],
    overwrites: bool,
) -> Result<usize, Error> {
    let files = files.iter().map(|file| (*file).to_owned()).collect();
    let draft = PresetDraft { name: name.to_owned(), description: String::new(), files, overwrites };
    save_preset(disk, Path::new(PROJECT), Path::new(target), &draft)
}

fn apply(disk: &MemoryFiles, name: &str, gone: &[&str], may_lose: bool) -> Result<Vec<String>, Error> {
    let gone: Vec<String> = gone.iter().map(|path| (*path).to_owned()).collect();
    apply_preset(disk, Path::new(PROJECT), Path::new(PROJECT), name, &gone, may_lose)
}

#[track_caller]
fn check(before: &str, change: impl FnOnce(&MemoryFiles) -> Result<(), Error>, after: &Expect) {
    let disk = MemoryFiles::new(before);
    change(&disk).unwrap();
    after.assert_eq(&disk.text());
    disk.load();
}

#[track_caller]
fn check_error(disk: &MemoryFiles, error: Result<(), Error>, expected: &str) {
    let before = disk.writes();
    assert_eq!(error.unwrap_err().to_string(), expected);
    assert_eq!(disk.writes(), before);
}

#[test]
fn a_slice_is_written_with_all_fields_and_read_back() {
    let disk = MemoryFiles::default();
    let anchors = SliceAnchors {
        content_hash: Some(ContentHash::digest(b"x")),
        before: vec!["a \"quoted\"\tline\r".to_owned(), String::new()],
        after: vec!["\u{1b}'''\"\"\"\\\u{7f}".to_owned()],
        line_hashes: vec!["0f".to_owned()],
        unique_before: vec!["u".to_owned()],
        unique_after: Vec::new(),
        copies: 2,
    };
    let slice =
        Slice { tag: "hot loop".to_owned(), comment: "two\nlines".to_owned(), anchors, ..slice(3, 9) };
    add(&disk, "src/ü.py", &slice).unwrap();
    let expected = FileItem { custom_slices: vec![slice], ..FileItem::plain("src/ü.py") };
    assert_eq!(disk.load().curation.files, [expected]);
    assert!(
        disk.text()
            .starts_with("[[files]]\npath = \"src/ü.py\"\n\n[[files.custom_slices]]\nstart_line = 3\n")
    );
}

#[test]
fn a_slice_is_added_to_an_existing_item() {
    check(
        "# Mine.\n[[files]]\npath = './a.py' # here\nx.y = 1\n\n# Other.\n[[files]]\npath = 'b.py'\n# Last.\n",
        |disk| add(disk, "a.py", &slice(1, 2)),
        &expect![[r"
            # Mine.
            [[files]]
            path = './a.py' # here
            x.y = 1

            [[files.custom_slices]]
            start_line = 1
            end_line = 2

            # Other.
            [[files]]
            path = 'b.py'
            # Last.
        "]],
    );
}

#[test]
fn additions_at_the_end_follow_the_comments_there() {
    check(
        "[tiers.4]\n# The role.\n#role = \"qa\"",
        |disk| mask(disk, "a.py", &[("A.b", MaskMode::Definition)]),
        &expect![[r#"
            [tiers.4]
            # The role.
            #role = "qa"

            [[files]]
            path = "a.py"
            ast_mask = { "A.b" = "def" }
        "#]],
    );
    check(
        "[[files]]\npath = 'a'\n# About a.\n",
        |disk| add(disk, "b", &slice(1, 1)),
        &expect![[r#"
            [[files]]
            path = 'a'
            # About a.

            [[files]]
            path = "b"

            [[files.custom_slices]]
            start_line = 1
            end_line = 1
        "#]],
    );
}

#[test]
fn items_that_are_written_inline_stay_inline() {
    check(
        "files = [\n  { path = 'a' }, # first\n  { path = 'b', tier = 3 }\n]\n[project]\nname = 'x'\n",
        |disk| {
            add(disk, "a", &slice(1, 2))?;
            add(disk, "a", &slice(3, 4))?;
            mask(disk, "b", &[("f", MaskMode::Hide), ("g", MaskMode::Hide)])?;
            mask(disk, "b", &[("f", MaskMode::Signature)])?;
            mask(disk, "c", &[("f", MaskMode::Hide)])
        },
        &expect![[r#"
            files = [
              { path = 'a', custom_slices = [{ start_line = 1, end_line = 2 }, { start_line = 3, end_line = 4 }] }, # first
              { path = 'b', tier = 3, ast_mask = { f = "sig", g = "hide" } },
              { path = "c", ast_mask = { f = "hide" } }
            ]
            [project]
            name = 'x'
        "#]],
    );
}

#[test]
fn a_mask_is_changed_in_place_in_any_syntax() {
    check(
        "[[files]]\npath = 'a'\nast_mask = { f = 'def', 'A.b' = 'sig' } # why\n",
        |disk| mask(disk, "a", &[("f", MaskMode::Hide), ("g", MaskMode::Signature)]),
        &expect![[r#"
            [[files]]
            path = 'a'
            ast_mask = { f = "hide", 'A.b' = 'sig', g = "sig" } # why
        "#]],
    );
    check(
        "[[files]]\npath = 'a'\n[files.ast_mask]\nf = 'def' # why\n\n# Below.\n[project]\n",
        |disk| mask(disk, "a", &[("f", MaskMode::Hide), ("A.b", MaskMode::Signature)]),
        &expect![[r#"
            [[files]]
            path = 'a'
            [files.ast_mask]
            f = "hide" # why
            "A.b" = "sig"

            # Below.
            [project]
        "#]],
    );
}

#[test]
fn symbols_are_removed_from_a_mask() {
    let text = "[[files]]\npath = 'a'\nast_mask = { f = 'def', 'A.b' = 'sig' }\n";
    let remove = |disk: &MemoryFiles, keys: &[&str]| {
        let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
        remove_masks(disk, Path::new(PROJECT), "a", &keys)
    };
    let disk = MemoryFiles::new(text);
    assert_eq!(remove(&disk, &["f"]).unwrap(), ["f"]);
    assert_eq!(disk.text(), "[[files]]\npath = 'a'\nast_mask = { 'A.b' = 'sig' }\n");
    assert_eq!(remove(&disk, &[]).unwrap(), ["A.b"]);
    // The curation is empty now.
    assert_eq!(*disk.project.lock().unwrap(), None);
    let disk = MemoryFiles::new("[[files]]\npath = 'a'\ntier = 3\n");
    check_error(&disk, remove(&disk, &[]).map(drop), "`a` has no mask");
    let disk = MemoryFiles::new(text);
    let expected = "no symbol `A.c` in the mask of `a`; known: `A.b`";
    check_error(&disk, remove(&disk, &["f", "A.c"]).map(drop), expected);
}

#[test]
fn slices_are_removed_by_lines_or_tag_and_detached_comments_stay() {
    let text = "[[files]]\npath = 'a'\n\n# About slices.\n\n# The first.\n[[files.custom_slices]]\nstart_line = 1\n\
                end_line = 2\n\n[[files.custom_slices]]\nstart_line = 3\nend_line = 4\ntag = 't'\n# End.\n";
    let remove = |disk: &MemoryFiles, key| remove_slices(disk, Path::new(PROJECT), "./a", &[key]);
    let disk = MemoryFiles::new(text);
    assert_eq!(remove(&disk, SliceKey::Lines(1, 2)).unwrap(), 1);
    let left = "[[files]]\npath = 'a'\n\n# About slices.\n\n[[files.custom_slices]]\nstart_line = 3\nend_line = 4\n\
                tag = 't'\n# End.\n";
    assert_eq!(disk.text(), left);
    assert_eq!(remove(&disk, SliceKey::Tag("t".to_owned())).unwrap(), 1);
    assert_eq!(disk.text(), "\n# About slices.\n# End.\n");
    let disk = MemoryFiles::new("[[files]]\npath = 'a'\ntier = 3\n");
    check_error(&disk, remove(&disk, SliceKey::Lines(3, 4)).map(drop), "no such slice of `./a`");
    let missing = remove_slices(&disk, Path::new(PROJECT), "b", &[SliceKey::Lines(1, 1)]).map(drop);
    check_error(&disk, missing, "no item `b` under [[files]] in slop.toml");
}

#[test]
fn an_item_for_a_pattern_hides_what_the_patterns_before_it_hide() {
    let before = "[[files]]\npath = \"src/*.py\"\nast_mask = { key = \"hide\", b = \"sig\" }\n\
                  [[files]]\npath = \"**/c.py\"\nast_mask = { c = \"hide\" }\n\
                  [[files]]\npath = \"src/d.py\"\nast_mask = { d = \"hide\" }\n";
    let hidden = |path: &str| {
        let disk = MemoryFiles::new(before);
        set_item_mode(&disk, Path::new(PROJECT), &[path.to_owned()], ItemMode::ForceFull).unwrap();
        let mask = disk.load().curation.files[3].ast_mask.clone();
        mask.into_iter().map(|(symbol, _)| symbol).collect::<Vec<_>>()
    };
    assert_eq!(hidden("src/**"), ["key", "c"]);
    assert_eq!(hidden("**"), ["key", "c"]);
    assert_eq!(hidden("s*/*.py"), ["key", "c"]);
    assert_eq!(hidden("src/*.c"), [""; 0]);
    assert_eq!(hidden("lib/**"), ["c"]);
}

#[test]
fn an_invalid_item_is_kept_as_it_is_until_an_edit_changes_or_removes_it() {
    let invalid = "[[files]]\npath = \"b.py\" # why\nview_mode = \"bad\"\n\n";
    let disk = MemoryFiles::new(&format!("{invalid}[[files]]\npath = \"a.py\"\n"));
    let (file, b) = (Path::new(PROJECT), ["b.py".to_owned()]);
    set_masks(&disk, file, "a.py", &[("f".to_owned(), MaskMode::Hide)]).unwrap();
    assert_eq!(disk.text(), format!("{invalid}[[files]]\npath = \"a.py\"\nast_mask = {{ f = \"hide\" }}\n"));
    let takes = TakeFiles { settings: file.to_owned(), takes: "takes.toml".into() };
    assert_eq!(read_takes(&disk, &takes).unwrap().takes[0].masks, 1);
    set_item_mode(&disk, file, &b, ItemMode::View(ViewMode::Outline)).unwrap();
    assert!(disk.load().problems.is_empty());
    *disk.project.lock().unwrap() = Some(invalid.as_bytes().to_vec());
    assert_eq!(remove_items(&disk, file, &b, false).unwrap(), 1);
    // Without a valid type, nothing could be edited; an older list and the indices of slices could lose entries.
    for text in [
        "[[files]]\npath = \"b.py\"\nast_mask = 3\n",
        "files = [\"b.py\"]\n",
        "[files]\npaths = [{ path = \"b.py\", tier = 9 }]\n",
        "[[files]]\npath = \"b.py\"\ncustom_slices = [{ start_line = 0, end_line = 1 }]\n",
    ] {
        *disk.project.lock().unwrap() = Some(text.as_bytes().to_vec());
        assert!(set_item_mode(&disk, file, &b, ItemMode::ForceFull).is_err(), "{text}");
        assert_eq!(disk.text(), text);
    }
}

#[test]
fn an_item_with_only_a_path_left_is_removed() {
    let pattern = "[[files]]\npath = \"src/**\"\nast_mask = { \"A.key\" = \"hide\", b = \"sig\" }\n";
    let disk = MemoryFiles::new(pattern);
    add(&disk, "src/a.py", &slice(7, 8)).unwrap();
    // An item of its own keeps hiding what the pattern hides, but nothing else of the pattern applies.
    let added = disk.load().curation.files[1].clone();
    assert_eq!(
        (added.path.as_str(), added.ast_mask),
        ("src/a.py", vec![("A.key".to_owned(), MaskMode::Hide)])
    );
    remove_slices(&disk, Path::new(PROJECT), "src/a.py", &[SliceKey::Index(0)]).unwrap();
    remove_masks(&disk, Path::new(PROJECT), "src/a.py", &[]).unwrap();
    assert_eq!(disk.text().trim_end(), pattern.trim_end());
    add(&disk, "b.py", &slice(7, 8)).unwrap();
    assert_eq!(disk.load().curation.files[1].ast_mask, []);
    remove_slices(&disk, Path::new(PROJECT), "b.py", &[SliceKey::Lines(7, 8)]).unwrap();
    assert_eq!(disk.load().curation.files.len(), 1);
}

#[test]
fn a_slice_is_not_added_twice() {
    let disk = MemoryFiles::default();
    add(&disk, "a", &slice(1, 2)).unwrap();
    check_error(&disk, add(&disk, "./a", &slice(1, 2)), "`./a` already has a slice of lines 1-2");
}

#[test]
fn line_endings_and_the_byte_order_mark_stay() {
    let disk =
        MemoryFiles::new("\u{feff}# A.\r\n[[files]]\r\npath = 'a'\r\n[project]\r\nname = '''x\r\ny'''");
    add(&disk, "a", &slice(1, 2)).unwrap();
    let expected = "\u{feff}# A.\r\n[[files]]\r\npath = 'a'\r\n\r\n[[files.custom_slices]]\r\nstart_line = 1\r\n\
                    end_line = 2\r\n[project]\r\nname = '''x\r\ny'''";
    assert_eq!(disk.text(), expected);
}

#[test]
fn mixed_line_endings_stay_outside_of_the_edit() {
    let disk = MemoryFiles::new("# x\n[project]\r\nname = 'a'\n\r\n# end");
    add(&disk, "a", &slice(1, 2)).unwrap();
    assert!(
        disk.text().starts_with("# x\n[project]\r\nname = 'a'\n\r\n# end\n\n[[files]]\n"),
        "{:?}",
        disk.text()
    );
}

#[test]
fn nothing_is_written_over_a_file_that_changed_meanwhile_or_cannot_be_read() {
    let disk = MemoryFiles::new("");
    *disk.intruder.lock().unwrap() = Some((1, b"# theirs".to_vec()));
    check_error(&disk, add(&disk, "a", &slice(1, 2)), "slop.toml changed while it was edited");
    assert_eq!(disk.text(), "# theirs");
    for (text, expected) in
        [("[[files]\n", "slop.toml:1: not TOML"), ("files = 1", "slop.toml:1: `files` is 1")]
    {
        let disk = MemoryFiles::new(text);
        let error = add(&disk, "a", &slice(1, 2)).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(disk.writes(), 0);
    }
}

#[test]
fn a_hostile_file_is_rejected_or_edited() {
    let parts = vec!["a"; 79].join(".");
    let deep = format!("{}1{}", format!("{{{parts}=").repeat(70), "}".repeat(70));
    let disk = MemoryFiles::new(&format!("[[files]]\npath = 'a'\nodd = {deep}\n"));
    let _ = add(&disk, "a", &slice(1, 2));
    let _ = save(&disk, PROJECT, "p", &[], false);
    let _ = apply(&disk, "p", &[], true);
}

/// Pieces of files, in any combination.
fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
    let headed = [
        "# A comment.\n\n",
        "# About the item.\n[[files]] # head\npath = \"x.py\" # path\n\nodd = [1,2, # odd\n  3]\n",
        "[[files]]\n  path='dir/y.py'\n  tier  =  3\n",
        "[[files]]\npath = 'z'\nast_mask = {a='def', \"b.c\" = \"sig\"}\n",
        "[[files]]\npath = \"m\"\n[files.ast_mask]\n# In the mask.\nf = 'hide' # f\n\n[[files.custom_slices]]\n\
         start_line=1\nend_line =2 # two\n\n",
        "[limits] # limits\nmax_bytes = 1_000 # a lot\n\n",
        "[tiers.3]\n# role = 'x'\ntree = true\n",
        "[presets.p]\nfiles = ['a', {path = 'b', odd = 1}] # list\n\n",
        "[personas.'q r']\nsystem_prompt = '''\nmany\nlines\n'''\nodd.er = 1979-05-27\n",
        "\n\n# Trailing words",
    ];
    proptest::sample::subsequence(headed.to_vec(), 0..=headed.len()).prop_shuffle()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_line_of_a_file_is_lost_by_adding_to_it(pieces in pieces(), path in "(x\\.py|m|z|new|dir/y\\.py)", crlf: bool) {
        let mut text = pieces.join("\n") + "\n";
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        let disk = MemoryFiles::new(&text);
        let before = disk.load();
        add(&disk, &path, &slice(7, 8)).unwrap();
        mask(&disk, &path, &[("new.symbol", MaskMode::Hide)]).unwrap();
        save(&disk, PROJECT, "saved", &["x.py"], false).unwrap();
        let after = disk.load();
        prop_assert_eq!(&after.settings, &before.settings);
        prop_assert_eq!(&after.curation.personas, &before.curation.personas.iter().map(|persona| {
            let origin = after.curation.persona(&persona.value.name).unwrap().origin.clone();
            crate::config::SavedEntry { value: persona.value.clone(), origin }
        }).collect::<Vec<_>>());
        let now = disk.text();
        let mut rest = now.lines();
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("ast_mask")) {
            prop_assert!(rest.any(|other| other == line), "`{}` is lost or moved in\n{}", line, now);
        }
        prop_assert!(!crlf || text.is_empty() || now.matches('\n').count() == now.matches("\r\n").count());
        let changed: Vec<_> = after.curation.files.iter().filter(|item| !before.curation.files.contains(item)).collect();
        prop_assert_eq!(changed.len(), 1);
        prop_assert_eq!(changed[0].custom_slices.last().unwrap(), &slice(7, 8));
    }

    #[test]
    fn what_is_added_and_removed_again_leaves_the_file_as_it_was(pieces in pieces()) {
        let text = pieces.join("\n") + "\n";
        let disk = MemoryFiles::new(&format!("{text}[[files]]\npath = \"new\"\ntier = 3\n"));
        let before = disk.text();
        add(&disk, "new", &slice(7, 8)).unwrap();
        remove_slices(&disk, Path::new(PROJECT), "new", &[SliceKey::Lines(7, 8)]).unwrap();
        mask(&disk, "new", &[("a.b", MaskMode::Hide)]).unwrap();
        remove_masks(&disk, Path::new(PROJECT), "new", &[]).unwrap();
        prop_assert_eq!(disk.text(), before);
    }
}
