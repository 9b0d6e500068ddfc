//! A unit by which systemd keeps a daemon running for its user.

use std::path::Path;

/// Returns a user unit for the daemon of a project. `program` is the absolute path of slop.
pub fn unit(program: &Path, root: &Path, cache: &Path) -> String {
    let (program, root, cache) = (quoted(program), escaped(root), escaped(cache));
    format!(
        "[Unit]
Description=slop keeps the context of {root} fresh
Documentation=man:slop(1)

[Service]
Type=notify
ExecStart={program} --project {quoted_root} watch --quiet
Restart=on-failure
RestartSec=2
WatchdogSec=30
TimeoutStopSec=5
MemoryMax=512M
TasksMax=64
NoNewPrivileges=yes
PrivateTmp=no
ProtectSystem=strict
ReadWritePaths=-{cache} {root}
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
UMask=0077

[Install]
WantedBy=default.target
",
        quoted_root = quoted_text(&root),
    )
}

/// Escapes what systemd would take for a specifier.
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%%")
}

fn quoted(path: &Path) -> String {
    quoted_text(&escaped(path))
}

/// Quotes an argument of a command line, as systemd reads it.
fn quoted_text(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "$$");
    format!("\"{escaped}\"")
}
