import { useRef } from "react";
import { Menu, MenuItem, Popover } from "react-aria-components";

import type { ValueActions, VariableNode } from "./value-actions";

interface VariableMenuProps {
  node: VariableNode;
  anchor: Element;
  actions: ValueActions;
  onEdit: (path: string) => void;
  onClose: () => void;
}

/** What one can do with a value. */
export default function VariableMenu({ node, anchor, actions, onEdit, onClose }: VariableMenuProps) {
  const trigger = useRef(anchor);
  trigger.current = anchor;
  return (
    <Popover triggerRef={trigger} isOpen onOpenChange={onClose} placement="bottom end" className="popup">
      <Menu
        className="popup-list"
        aria-label={`Actions for ${node.variable.name}`}
        autoFocus="first"
        onClose={onClose}
      >
        {node.isSettable ? <MenuItem onAction={() => onEdit(node.path)}>Edit value</MenuItem> : null}
        <MenuItem onAction={() => actions.copy(node)}>Copy value</MenuItem>
        <MenuItem onAction={() => actions.watch(node)}>Watch</MenuItem>
        <MenuItem onAction={() => actions.breakOn(node, "change")}>Break when it changes</MenuItem>
        <MenuItem onAction={() => actions.breakOn(node, "write")}>Break at every write</MenuItem>
      </Menu>
    </Popover>
  );
}
