import type { Schemas } from "../api/client";

export type Turn = Schemas["ConversationTurn"];
export type Tool = Schemas["ConversationTool"];
export type Lane = Schemas["ConversationLane"];
export type Message = Schemas["ConversationMessage"];

/** A row of the conversation. `depth` says how far it is indented. */
export type Row =
  | { kind: "message"; key: string; depth: number; turn: Turn; message: Message }
  | {
      kind: "answer";
      key: string;
      depth: number;
      turn: Turn;
      repeated: number;
      echoKey: string;
      isOpen: boolean;
    }
  | { kind: "tool"; key: string; depth: number; turn: Turn; tool: Tool }
  | { kind: "lane"; key: string; depth: number; lane: string; turns: Turn[]; isOpen: boolean };

interface Node {
  turn: Turn;
  groups: Group[];
}

/** What a sub-agent did inside one turn of the agent that called it. */
interface Group {
  lane: string;
  within: string | undefined;
  key: string;
  nodes: Node[];
}

/**
 * The rows of a conversation: sub-agents below the tool or turn that called them. `changed` has the keys
 * of those that somebody folded or unfolded; sub-agents are open at first, repeated messages are not.
 */
export function buildRows(turns: Turn[], lanes: Lane[], changed: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  for (const node of buildTree(turns, lanes)) addNode(rows, node, 0, changed);
  return rows;
}

function buildTree(turns: Turn[], lanes: Lane[]): (Node | Group)[] {
  const roots: (Node | Group)[] = [];
  const rootGroups: Group[] = [];
  const latest = new Map<string, Node>();
  const byTool = new Map<string, Node>();
  const parents = new Map(lanes.map((lane) => [lane.lane, lane.parent]));
  const before = new Map<string, Turn>();
  for (const turn of turns) {
    const node: Node = { turn: markEchoes(turn, before.get(turn.lane)), groups: [] };
    before.set(turn.lane, turn);
    const parent = findParent(turn, parents, latest, byTool);
    if (turn.depth === 0) roots.push(node);
    else {
      const groups = parent?.groups ?? rootGroups;
      const isNew = joinGroup(groups, node, parent);
      if (isNew && !parent) roots.push(groups.at(-1) as Group);
    }
    latest.set(turn.lane, node);
    for (const tool of turn.tools) byTool.set(tool.tool_id, node);
  }
  return roots;
}

function findParent(
  turn: Turn,
  parents: Map<string, string | null>,
  latest: Map<string, Node>,
  byTool: Map<string, Node>,
): Node | undefined {
  const byWithin = turn.within === undefined ? undefined : byTool.get(turn.within);
  return byWithin ?? latest.get(parents.get(turn.lane) ?? "main");
}

function joinGroup(groups: Group[], node: Node, parent: Node | undefined): boolean {
  const { lane, within } = node.turn;
  // A turn whose model call is held does not say yet which tool it is in.
  const known = groups.findLast(
    (group) => group.lane === lane && (within === undefined || group.within === within),
  );
  if (known) {
    known.nodes.push(node);
    return false;
  }
  const key = `lane ${lane} ${parent?.turn.number ?? 0} ${within ?? ""}`;
  groups.push({ lane, within, key, nodes: [node] });
  return true;
}

const echoes = new WeakMap<Turn, Set<Message>>();

/** Note which messages of a turn only repeat what the turn before it shows already. */
function markEchoes(turn: Turn, before: Turn | undefined): Turn {
  const repeated = before ? turn.messages.filter((message) => isEcho(message, before)) : [];
  echoes.set(turn, new Set(repeated));
  return turn;
}

function isEcho({ role, text }: Message, before: Turn): boolean {
  if (/^(tool|function)/.test(role)) return before.tools.length > 0;
  const answer = before.answer?.text;
  if (!role.startsWith("assistant") || answer === undefined || !text.startsWith(answer)) return false;
  const rest = text.slice(answer.length).trimStart();
  return rest === "" || rest.startsWith("→"); // the tools that it asks for, which stand below it
}

function addNode(rows: Row[], node: Node | Group, depth: number, changed: ReadonlySet<string>): void {
  if ("nodes" in node) {
    addGroup(rows, node, depth, changed);
    return;
  }
  const { turn, groups } = node;
  addMessages(rows, turn, depth, changed);
  addAnswer(rows, turn, depth, changed);
  const rest = new Set(groups);
  const nested = new Set<Tool>();
  const addTool = (tool: Tool, at: number) => {
    nested.add(tool);
    addGroupsBefore(rows, rest, tool.seq, depth + 1, changed);
    rows.push({
      kind: "tool",
      key: `tool ${turn.number} ${tool.tool_id} ${tool.seq}`,
      depth: at,
      turn,
      tool,
    });
    for (const group of groups.filter(({ within }) => within === tool.tool_id)) {
      rest.delete(group);
      addGroup(rows, group, at + 1, changed);
    }
    for (const inner of turn.tools)
      if (inner.within === tool.tool_id && !nested.has(inner)) addTool(inner, at + 1);
  };
  const ids = new Set(turn.tools.map((tool) => tool.tool_id));
  for (const tool of turn.tools)
    if (tool.within === undefined || !ids.has(tool.within)) addTool(tool, depth + 1);
  for (const tool of turn.tools) if (!nested.has(tool)) addTool(tool, depth + 1);
  addGroupsBefore(rows, rest, Number.POSITIVE_INFINITY, depth + 1, changed);
}

/** Add what no tool of the turn called, where it happened. */
function addGroupsBefore(
  rows: Row[],
  rest: Set<Group>,
  seq: number,
  depth: number,
  changed: ReadonlySet<string>,
): void {
  for (const group of rest) {
    if ((group.nodes[0] as Node).turn.seq >= seq || (group.within && seq !== Number.POSITIVE_INFINITY))
      continue;
    rest.delete(group);
    addGroup(rows, group, depth, changed);
  }
}

function addGroup(rows: Row[], group: Group, depth: number, changed: ReadonlySet<string>): void {
  const { key, lane, nodes } = group;
  const isOpen = !changed.has(key);
  rows.push({ kind: "lane", key, depth, lane, turns: nodes.map((node) => node.turn), isOpen });
  if (isOpen) for (const node of nodes) addNode(rows, node, depth + 1, changed);
}

function addMessages(rows: Row[], turn: Turn, depth: number, changed: ReadonlySet<string>): void {
  const isOpen = changed.has(keyOfEchoes(turn));
  turn.messages.forEach((message, index) => {
    if (echoes.get(turn)?.has(message) && !isOpen) return;
    rows.push({ kind: "message", key: `message ${turn.number} ${index}`, depth, turn, message });
  });
}

const keyOfEchoes = (turn: Turn): string => `echo ${turn.number}`;

function addAnswer(rows: Row[], turn: Turn, depth: number, changed: ReadonlySet<string>): void {
  if (turn.status === "none") return;
  const echoKey = keyOfEchoes(turn);
  const repeated = echoes.get(turn)?.size ?? 0;
  const isOpen = changed.has(echoKey);
  rows.push({ kind: "answer", key: `answer ${turn.number}`, depth, turn, repeated, echoKey, isOpen });
}
