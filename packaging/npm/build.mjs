// Usage: node packaging/npm/build.mjs ARCHIVE… --out FOLDER
//
// Makes npm's packages from archives of packaging/archive.sh: one for each platform with the program in it, and
// @slop-context/slop, which depends on all of them and runs the one that npm has chosen. For Linux it takes the static
// programs: they run with any C library, so that no package has to name one.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const PLATFORMS = {
  "x86_64-unknown-linux-musl": { os: "linux", cpu: "x64" },
  "aarch64-unknown-linux-musl": { os: "linux", cpu: "arm64" },
  "x86_64-apple-darwin": { os: "darwin", cpu: "x64" },
  "aarch64-apple-darwin": { os: "darwin", cpu: "arm64" },
  "x86_64-pc-windows-msvc": { os: "win32", cpu: "x64" },
};

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const version = readFileSync(join(root, "Cargo.toml"), "utf8").match(/^version = "(.*)"$/m)[1];
const common = {
  version,
  license: "MIT OR Apache-2.0",
  ...(process.env.GITHUB_REPOSITORY && {
    repository: { type: "git", url: `git+https://github.com/${process.env.GITHUB_REPOSITORY}.git` },
  }),
};

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(1);
}

/** Fails unless the archive has the sum that is recorded next to it. */
function checkSum(archive) {
  if (!existsSync(`${archive}.sha256`)) {
    fail(`${archive}.sha256 does not exist`);
  }
  const recorded = readFileSync(`${archive}.sha256`, "utf8").split(" ")[0];
  const found = createHash("sha256").update(readFileSync(archive)).digest("hex");
  if (recorded !== found) {
    fail(`${basename(archive)} has another SHA-256 than ${basename(archive)}.sha256 records`);
  }
}

/** Writes package.json, and has npm pack the folder. */
function pack(folder, manifest, out) {
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2) + "\n");
  const printed = execFileSync("npm", ["pack", "--silent", "--pack-destination", out], { cwd: folder, encoding: "utf8" });
  console.log(join(out, printed.trim().split("\n").at(-1)));
}

function packPlatform(archive, work, out) {
  const match = basename(archive).match(/^slop-(.+?)-((?:x86_64|aarch64)-.+)\.(?:tar\.gz|zip)$/);
  if (!match || !(match[2] in PLATFORMS)) {
    fail(`${basename(archive)} is not an archive for one of ${Object.keys(PLATFORMS).join(", ")}`);
  }
  if (match[1] !== version) {
    fail(`${basename(archive)} has version ${match[1]}, Cargo.toml has ${version}`);
  }
  checkSum(archive);
  const target = match[2];
  const { os, cpu } = PLATFORMS[target];
  const unpacked = join(work, `slop-${version}-${target}`);
  // tar reads zip archives on Windows and macOS, where bsdtar is tar.
  execFileSync("tar", ["-xf", archive, "-C", work]);
  const folder = join(work, `${os}-${cpu}`);
  mkdirSync(folder);
  const program = os === "win32" ? "slop.exe" : "slop";
  for (const file of [program, "LICENSE-MIT", "LICENSE-APACHE"]) {
    copyFileSync(join(unpacked, file), join(folder, file));
  }
  chmodSync(join(folder, program), 0o755);
  const name = `@slop-context/slop-${os}-${cpu}`;
  const text = `The program of @slop-context/slop for ${os} on ${cpu}.\n`;
  writeFileSync(join(folder, "README.md"), `# ${name}\n\n${text}`);
  const files = [program, "LICENSE-*"];
  // Yarn would otherwise keep the program in a zip, from which nothing can be run.
  pack(folder, { name, ...common, description: text.trim(), os: [os], cpu: [cpu], preferUnplugged: true, files }, out);
  return name;
}

const words = process.argv.slice(2);
const at = words.indexOf("--out");
const out = at < 0 ? undefined : words.splice(at, 2)[1];
if (!out || words.length === 0) {
  fail("usage: node packaging/npm/build.mjs ARCHIVE… --out FOLDER");
}
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), "slop-npm-"));
try {
  const names = words.map((archive) => packPlatform(archive, work, out));
  const folder = join(work, "slop");
  mkdirSync(folder);
  cpSync(join(here, "bin"), join(folder, "bin"), { recursive: true });
  for (const file of ["README.md", "LICENSE-MIT", "LICENSE-APACHE"]) {
    copyFileSync(join(root, file), join(folder, file));
  }
  const manifest = {
    name: "@slop-context/slop",
    ...common,
    description: "Prompt-ready context from a project: outlines, skeletons and summaries of its files",
    keywords: ["llm", "context", "outline", "mcp", "cache"],
    bin: { slop: "bin/slop.js" },
    engines: { node: ">=18" },
    files: ["bin", "LICENSE-*"],
    optionalDependencies: Object.fromEntries(names.map((name) => [name, version])),
  };
  pack(folder, manifest, out);
} finally {
  rmSync(work, { recursive: true, force: true });
}
