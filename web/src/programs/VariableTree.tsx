import { createContext, type KeyboardEvent, lazy, Suspense, use, useRef, useState } from "react";

import { formatCount } from "../ui/format";
import { ProblemMessage } from "../ui/parts";
import type { Variable } from "./program-state";
import { moveInTree } from "./tree-keys";
import { useUnfoldedPaths } from "./unfolded-paths";
import { ValueEditor } from "./ValueEditor";
import { useValueActions, type VariableNode } from "./value-actions";
import { memoryOf } from "./value-memory";
import { useItems } from "./variable-items";

const VariableMenu = lazy(() => import("./VariableMenu"));

/** Where the values of a tree are from. */
export interface TreePlace {
  session: string;
  /** The hold at which they are read; empty when it is over, and then nothing can be unfolded. */
  hold: string;
  /** The frame whose names they are. */
  frame: number;
  /** What is unfolded is remembered under this: the function, say. */
  root: string;
  /** What changed is remembered under this: the function, and how deep it is in the stack. */
  memory: string;
}

interface TreeState {
  place: TreePlace;
  unfolded: ReadonlySet<string>;
  setUnfolded: (path: string, isUnfolded: boolean) => void;
  edited: string | null;
  setEdited: (path: string | null) => void;
  save: (node: VariableNode, text: string) => void;
  openMenu: (node: VariableNode, anchor: Element) => void;
}

const State = createContext<TreeState | null>(null);
const useTree = () => use(State) as TreeState;

interface VariableTreeProps {
  label: string;
  place: TreePlace;
  nodes: VariableNode[];
  /** Whether the values are of the last stop, because those of this one are on their way. */
  isOld?: boolean;
}

/** Values that can be unfolded, by mouse, finger or arrow keys. */
export function VariableTree({ label, place, nodes, isOld = false }: VariableTreeProps) {
  const [unfolded, setUnfolded] = useUnfoldedPaths(place.session);
  const [edited, setEdited] = useState<string | null>(null);
  const [menu, setMenu] = useState<{ node: VariableNode; anchor: Element } | null>(null);
  const [hasFocus, setFocus] = useState(false);
  const lastFocus = useRef("");
  const actions = useValueActions(place);
  const save = (node: VariableNode, text: string) => {
    setEdited(null);
    actions.setValue(node, text);
  };
  const state: TreeState = {
    place,
    unfolded,
    setUnfolded,
    edited,
    setEdited,
    save,
    openMenu: (node, anchor) => setMenu({ node, anchor }),
  };
  const focusItem = (tree: HTMLElement) => {
    const items = [...tree.querySelectorAll<HTMLElement>('[role="treeitem"]')];
    (items.find((item) => item.dataset.path === lastFocus.current) ?? items[0])?.focus();
  };
  return (
    <State value={state}>
      <ProblemMessage problem={actions.problem} />
      <div
        className="tree"
        role="tree"
        aria-label={label}
        tabIndex={hasFocus ? -1 : 0}
        onFocus={(event) => {
          setFocus(true);
          const item = event.target.closest<HTMLElement>('[role="treeitem"]');
          if (item) lastFocus.current = item.dataset.path ?? "";
          else focusItem(event.currentTarget);
        }}
        onBlur={(event) => {
          if (!event.currentTarget.contains(event.relatedTarget)) setFocus(false);
        }}
        onKeyDown={moveInTree}
      >
        {nodes.map((node) => (
          <VariableItem key={node.path} node={node} level={1} memory={place.memory} isOld={isOld} />
        ))}
      </div>
      {menu ? (
        <Suspense>
          <VariableMenu {...menu} actions={actions} onEdit={setEdited} onClose={() => setMenu(null)} />
        </Suspense>
      ) : null}
    </State>
  );
}

interface ItemProps {
  node: VariableNode;
  /** How deep it is in the tree, from 1 on. */
  level: number;
  /** Under which the values beside this one are remembered. */
  memory: string;
  isOld: boolean;
}

const isUnfoldable = (variable: Variable) => Boolean(variable.expandable) || Boolean(variable.reference);

function VariableItem({ node, level, memory, isOld }: ItemProps) {
  const { place, unfolded, setUnfolded, edited, setEdited, openMenu, save } = useTree();
  const { variable, path } = node;
  const text = textOf(variable);
  const remembered = `${memory}/${variable.name}`;
  const isChanged =
    !isOld && place.hold !== "" && memoryOf(place.session).note(memory, remembered, place.hold, text);
  const canUnfold = place.hold !== "" && isUnfoldable(variable);
  const isOpen = canUnfold && unfolded.has(path);
  const toggle = () => setUnfolded(path, !isOpen);
  const press = (event: KeyboardEvent<HTMLElement>) => {
    if (event.target !== event.currentTarget) return;
    if (event.key === "ArrowRight" && canUnfold && !isOpen) toggle();
    else if (event.key === "ArrowLeft" && isOpen) toggle();
    else if (event.key === "Enter" && node.isSettable && place.hold) setEdited(path);
    else if (event.key === "ContextMenu" || (event.key === "F10" && event.shiftKey))
      openMenu(node, event.currentTarget);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const type = describeType(variable);
  return (
    <>
      <div
        role="treeitem"
        tabIndex={-1}
        className={isChanged ? "variable changed" : "variable"}
        data-path={path}
        aria-level={level}
        aria-expanded={canUnfold ? isOpen : undefined}
        aria-label={[variable.name, text, type, isChanged && "changed"].filter(Boolean).join(" ")}
        onKeyDown={press}
        onDoubleClick={() => node.isSettable && place.hold && setEdited(path)}
        onContextMenu={(event) => {
          event.preventDefault();
          openMenu(node, event.currentTarget);
        }}
      >
        {canUnfold ? (
          <button
            type="button"
            className="twist"
            tabIndex={-1}
            onClick={toggle}
            aria-label={`${isOpen ? "Fold" : "Unfold"} ${variable.name}`}
          >
            {isOpen ? "▾" : "▸"}
          </button>
        ) : (
          <span className="twist" />
        )}
        <span className="variable-name">{variable.name}</span>{" "}
        {edited === path ? (
          <ValueEditor
            name={variable.name ?? ""}
            text={text}
            onSave={(next) => save(node, next)}
            onCancel={() => setEdited(null)}
          />
        ) : (
          <span className="variable-value cut grow">{text}</span>
        )}{" "}
        <span className="variable-type soft wide-only">{type}</span>{" "}
        <button
          type="button"
          className="more-button quiet"
          tabIndex={-1}
          aria-label={`Actions for ${variable.name}`}
          onClick={(event) => openMenu(node, event.currentTarget)}
        >
          ⋯
        </button>
      </div>
      {isOpen ? <Items node={node} level={level + 1} memory={remembered} isOld={isOld} /> : null}
    </>
  );
}

function Items({ node, level, memory, isOld }: ItemProps) {
  const { place } = useTree();
  const items = useItems(place, node, isOld);
  return (
    <div role="group" className="tree-group">
      {items.texts ? (
        <div role="treeitem" tabIndex={-1} aria-level={level} className="long-text">
          <pre>{items.texts.join("")}</pre>
        </div>
      ) : null}
      {items.nodes.map((item, index) => (
        <VariableItem
          // biome-ignore lint/suspicious/noArrayIndexKey: two keys of a dictionary may look the same
          key={`${index} ${item.path}`}
          node={item}
          level={level}
          memory={memory}
          isOld={items.isOld}
        />
      ))}
      {items.problem ? <ProblemMessage problem={items.problem} /> : null}
      {items.hasMore ? <MoreRow items={items} level={level} /> : null}
    </div>
  );
}

function MoreRow({ items, level }: { items: ReturnType<typeof useItems>; level: number }) {
  const unit = items.texts ? "characters" : "items";
  return (
    <div
      role="treeitem"
      tabIndex={-1}
      aria-level={level}
      className="more-items"
      onClick={items.showMore}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === " ") items.showMore();
      }}
    >
      Show more ({formatCount(items.shown)} of {formatCount(items.total)} {unit})
    </div>
  );
}

/** The text of a value: of a variable, or of an expression. */
export const textOf = (variable: Variable): string =>
  variable.value ?? variable.result ?? variable.repr_error ?? "";

function describeType({ type, length, shape }: Variable): string {
  const size = shape?.length ? shape.join("×") : length === undefined ? "" : formatCount(length);
  return [type, size].filter(Boolean).join(" ");
}
