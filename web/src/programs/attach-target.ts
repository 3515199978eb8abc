/** What one typed: `4321` is a process, `host:5678` a place. It throws if it is neither. */
export function parseTarget(text: string): { pid: number } | { host: string; port: number } {
  const found = /^\s*(?:(\d+)|([^\s:]*):(\d+))\s*$/.exec(text);
  if (!found) throw new Error("Give a process id, as 4321, or a host and a port, as localhost:5678.");
  if (found[1]) return { pid: Number(found[1]) };
  return { host: found[2] || "127.0.0.1", port: Number(found[3]) };
}
