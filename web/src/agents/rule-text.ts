export type RuleAction = "hold" | "deny" | "allow";

/** A rule for `holdfast.toml` about a tool. A pattern narrows it to some inputs. */
export function writeRule(action: RuleAction, tool: string, pattern = ""): string {
  const lines = ["[[agent.rule]]", `tool = ${JSON.stringify(tool)}`];
  if (pattern) lines.push(`pattern = ${pattern.includes("'") ? JSON.stringify(pattern) : `'${pattern}'`}`);
  return [...lines, `action = "${action}"`].join("\n");
}
