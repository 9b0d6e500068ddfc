//! The table of all agents: where each stores its settings, and in which form.
//!
//! Each row is based on the pages of the agent's documentation that are linked above it. When an agent changes its
//! settings, only its row has to change.

use serde_json::{Value, json};

use super::entry::{ConfigEntry, EntryKind, FileFormat, InstallScope};
use super::hook_event::HookEvent;
use super::skill::SKILL;
use crate::model::shell_word;

/// An agent that slop can be installed for.
#[derive(Debug)]
pub struct CodingAgent {
    /// The name on the command line.
    pub name: &'static str,
    pub title: &'static str,
    /// Whether `--all` includes it. An earlier version of an agent has to be named.
    pub is_current: bool,
    /// A folder in the user's home that shows that the agent is in use.
    pub(super) sign: UserPath,
    pub(super) server: ServerForm,
    pub(super) servers: AgentFiles,
    pub(super) skills: AgentFiles,
    /// The agent's hooks; `None` if they cannot pass text to the model.
    pub(super) hooks: Option<HookForm>,
}

/// The candidate files for one purpose: the first existing one is used, or else the first.
#[derive(Debug)]
pub(super) struct AgentFiles {
    /// Paths below the project's folder.
    pub(super) project: &'static [&'static str],
    pub(super) user: &'static [UserPath],
}

/// A path in the user's home, or in a folder that an environment variable names instead.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserPath {
    pub(super) variable: &'static str,
    /// The folder below the home folder that is used without the variable.
    pub(super) folder: &'static str,
    pub(super) file: &'static str,
}

/// How an agent's settings declare an MCP server.
#[derive(Debug)]
pub(super) struct ServerForm {
    format: FileFormat,
    /// The keys that lead to the table of servers.
    keys: &'static [&'static str],
    shape: ServerShape,
    /// Whether the agent replaces `${workspaceFolder}`; it may start servers in another folder.
    names_folder: bool,
}

#[derive(Debug, Clone, Copy)]
enum ServerShape {
    /// `command` is a string, `args` a list.
    Command,
    /// The same with `"type": "stdio"`.
    Stdio,
    /// `command` is a list that begins with the program, with `"type": "local"`.
    List,
}

/// How an agent's settings declare hooks, and the output that it expects of them.
#[derive(Debug)]
pub(super) struct HookForm {
    pub(super) files: AgentFiles,
    shape: HookShape,
    pub(super) answer: HookAnswer,
    pub(super) events: &'static [HookBinding],
}

/// The hook of slop that runs at an agent's event.
#[derive(Debug)]
pub(super) struct HookBinding {
    pub(super) event: &'static str,
    /// The agent's matcher for the events; empty for all of them.
    matcher: &'static str,
    pub(super) hook: HookEvent,
}

#[derive(Debug, Clone, Copy)]
enum HookShape {
    /// A list of groups, each with a matcher and a list of commands, and the timeout in the agent's unit.
    Groups { timeout: u32 },
    /// A list of commands, with `"type": "command"`.
    Commands,
    /// A list of commands, in a file with a version.
    Versioned,
}

/// What an agent reads from the standard output of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HookAnswer {
    /// `hookSpecificOutput` with the event's name and `additionalContext`.
    Specific,
    /// `additional_context`.
    Plain,
}

/// The form that most agents share.
const MCP_SERVERS: ServerForm = ServerForm {
    format: FileFormat::Json,
    keys: &["mcpServers"],
    shape: ServerShape::Command,
    names_folder: false,
};

/// The place for skills that agents share (<https://agentskills.io>).
const SHARED_SKILLS: AgentFiles = AgentFiles {
    project: &[".agents/skills/slop/SKILL.md"],
    user: &[home(".agents", "skills/slop/SKILL.md")],
};

/// The folders for the settings of programs, and of VS Code.
const CONFIG: (&str, &str) = ("XDG_CONFIG_HOME", ".config");
const EDITORS: (&str, &str) = match std::env::consts::OS.as_bytes() {
    b"macos" => ("", "Library/Application Support"),
    b"windows" => ("APPDATA", "AppData/Roaming"),
    _ => CONFIG,
};

const fn home(folder: &'static str, file: &'static str) -> UserPath {
    UserPath { variable: "", folder, file }
}

const fn below(place: (&'static str, &'static str), file: &'static str) -> UserPath {
    UserPath { variable: place.0, folder: place.1, file }
}

/// All agents, by name.
pub const AGENTS: &[CodingAgent] = &[
    // https://code.claude.com/docs/en/mcp
    // https://code.claude.com/docs/en/skills
    // https://code.claude.com/docs/en/hooks
    CodingAgent {
        name: "claude-code",
        title: "Claude Code",
        is_current: true,
        sign: below(("CLAUDE_CONFIG_DIR", ".claude"), ""),
        server: MCP_SERVERS,
        servers: AgentFiles {
            project: &[".mcp.json"],
            user: &[below(("CLAUDE_CONFIG_DIR", ""), ".claude.json")],
        },
        skills: AgentFiles {
            project: &[".claude/skills/slop/SKILL.md"],
            user: &[below(("CLAUDE_CONFIG_DIR", ".claude"), "skills/slop/SKILL.md")],
        },
        hooks: Some(HookForm {
            files: AgentFiles {
                project: &[".claude/settings.json"],
                user: &[below(("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")],
            },
            shape: HookShape::Groups { timeout: 10 },
            answer: HookAnswer::Specific,
            events: &[
                HookBinding {
                    event: "SessionStart",
                    matcher: "startup|resume|clear",
                    hook: HookEvent::SessionStart,
                },
                HookBinding { event: "SessionStart", matcher: "compact", hook: HookEvent::Compacted },
                HookBinding {
                    event: "PreToolUse",
                    matcher: "Read|Edit|MultiEdit|Write",
                    hook: HookEvent::Read,
                },
            ],
        }),
    },
    // https://docs.cline.bot/mcp/mcp-overview
    // https://docs.cline.bot/customization/skills
    CodingAgent {
        name: "cline",
        title: "Cline",
        is_current: true,
        sign: home(".cline", ""),
        server: MCP_SERVERS,
        servers: AgentFiles {
            project: &[],
            user: &[
                below(
                    EDITORS,
                    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                ),
                home(".cline", "data/settings/cline_mcp_settings.json"),
            ],
        },
        skills: AgentFiles {
            project: &[".cline/skills/slop/SKILL.md"],
            user: &[home(".cline", "skills/slop/SKILL.md")],
        },
        hooks: None,
    },
    // https://developers.openai.com/codex/mcp
    // https://developers.openai.com/codex/skills
    // https://developers.openai.com/codex/hooks
    CodingAgent {
        name: "codex",
        title: "Codex",
        is_current: true,
        sign: below(("CODEX_HOME", ".codex"), ""),
        server: ServerForm {
            format: FileFormat::Toml,
            keys: &["mcp_servers"],
            shape: ServerShape::Command,
            names_folder: false,
        },
        servers: AgentFiles {
            project: &[".codex/config.toml"],
            user: &[below(("CODEX_HOME", ".codex"), "config.toml")],
        },
        skills: SHARED_SKILLS,
        hooks: Some(HookForm {
            files: AgentFiles {
                project: &[".codex/hooks.json"],
                user: &[below(("CODEX_HOME", ".codex"), "hooks.json")],
            },
            shape: HookShape::Groups { timeout: 10 },
            answer: HookAnswer::Specific,
            // It reads files with shell commands, so slop does not know which files are open.
            events: &[HookBinding {
                event: "SessionStart",
                matcher: "startup|resume|clear|compact",
                hook: HookEvent::SessionStart,
            }],
        }),
    },
    // https://cursor.com/docs/context/mcp
    // https://cursor.com/docs/context/skills
    // https://cursor.com/docs/agent/hooks
    CodingAgent {
        name: "cursor",
        title: "Cursor",
        is_current: true,
        sign: home(".cursor", ""),
        server: ServerForm { names_folder: true, ..MCP_SERVERS },
        servers: AgentFiles { project: &[".cursor/mcp.json"], user: &[home(".cursor", "mcp.json")] },
        skills: AgentFiles {
            project: &[".cursor/skills/slop/SKILL.md"],
            user: &[home(".cursor", "skills/slop/SKILL.md")],
        },
        hooks: Some(HookForm {
            files: AgentFiles { project: &[".cursor/hooks.json"], user: &[home(".cursor", "hooks.json")] },
            shape: HookShape::Versioned,
            answer: HookAnswer::Plain,
            events: &[HookBinding { event: "sessionStart", matcher: "", hook: HookEvent::SessionStart }],
        }),
    },
    // https://geminicli.com/docs/tools/mcp-server
    // https://github.com/google-gemini/gemini-cli/blob/main/docs/cli/skills.md
    // https://geminicli.com/docs/hooks/reference
    CodingAgent {
        name: "gemini",
        title: "Gemini CLI",
        is_current: true,
        sign: home(".gemini", ""),
        server: MCP_SERVERS,
        servers: AgentFiles {
            project: &[".gemini/settings.json"],
            user: &[home(".gemini", "settings.json")],
        },
        skills: AgentFiles {
            project: &[".gemini/skills/slop/SKILL.md"],
            user: &[home(".gemini", "skills/slop/SKILL.md")],
        },
        hooks: Some(HookForm {
            files: AgentFiles {
                project: &[".gemini/settings.json"],
                user: &[home(".gemini", "settings.json")],
            },
            shape: HookShape::Groups { timeout: 10_000 },
            answer: HookAnswer::Specific,
            // Its `BeforeTool` can reject a read, but cannot pass text to the model.
            events: &[HookBinding { event: "SessionStart", matcher: "", hook: HookEvent::SessionStart }],
        }),
    },
    // https://opencode.ai/v2/docs/mcp-servers
    // https://opencode.ai/docs/skills
    CodingAgent {
        name: "opencode",
        title: "OpenCode",
        is_current: true,
        sign: below(CONFIG, "opencode"),
        server: ServerForm {
            format: FileFormat::Json,
            keys: &["mcp", "servers"],
            shape: ServerShape::List,
            names_folder: false,
        },
        servers: OPENCODE_FILES,
        skills: SHARED_SKILLS,
        hooks: None,
    },
    // https://opencode.ai/v1/docs/mcp-servers
    // https://opencode.ai/v1/docs/skills
    CodingAgent {
        name: "opencode-v1",
        title: "OpenCode 1",
        is_current: false,
        sign: below(CONFIG, "opencode"),
        server: ServerForm {
            format: FileFormat::Json,
            keys: &["mcp"],
            shape: ServerShape::List,
            names_folder: false,
        },
        servers: OPENCODE_FILES,
        skills: SHARED_SKILLS,
        hooks: None,
    },
    // https://code.visualstudio.com/docs/agents/reference/mcp-configuration
    // https://code.visualstudio.com/docs/agent-customization/agent-skills
    // https://code.visualstudio.com/docs/agents/reference/hooks-reference
    CodingAgent {
        name: "vscode",
        title: "VS Code with Copilot",
        is_current: true,
        sign: below(EDITORS, "Code"),
        server: ServerForm {
            format: FileFormat::Json,
            keys: &["servers"],
            shape: ServerShape::Stdio,
            names_folder: true,
        },
        servers: AgentFiles { project: &[".vscode/mcp.json"], user: &[below(EDITORS, "Code/User/mcp.json")] },
        skills: SHARED_SKILLS,
        hooks: Some(HookForm {
            files: AgentFiles {
                project: &[".github/hooks/slop.json"],
                user: &[home(".copilot", "hooks/slop.json")],
            },
            shape: HookShape::Commands,
            answer: HookAnswer::Specific,
            events: &[
                HookBinding { event: "SessionStart", matcher: "", hook: HookEvent::SessionStart },
                HookBinding { event: "PreToolUse", matcher: "", hook: HookEvent::Read },
            ],
        }),
    },
    // https://docs.windsurf.com/windsurf/cascade/mcp
    // https://docs.windsurf.com/windsurf/cascade/skills
    CodingAgent {
        name: "windsurf",
        title: "Windsurf",
        is_current: true,
        sign: home(".codeium/windsurf", ""),
        server: MCP_SERVERS,
        servers: AgentFiles { project: &[], user: &[home(".codeium/windsurf", "mcp_config.json")] },
        skills: AgentFiles {
            project: &[".windsurf/skills/slop/SKILL.md"],
            user: &[home(".codeium/windsurf", "skills/slop/SKILL.md")],
        },
        hooks: None,
    },
    // https://zed.dev/docs/ai/mcp
    // https://zed.dev/docs/ai/skills
    CodingAgent {
        name: "zed",
        title: "Zed",
        is_current: true,
        sign: below(CONFIG, "zed"),
        server: ServerForm {
            format: FileFormat::Json,
            keys: &["context_servers"],
            shape: ServerShape::Command,
            names_folder: false,
        },
        servers: AgentFiles { project: &[], user: &[below(CONFIG, "zed/settings.json")] },
        skills: SHARED_SKILLS,
        hooks: None,
    },
];

const OPENCODE_FILES: AgentFiles = AgentFiles {
    project: &["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"],
    user: &[below(CONFIG, "opencode/opencode.json"), below(CONFIG, "opencode/opencode.jsonc")],
};

impl CodingAgent {
    /// Returns the agent with a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        AGENTS.iter().find(|agent| agent.name == name)
    }

    /// Returns whether the agent reads servers from a file for this scope.
    pub const fn has_servers(&self, scope: InstallScope) -> bool {
        match scope {
            InstallScope::Project => !self.servers.project.is_empty(),
            InstallScope::User => !self.servers.user.is_empty(),
        }
    }

    /// Returns the entries for the agent, with their files.
    pub(super) fn entries(&self, program: &str) -> Vec<(&AgentFiles, ConfigEntry)> {
        let skill = ConfigEntry {
            format: FileFormat::Text,
            kind: EntryKind::WholeFile,
            keys: Vec::new(),
            value: Value::from(SKILL),
        };
        let mut entries = vec![(&self.servers, self.server.entry(program)), (&self.skills, skill)];
        if let Some(form) = &self.hooks {
            entries.extend(form.entries(self.name, program).into_iter().map(|entry| (&form.files, entry)));
        }
        entries
    }
}

impl ServerForm {
    fn entry(&self, program: &str) -> ConfigEntry {
        let folder: &[&str] = if self.names_folder { &["--project", "${workspaceFolder}"] } else { &[] };
        let args = [&["mcp"], folder].concat();
        let line = [&[program], args.as_slice()].concat();
        let value = match self.shape {
            ServerShape::Command => json!({"command": program, "args": args}),
            ServerShape::Stdio => json!({"type": "stdio", "command": program, "args": args}),
            ServerShape::List => json!({"type": "local", "command": line}),
        };
        let keys = self.keys.iter().chain(&["slop"]).map(|key| (*key).to_owned()).collect();
        ConfigEntry { format: self.format, kind: EntryKind::Property, keys, value }
    }
}

impl HookForm {
    fn entries(&self, agent: &str, program: &str) -> Vec<ConfigEntry> {
        let entry = |kind, keys: &[&str], value| {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            ConfigEntry { format: FileFormat::Json, kind, keys, value }
        };
        let version = matches!(self.shape, HookShape::Versioned);
        let version = version.then(|| entry(EntryKind::Shared, &["version"], json!(1)));
        let commands = self.events.iter().map(|binding| {
            let command = format!("{} hook {} --agent {agent}", shell_word(program), binding.hook.name());
            let value = match self.shape {
                HookShape::Groups { timeout } => {
                    let hooks = json!([{"type": "command", "command": command, "timeout": timeout}]);
                    match binding.matcher {
                        "" => json!({"hooks": hooks}),
                        matcher => json!({"matcher": matcher, "hooks": hooks}),
                    }
                }
                HookShape::Commands => json!({"type": "command", "command": command, "timeout": 10}),
                HookShape::Versioned => json!({"command": command}),
            };
            entry(EntryKind::Element, &["hooks", binding.event], value)
        });
        version.into_iter().chain(commands).collect()
    }
}
