//! A unit by which systemd keeps a daemon running for its user.

use std::path::Path;

/// Returns a user unit for the daemon of a project. `program` is the absolute path of slop.
pub fn unit(program: &Path, root: &Path) -> String {
    let (program, root) = (quoted(program), quoted(root));
    format!(
        "[Unit]
Description=slop keeps the context of a project fresh
Documentation=man:slop(1)

[Service]
Type=notify
ExecStart={program} --project {root} watch --quiet
Restart=on-failure
RestartSec=2
WatchdogSec=30
TimeoutStopSec=5
MemoryMax=512M
TasksMax=64
NoNewPrivileges=yes
PrivateTmp=no
ProtectSystem=strict
ReadWritePaths={root}
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
"
    )
}

/// Quotes a path as systemd reads it, without what it would take for a specifier or a variable.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", text.replace('%', "%%").replace('$', "$$"))
}
