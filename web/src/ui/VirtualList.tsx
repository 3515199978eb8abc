import { elementScroll, observeElementOffset, useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";

import { fitRows, revealRow } from "./row-space";

interface VirtualListProps {
  count: number;
  label: string;
  renderRow: (index: number) => ReactNode;
  /** The key of a row; its index if left out. */
  keyOf?: (index: number) => string | number;
  rowHeight?: number;
  /** The row that must be in sight. */
  selected?: number | undefined;
  /** Called when the last row comes in sight. */
  onEnd?: () => void;
  onScroll?: (top: number) => void;
}

/** A list of any length, of which only the rows in sight are drawn. */
export function VirtualList(props: VirtualListProps) {
  const { count, label, renderRow, keyOf, rowHeight = 28, selected, onEnd, onScroll } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const scale = useRef(1);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    ...(keyOf ? { getItemKey: keyOf } : {}),
    observeElementOffset: (instance, tell) =>
      observeElementOffset(instance, (offset, isScrolling) => tell(offset * scale.current, isScrolling)),
    scrollToFn: (offset, options, instance) => elementScroll(offset / scale.current, options, instance),
  });
  const sight = rows.scrollRect?.height ?? 0;
  const space = fitRows(count, rowHeight, sight);
  scale.current = space.scale;
  const offset = rows.scrollOffset ?? 0;
  // Rows are drawn where the scroll bar is, as far from it as they are from the offset it stands for.
  const shift = offset / space.scale - offset;
  useEffect(() => {
    const element = scroller.current;
    if (!element || selected === undefined || selected < 0) return;
    const before = element.scrollTop * scale.current;
    const next = revealRow(selected, rowHeight, before, element.clientHeight);
    if (next !== before) element.scrollTop = next / scale.current;
  }, [selected, rowHeight]);
  const shown = rows.getVirtualItems();
  const isAtEnd = shown.at(-1)?.index === count - 1;
  useEffect(() => {
    if (isAtEnd && count) onEnd?.();
  }, [isAtEnd, count, onEnd]);
  return (
    <div
      className="fill"
      ref={scroller}
      tabIndex={0}
      role="group"
      aria-label={label}
      onScroll={(event) => onScroll?.(event.currentTarget.scrollTop)}
    >
      <div className="rows" role="list" style={{ height: space.height }}>
        {shown.map((row) => (
          <div
            role="listitem"
            key={row.key}
            aria-setsize={count}
            aria-posinset={row.index + 1}
            style={{ transform: `translateY(${row.start + shift}px)`, height: rowHeight }}
          >
            {renderRow(row.index)}
          </div>
        ))}
      </div>
    </div>
  );
}
