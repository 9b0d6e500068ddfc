// The API of the daemon: questions, and the stream of its events.

/** Returns an error of the API or of the connection: `code` is stable, `hint` suggests a remedy. */
const apiError = ({ code, message, hint = "" }, status) => Object.assign(new Error(message), { code, hint, status });

const NOT_CONNECTED = { code: "not_connected", message: "the daemon does not answer", hint: "run `slop ui` to start it again" };
/** The minimum interval between events: bursts are merged, because the table is not requested more often either. */
const EVERY_MS = 500;
/** Pauses before the stream of events is opened again. */
const PAUSES_MS = [250, 500, 1000, 2000, 4000, 8000];

/** @param {string} token @param {(answer: {command?: string, freshness?: string, reason?: string|null}) => void} [answered] gets what comes with the data of an answer */
export function connect(token, answered = () => {}) {
  const authorization = { authorization: `Bearer ${token}` };

  async function ask(path, options) {
    let answer;
    try {
      answer = await fetch(path, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw apiError(NOT_CONNECTED, 0);
    }
    const json = await answer.json().catch(() => ({}));
    if (answer.ok && json.data !== undefined) {
      answered(json);
      return json.data;
    }
    throw apiError(json.error ?? { code: "bad_answer", message: `status ${answer.status}` }, answer.status);
  }

  return {
    /** @param {string} path */
    get: (path) => ask(path, { headers: authorization }),
    /** @param {string} path @param {object} body @param {AbortSignal} [signal] */
    post: (path, body, signal) =>
      ask(path, {
        method: "POST",
        headers: { ...authorization, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal,
      }),
    /** Reads the events until the session has ended. @param {(event: {kind: string, data: any}) => void} heard @param {(connected: boolean) => void} state */
    async events(heard, state) {
      let last = "";
      for (let failures = 0; ; failures += 1) {
        try {
          const headers = last ? { ...authorization, "last-event-id": last } : authorization;
          const answer = await fetch(`/v1/events?every_ms=${EVERY_MS}`, { headers });
          if (answer.status === 401) return state(false);
          if (!answer.ok || !answer.body) throw new Error("no stream");
          state(true);
          failures = 0;
          last = await readStream(answer.body.getReader(), last, heard);
        } catch {
          // The connection was lost; reconnects below.
        }
        state(false);
        await new Promise((resume) => setTimeout(resume, PAUSES_MS[Math.min(failures, PAUSES_MS.length - 1)]));
      }
    },
  };
}

async function readStream(reader, last, heard) {
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return last;
      rest += decoder.decode(value, { stream: true });
      for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
        const event = parseEvent(rest.slice(0, end));
        rest = rest.slice(end + 2);
        last = event.id || last;
        if (event.kind) heard(event);
      }
    }
  } catch {
    return last;
  }
}

/** Parses one server-sent event. @param {string} text */
export function parseEvent(text) {
  const event = { kind: "", id: "", data: null };
  const data = [];
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    const [field, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (field === "event") event.kind = value;
    else if (field === "id") event.id = value;
    else if (field === "data") data.push(value);
  }
  if (data.length) event.data = JSON.parse(data.join("\n"));
  return event;
}
