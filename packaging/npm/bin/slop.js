#!/usr/bin/env node
// Runs the program of the package for this platform. Nothing is downloaded and nothing is done at installation.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

const platform = `${process.platform}-${process.arch}`;
const name = `@slop-context/slop-${platform}`;

function findProgram() {
  try {
    return require.resolve(`${name}/slop${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    console.error(`error: the package ${name} is not installed, which has the program for ${platform}`);
    console.error(
      "hint: install again without --omit=optional; if there is no such package, see docs/install.md for other ways"
    );
    process.exit(3);
  }
}

const program = findProgram();
const words = process.argv.slice(2);
// Where node can replace itself by the program, everything passes through as if node had never been there.
if (process.platform !== "win32" && typeof process.execve === "function") {
  process.execve(program, [program, ...words], process.env);
}

const child = spawn(program, words, { stdio: "inherit" });
// A terminal sends its interrupt to the program itself, and slop ends at once at a second one.
const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
process.on("SIGINT", () => hasTerminal || child.kill("SIGINT"));
process.on("SIGTERM", () => child.kill("SIGTERM"));
process.on("SIGHUP", () => child.kill("SIGHUP"));
child.on("error", (error) => {
  console.error(`error: ${program} cannot be run: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  // Ends by the same signal, so that a shell sees what it would see without node.
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 1000);
});
