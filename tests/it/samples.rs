//! Sample projects and files that several test modules use.

use super::sandbox::Sandbox;

pub(crate) const ENGINE: &str = "\"\"\"Runs things.\"\"\"\nimport os\n\n\nclass Engine:\n    \"\"\"An engine.\"\"\"\n\n    def run(self, fuel: int) -> int:\n        burnt = fuel * 2\n        return burnt\n";

/// The smallest prefix that is recognized as a PNG image.
pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// The number of files in [`large_project`].
pub(crate) const LARGE_PROJECT_FILES: u64 = 100;

/// Returns a small project with files in three languages.
pub(crate) fn sample_project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("README.md", "# Things\n\nA project of things.\n");
    sandbox.write("src/engine.py", ENGINE);
    sandbox.write("src/util/text.py", "def shorten(text):\n    cut = text[:10]\n    return cut\n");
    sandbox.write("src/fast.c", "/* Fast. */\nint twice(int x)\n{\n    return x + x;\n}\n");
    sandbox.write("tests/test_engine.py", "def test_run():\n    checked = True\n    assert checked\n");
    sandbox.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    sandbox.commit_all("first");
    sandbox
}

/// Returns a project that takes a few tenths of a second to index.
pub(crate) fn large_project() -> Sandbox {
    let sandbox = Sandbox::repo();
    for file in 0..LARGE_PROJECT_FILES {
        let function =
            |n| format!("def f{file}_{n}(x):\n    \"\"\"Does {n}.\"\"\"\n    return x + {n}\n\n\n");
        sandbox.write(format!("src/m{file}.py"), (0..50).map(function).collect::<String>());
    }
    sandbox.commit_all("first");
    sandbox
}

/// Returns a Python class that is long enough to be summarized by a model.
pub(crate) fn module_text(name: &str) -> String {
    let method = |number| format!("    def step_{number}(self, value):\n        return value + {number}\n\n");
    let methods: String = (0..12).map(method).collect();
    format!("\"\"\"Does {name}.\"\"\"\n\n\nclass {name}:\n{methods}")
}

/// Returns a project with two modules in one folder.
pub(crate) fn two_modules() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("src/one.py", module_text("One"));
    sandbox.write("src/two.py", module_text("Two"));
    sandbox.commit_all("all");
    sandbox
}
