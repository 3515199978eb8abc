import { useQueries } from "@tanstack/react-query";
import { useRef, useState } from "react";

import type { Variable } from "./program-state";
import { itemsQuery } from "./queries";
import { readingProblem, useCanRead } from "./stop-reading";
import type { TreePlace } from "./VariableTree";
import { makeNode, type VariableNode } from "./value-actions";

const ITEMS = 100;
const CHARACTERS = 10_000;

/** What a value holds, page by page; of a long string, its text. */
export interface Items {
  nodes: VariableNode[];
  texts: string[] | null;
  shown: number;
  total: number;
  hasMore: boolean;
  showMore: () => void;
  /** Whether these are of the last stop, because those of this one are on their way. */
  isOld: boolean;
  problem: unknown;
}

/** Read what a value holds. After a step the old items stay until the new ones are there. */
export function useItems({ session, hold, frame }: TreePlace, node: VariableNode, isOld: boolean): Items {
  const [pages, setPages] = useState(1);
  const canRead = useCanRead();
  const isText = !node.variable.expandable;
  const size = isText ? CHARACTERS : ITEMS;
  const reference = node.variable.reference ?? 0;
  const answers = useQueries({
    queries: Array.from({ length: pages }, (_, page) => ({
      ...itemsQuery(session, hold, reference, page * size, size),
      enabled: canRead && !isOld && reference > 0,
    })),
  });
  const last = useRef<Variable[]>([]);
  const isReady = !isOld && answers.every((answer) => answer.data);
  const items = isReady ? answers.flatMap((answer) => answer.data?.items ?? []) : last.current;
  if (isReady) last.current = items;
  const final = answers.at(-1)?.data;
  const total = isText ? (node.variable.length ?? 0) : (final?.total ?? items.length);
  return {
    nodes: isText ? [] : items.map((item) => makeNode(item, node.path, { frame, reference })),
    texts: isText ? items.map((item) => item.value ?? "") : null,
    shown: isText ? Math.min(total, pages * CHARACTERS) : items.length,
    total,
    hasMore: isText ? total > pages * CHARACTERS : Boolean(final?.has_more),
    showMore: () => setPages(pages + 1),
    isOld: !isReady,
    problem: readingProblem(answers.find((answer) => answer.error)?.error),
  };
}
