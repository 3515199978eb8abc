// A server that listens beyond loopback wants a token. It comes in the fragment of the address, which
// browsers never send, and stays in this tab: with no cookie, no other site can act through it.
const KEY = "holdfast.token";

const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given) {
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname + location.search);
}

/** The headers that show the token, if there is one. */
export function authorization(): Record<string, string> {
  const token = sessionStorage.getItem(KEY);
  return token ? { authorization: `Bearer ${token}` } : {};
}
