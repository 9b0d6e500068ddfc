// The token of this session: from the ticket in the URL, from this tab, or from another tab.

const KEY = "token";
const channel = new BroadcastChannel("slop");
/** How long another tab may take to answer. */
const OTHER_TAB_MS = 300;

/**
 * Returns the token, or null if there is none and `slop ui` has to be run.
 * @returns {Promise<string|null>}
 */
export async function token() {
  const ticket = location.hash.slice(1);
  if (/^[0-9a-f]{64}$/.test(ticket)) {
    // Done first, so that the ticket appears in no history and no screenshot.
    history.replaceState(null, "", location.pathname);
    const answer = await fetch("/ui/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ticket }),
    });
    if (answer.ok) {
      const { token: made } = (await answer.json()).data;
      sessionStorage.setItem(KEY, made);
      // For other tabs whose daemon has ended.
      channel.postMessage({ token: made });
    } else sessionStorage.removeItem(KEY);
  }
  const known = sessionStorage.getItem(KEY) ?? (await ofOtherTab());
  if (known) {
    sessionStorage.setItem(KEY, known);
    share();
  }
  return known;
}

/** Forgets a token that is no longer accepted. The page resumes once another tab has a new one. */
export function forget() {
  const ended = sessionStorage.getItem(KEY);
  if (!ended) return;
  sessionStorage.removeItem(KEY);
  channel.onmessage = ({ data }) => {
    if (typeof data?.token !== "string" || data.token === ended) return;
    sessionStorage.setItem(KEY, data.token);
    location.reload();
  };
  channel.postMessage({ asks: true });
}

function ofOtherTab() {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), OTHER_TAB_MS);
    channel.onmessage = ({ data }) => {
      if (typeof data?.token !== "string") return;
      clearTimeout(timer);
      resolve(data.token);
    };
    channel.postMessage({ asks: true });
  });
}

function share() {
  channel.onmessage = ({ data }) => {
    const known = sessionStorage.getItem(KEY);
    if (data?.asks && known) channel.postMessage({ token: known });
  };
}
