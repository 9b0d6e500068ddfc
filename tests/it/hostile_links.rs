//! Projects with links to the outside, and settings that name other folders: nothing is written or read there.

use std::fs;
use std::os::unix::fs::symlink;

use super::sandbox::Sandbox;

/// A project with these names as links to a folder or a file outside of it.
fn project_with_links(links: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    fs::create_dir(sandbox.outside("elsewhere")).unwrap();
    fs::write(sandbox.outside("other.toml"), "[project]\nname = \"of another\"\n").unwrap();
    for (name, target) in links {
        fs::create_dir_all(sandbox.path(name).parent().unwrap()).unwrap();
        symlink(sandbox.outside(target), sandbox.path(name)).unwrap();
    }
    sandbox
}

fn names_elsewhere(sandbox: &Sandbox) -> usize {
    fs::read_dir(sandbox.outside("elsewhere")).unwrap().count()
}

#[test]
fn nothing_is_written_through_a_link_of_a_project() {
    let sandbox = project_with_links(&[(".slop_cache", "elsewhere"), ("slop_out", "elsewhere")]);
    let refused = sandbox.slop(&["aggregate"]);
    refused.assert_fails(
        1,
        &["project.output_dir leads through slop_out, which is not a folder but a link", "-o"],
    );
    assert!(refused.err.contains("cache folder .slop_cache cannot be used"), "{}", refused.err);
    assert!(refused.err.contains(".slop_cache is a link"), "{}", refused.err);
    assert_eq!(sandbox.slop(&["daemon", "start"]).code, 3);
    assert_eq!(names_elsewhere(&sandbox), 0);
    // A folder that is named on the command line is the user's choice, and so is a trusted project.
    assert_eq!(sandbox.slop(&["aggregate", "-o", "slop_out/named.md"]).code, 0);
    assert_eq!(names_elsewhere(&sandbox), 1);
    sandbox.write_user_settings(&format!("trust.projects = ['{}']\n", sandbox.root().display()));
    assert_eq!(sandbox.slop(&["aggregate"]).code, 0);
    assert!(sandbox.outside("elsewhere/project_001.md").exists());

    let sandbox = project_with_links(&[("deep/er", "elsewhere")]);
    sandbox.write("slop.toml", "project.output_dir = 'deep/er/out'\n");
    sandbox.slop(&["aggregate"]).assert_fails(1, &["project.output_dir leads through deep/er"]);
    sandbox.write("slop.toml", "project.output_dir = '../elsewhere'\n");
    sandbox.slop(&["aggregate"]).assert_fails(1, &["slop.toml:1: `project.output_dir` is \"../elsewhere\""]);
    assert_eq!(names_elsewhere(&sandbox), 0);
}

#[test]
fn settings_are_neither_read_nor_written_through_a_link_to_elsewhere() {
    let sandbox = project_with_links(&[("slop.toml", "other.toml")]);
    let before = fs::read(sandbox.outside("other.toml")).unwrap();
    for arguments in [&["aggregate", "--stdout"][..], &["item", "set", "a.py", "--force-full"], &["init"]] {
        let ran = sandbox.slop(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{arguments:?}: {ran:?}");
        assert!(arguments == ["init"] || ran.err.contains("outside of the project"), "{}", ran.err);
        assert_eq!(fs::read(sandbox.outside("other.toml")).unwrap(), before, "{arguments:?}");
    }
    sandbox.write_user_settings(&format!("trust.projects = ['{}']\n", sandbox.root().display()));
    assert!(sandbox.stdout_of(&["config", "show"]).contains("of another"));
    // Within the project, a link is the project's own business.
    let sandbox = project_with_links(&[]);
    sandbox.write("settings/slop.toml", "[project]\nname = \"own\"\n");
    symlink("settings/slop.toml", sandbox.path("slop.toml")).unwrap();
    assert!(sandbox.stdout_of(&["config", "show"]).contains("\"own\""));
}
