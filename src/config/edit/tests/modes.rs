//! Items whose mode is set or cleared, and items that are removed.

use super::*;

fn set_mode(disk: &MemoryFiles, paths: &[&str], mode: ItemMode) -> Result<(), Error> {
    let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    set_item_mode(disk, Path::new(PROJECT), &paths, mode).map(drop)
}

fn clear_mode(disk: &MemoryFiles, path: &str) -> Result<(), Error> {
    clear_item_mode(disk, Path::new(PROJECT), &[path.to_owned()]).map(drop)
}

#[test]
fn a_mode_replaces_the_others_and_comments_stay() {
    check(
        "# Head.\n[[files]]\npath = 'a.py' # here\n# Because of x.\nforce_full = true # for now\nx.y = 1\ntier = 3\n\n[files.ast_mask]\nf = 'sig'\n\n# Last.\n",
        |disk| set_mode(disk, &["./a.py", "lib/**"], ItemMode::View(ViewMode::Skeleton)),
        &expect![[r#"
            # Head.
            [[files]]
            path = 'a.py' # here
            x.y = 1
            tier = 3
            # Because of x.
            # for now
            view_mode = "skeleton"

            [files.ast_mask]
            f = 'sig'

            # Last.

            [[files]]
            path = "lib/**"
            view_mode = "skeleton"
        "#]],
    );
    check(
        "files = [{ path = 'a.py', ast_signatures = true, tier = 3 }] # all\n",
        |disk| set_mode(disk, &["a.py", "b.py"], ItemMode::ForceFull),
        &expect![[r#"
            files = [{ path = 'a.py', tier = 3, force_full = true }, { path = "b.py", force_full = true }] # all
        "#]],
    );
}

#[test]
fn a_cleared_item_stays_only_if_it_has_other_keys() {
    let before = "# Head.\n[[files]]\npath = 'a.py'\nauto_aggregate = false\n\n# About b.\n[[files]]\npath = 'b.py'\n# Why.\nast_definitions = true\nselected = true\n";
    check(
        before,
        |disk| clear_mode(disk, "a.py").and_then(|()| clear_mode(disk, "b.py")),
        &expect![[r"

        # About b.
        [[files]]
        # Why.
        path = 'b.py'
        selected = true
    "]],
    );
    let disk = MemoryFiles::new(before);
    check_error(&disk, clear_mode(&disk, "c.py"), "no item `c.py` under [[files]] in slop.toml");
    let twice = ["a.py", "./a.py"].map(str::to_owned);
    let changes = clear_item_mode(&disk, Path::new(PROJECT), &twice).unwrap();
    assert_eq!(changes, [ItemChange::Removed; 2], "a path that is given twice is cleared once");
}

#[test]
fn an_item_with_a_mask_or_slices_is_removed_only_on_purpose() {
    let disk = MemoryFiles::new(
        "[[files]]\npath = 'a.py'\nast_mask = { f = 'sig' }\n\n# B.\n\n[[files]]\npath = 'b.py'\n# End.\n",
    );
    let remove = |paths: &[&str], may_lose| {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        remove_items(&disk, Path::new(PROJECT), &paths, may_lose)
    };
    check_error(&disk, remove(&["b.py", "a.py"], false).map(drop), "curated items would be lost: a.py");
    let second = MemoryFiles::new("files = [{ path = 'a.py' }, { path = './a.py', custom_slices = [] }]\n");
    let removed = remove_items(&second, Path::new(PROJECT), &["a.py".to_owned()], false);
    check_error(&second, removed.map(drop), "curated items would be lost: a.py");
    check_error(
        &disk,
        remove(&["b.py", "d.py"], true).map(drop),
        "no item `d.py` under [[files]] in slop.toml",
    );
    assert_eq!(remove(&["a.py", "./b.py", "b.py"], true).unwrap(), 2);
    assert_eq!(disk.text(), "\n# B.\n# End.\n");
}
