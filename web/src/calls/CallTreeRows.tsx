import { useQueries } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";

import { useAddressValue } from "../ui/address";
import { formatDuration } from "../ui/format";
import { Status } from "../ui/parts";
import { CallTitle, HoldLink } from "./CallTitle";
import { treeQuery } from "./call-queries";
import { type Call, formatOutcome } from "./call-texts";
import { chooseTreeMove, type LoadedTree, listTreeRows, type TreeRow } from "./tree-rows";

interface TreeRowsProps {
  top: Call[];
  selected: string;
  /** What it means to open a call; left out, its own page is shown. */
  onSelect?: (id: string) => void;
  onScroll?: (top: number) => void;
  onEnd?: () => void;
}

const ROW = 30;

/** A tree of which only the rows in sight are drawn. Arrows walk it, Enter opens a call. */
export function CallTreeRows({ top, selected, onSelect, onScroll, onEnd }: TreeRowsProps) {
  const navigate = useNavigate();
  const openCall = onSelect ?? ((id: string) => void navigate({ to: `/calls/${id}` as string }));
  const prefix = useId(); // a tree may stand beside another one that has the same calls
  const { rows, toggle } = useTreeRows(top);
  const [markedId, setMarked] = useState("");
  const marked = rows.findIndex((row) => row.call.call_id === (markedId || selected) && !row.note);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const mark = (at: number) => {
    const row = rows[Math.min(Math.max(at, 0), rows.length - 1)];
    if (!row) return;
    setMarked(row.call.call_id);
    virtual.scrollToIndex(rows.indexOf(row), { align: "auto" });
  };
  const press = (event: KeyboardEvent) => {
    const run = chooseTreeMove(event.key, rows, marked, { mark, toggle, open: openCall });
    if (!run) return;
    event.preventDefault();
    run();
  };
  const shown = virtual.getVirtualItems();
  const isAtEnd = shown.at(-1)?.index === rows.length - 1;
  useEffect(() => {
    if (isAtEnd) onEnd?.();
  }, [isAtEnd, onEnd]);
  return (
    <div
      ref={scroller}
      className="fill call-tree"
      role="tree"
      aria-label="Calls by caller"
      tabIndex={0}
      aria-activedescendant={marked >= 0 ? `${prefix}${rows[marked]?.call.call_id}` : undefined}
      onKeyDown={press}
      onScroll={(event) => onScroll?.(event.currentTarget.scrollTop)}
    >
      <div className="rows" role="none" style={{ height: virtual.getTotalSize() }}>
        {shown.map((item) => {
          const row = rows[item.index];
          return row ? (
            <TreeItem
              key={row.note ? `${row.call.call_id} ${row.note}` : row.call.call_id}
              id={`${prefix}${row.call.call_id}`}
              row={row}
              start={item.start}
              isMarked={item.index === marked}
              isSelected={row.call.call_id === selected}
              onToggle={() => toggle(row.call.call_id)}
              onSelect={() => {
                setMarked(row.call.call_id);
                openCall(row.call.call_id);
              }}
            />
          ) : null;
        })}
      </div>
    </div>
  );
}

/** The rows in sight. What is unfolded is in the address; trees are read when their top is unfolded. */
function useTreeRows(top: Call[]): { rows: TreeRow[]; toggle: (id: string) => void } {
  const [opened, setOpened] = useAddressValue("open");
  const open = useMemo(() => new Set(opened.split("~").filter(Boolean)), [opened]);
  const wanted = top.filter((call) => open.has(call.call_id));
  const found = useQueries({ queries: wanted.map((call) => treeQuery(call.call_id)) });
  const trees = new Map<string, LoadedTree>();
  for (const [at, call] of wanted.entries()) {
    const tree = found[at]?.data;
    if (tree) trees.set(call.call_id, tree);
  }
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpened([...next].join("~"));
  };
  return { rows: listTreeRows(top, open, trees), toggle };
}

interface TreeItemProps {
  id: string;
  row: TreeRow;
  start: number;
  isMarked: boolean;
  isSelected: boolean;
  onToggle: () => void;
  onSelect: () => void;
}

function TreeItem({ id, row, start, isMarked, isSelected, onToggle, onSelect }: TreeItemProps) {
  const style = {
    transform: `translateY(${start}px)`,
    height: ROW,
    paddingLeft: `${row.level * 1.1 - 0.5}rem`,
  };
  if (row.note) {
    return (
      <div
        role="treeitem"
        aria-level={row.level}
        aria-selected={false}
        tabIndex={-1}
        className="soft"
        style={style}
      >
        {row.note === "loading"
          ? "reading…"
          : "There are more calls within it: open one to see its own tree."}
      </div>
    );
  }
  const { call } = row;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      aria-level={row.level}
      aria-selected={isSelected}
      aria-expanded={row.hasChildren ? row.isOpen : undefined}
      className={isMarked ? "tree-item marked" : "tree-item"}
      style={style}
      onClick={onSelect}
    >
      <span
        className={row.hasChildren ? "fold" : "fold none"}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          onToggle();
        }}
      >
        {row.hasChildren ? (row.isOpen ? "▾" : "▸") : ""}
      </span>
      <CallTitle call={call} />
      <span className={`call-outcome mono cut ${call.status === "exception" ? "bad" : "soft"}`}>
        {formatOutcome(call)}
      </span>
      <span className="call-duration mono soft">{formatDuration(call.duration_ms)}</span>
      <span className="call-status">
        {call.hold_id ? <HoldLink call={call} /> : <Status of={call.status} />}
      </span>
    </div>
  );
}
