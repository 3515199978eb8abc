import type { KeyboardEvent } from "react";

/** Move the focus through a tree: up and down what is shown, left to the parent, right to the first part. */
export function moveInTree(event: KeyboardEvent<HTMLElement>): void {
  const item = event.target as HTMLElement;
  if (item.getAttribute("role") !== "treeitem") return;
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const next = findNext(event.key, item, items);
  if (next === null) return;
  event.preventDefault();
  event.stopPropagation();
  next?.focus();
}

const levelOf = (item: HTMLElement | undefined) => Number(item?.ariaLevel ?? 0);

/** The item to go to; undefined if there is none, and null if the key means something else. */
function findNext(key: string, item: HTMLElement, items: HTMLElement[]): HTMLElement | null | undefined {
  const at = items.indexOf(item);
  const after = items[at + 1];
  if (key === "ArrowDown") return after;
  if (key === "ArrowUp") return items[at - 1];
  if (key === "Home") return items[0];
  if (key === "End") return items.at(-1);
  if (key === "ArrowLeft") return items.slice(0, at).findLast((each) => levelOf(each) < levelOf(item));
  if (key === "ArrowRight") return levelOf(after) > levelOf(item) ? after : undefined;
  return null;
}
