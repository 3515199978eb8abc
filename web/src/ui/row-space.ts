/** No browser lays out much more than this (Firefox 17.9 million pixels, others 33.5 million). */
const MOST_PIXELS = 16_000_000;

/** How tall a list is laid out, and how many pixels of its rows one pixel of the scroll bar stands for. */
export interface RowSpace {
  height: number;
  scale: number;
}

/** The space for rows. Where they are taller than a browser can lay out, scrolling goes so much faster. */
export function fitRows(count: number, rowHeight: number, sight: number): RowSpace {
  const all = count * rowHeight;
  if (all <= MOST_PIXELS) return { height: all, scale: 1 };
  return { height: MOST_PIXELS, scale: (all - sight) / (MOST_PIXELS - sight) };
}

/** Where to scroll so that a row is in sight, as little as possible. */
export function revealRow(index: number, rowHeight: number, offset: number, sight: number): number {
  const top = index * rowHeight;
  return Math.min(top, Math.max(offset, top + rowHeight - sight));
}
