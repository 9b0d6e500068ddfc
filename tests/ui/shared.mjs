// What the programs of check.sh share: slop in a project, and Chromium.

import { execFileSync } from "node:child_process";
import puppeteer from "puppeteer-core";

const { SLOP, CHROMIUM } = process.env;

/** Returns a function that runs slop in a folder, and returns what it prints. */
export const slopIn = (cwd) => (...words) => execFileSync(SLOP, words, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** Returns an address that opens the page once. */
export const ticket = (slop) => slop("ui", "--print").trim().split("\n")[0];

export const startBrowser = (size) => puppeteer.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"], defaultViewport: size });
