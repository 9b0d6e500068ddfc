// Formats numbers, times and paths for people. Does not use the DOM.

/** Returns a number with commas. `Intl` would take 40 ms to start. @param {number} number */
export const count = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ",");

/** Returns a number of bytes. @param {number} bytes */
export function bytes(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = -1;
  while (1000 <= value && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Returns microseconds in a unit that fits. @param {number} us */
export function micros(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${(us / 1000).toFixed(us < 1e4 ? 2 : 1)} ms`;
  return `${(us / 1e6).toFixed(2)} s`;
}

/** Returns a duration. @param {number} ms */
export function duration(ms) {
  const minutes = Math.floor(ms / 60000);
  if (minutes < 1) return `${Math.floor(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** Returns a time of day. @param {number} ms */
export const clock = (ms) => new Date(ms).toTimeString().slice(0, 8);

/**
 * Returns a text with escapes for characters that could hide or reorder others.
 * @param {string} text @param {boolean} [hasLines] whether line feeds and tabs stay
 */
export function visible(text, hasLines = false) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (hasLines && (character === "\n" || character === "\t")) return character;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** Returns a name of the API as words. @param {string} name */
export const spaced = (name) => name.replaceAll("_", " ");

/** Returns "1 file" or "2 files". @param {number} number @param {string} noun */
export const plural = (number, noun) => `${count(number)} ${number === 1 ? noun : noun.endsWith("y") ? `${noun.slice(0, -1)}ies` : `${noun}s`}`;
