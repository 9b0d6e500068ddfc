import { holds, same, test } from "./check.js";
import { actionOf, KEYS } from "./keys.js";

const press = (key, state = {}) => ({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...state });
const free = { typing: false, letters: true };

test("a key means its action, and no key means two", () => {
  for (const [key, action] of KEYS) {
    const [, modifier, name] = /^(?:(Ctrl|Shift)\+)?(.*)$/s.exec(key);
    same(actionOf(press(name, { ctrlKey: modifier === "Ctrl", shiftKey: modifier === "Shift" }), free), action);
  }
  same(new Set(KEYS.map(([key]) => key)).size, KEYS.length);
});

test("nothing while a text is typed, but for Escape and the palette", () => {
  const typing = { typing: true, letters: true };
  same(KEYS.filter(([key]) => actionOf(press(key.replace("Ctrl+", ""), { ctrlKey: key.startsWith("Ctrl+") }), typing)).map(([key]) => key), ["Ctrl+k", "Escape"]);
});

test("single letters can be off; the browser's own keys are never taken", () => {
  const off = { typing: false, letters: false };
  same([actionOf(press("f"), off) ?? null, actionOf(press("ArrowDown"), off)], [null, "down"]);
  for (const key of ["f", "r", "t", "w", "c", "v", "l"]) holds(!actionOf(press(key, { ctrlKey: true }), free), `Ctrl ${key} is the browser's`);
  holds(!actionOf(press("d", { altKey: true }), free), "Alt d is the browser's");
});
