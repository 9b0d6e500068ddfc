//! Writes the unit with which systemd runs a daemon for a user.

use std::path::Path;

use super::instance::DaemonPaths;

/// The unit for any project, which packages install. Its instance is the project's folder, escaped.
// `PrivateTmp=no`, because the socket of a project with a long path may be in /tmp, where clients look for it.
const TEMPLATE: &str = include_str!("../../systemd/slop@.service");

/// Returns a user unit for the daemon of a project. `program` is the absolute path of slop.
pub fn systemd_unit(program: &Path, paths: &DaemonPaths) -> String {
    let root = quote_for_systemd(&paths.root);
    // systemd expands variables only in the program's arguments.
    let (program, argument) = (quote_for_systemd(program), root.replace('$', "$$"));
    let writable = [Some(root), external_socket_folder(paths).map(quote_for_systemd)];
    let writable = writable.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let lines = TEMPLATE.lines().map(|line| match line.split_once('=') {
        Some(("Description", _)) => "Description=slop keeps the context of a project fresh\n".to_owned(),
        Some(("ExecStart", _)) => format!("ExecStart={program} --project {argument} watch --quiet\n"),
        Some(("ReadWritePaths", _)) => format!("ReadWritePaths={writable}\n"),
        Some(_) | None => format!("{line}\n"),
    });
    lines.collect()
}

/// Returns the parent of the socket's folder if that is not in the project. systemd requires a folder that exists
/// before the daemon starts, which the socket's own folder may not.
fn external_socket_folder(paths: &DaemonPaths) -> Option<&Path> {
    let folder = paths.socket.parent()?;
    if folder.starts_with(&paths.root) { None } else { folder.parent() }
}

/// Quotes a path for systemd, escaping what it would interpret as an escape or a specifier.
fn quote_for_systemd(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{}\"", text.replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RelPath;

    fn lines(root: &str) -> (String, String) {
        let paths = DaemonPaths::for_project(
            Path::new(root),
            &RelPath::new(b".slop_cache").unwrap(),
            Path::new("/run/user/7"),
        );
        let text = systemd_unit(Path::new("/opt/$s/slop"), &paths);
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        (line("ExecStart="), line("ReadWritePaths="))
    }

    #[test]
    fn a_path_is_escaped_for_its_kind_of_line() {
        let (start, writable) = lines("/a $b/%c\"d");
        assert_eq!(start, r#"ExecStart="/opt/$s/slop" --project "/a $$b/%%c\"d" watch --quiet"#);
        assert_eq!(writable, r#"ReadWritePaths="/a $b/%%c\"d""#);
    }

    #[test]
    fn the_folder_of_an_external_socket_is_writable() {
        let root = format!("/{}", "long/".repeat(60));
        assert_eq!(lines(&root).1, format!(r#"ReadWritePaths="{root}" "/run/user/7""#));
    }
}
