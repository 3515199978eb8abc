import { useState } from "react";
import {
  Autocomplete,
  Button,
  Dialog,
  Header,
  Heading,
  Input,
  Menu,
  MenuItem,
  MenuSection,
  Modal,
  ModalOverlay,
  Text,
  TextField,
  useFilter,
} from "react-aria-components";

import type { Command } from "./commands";

/** A place that the palette can go to. */
export interface PaletteLink {
  id: string;
  label: string;
  detail: string;
  open: () => void;
}

interface PaletteProps {
  commands: Command[];
  links: PaletteLink[];
  onClose: () => void;
}

/** The command palette: everything that is possible here, and every session, found by typing. */
export function CommandPalette({ commands, links, onClose }: PaletteProps) {
  const { contains } = useFilter({ sensitivity: "base" });
  const choose = (run: () => void) => () => {
    onClose();
    run();
  };
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={onClose} className="overlay">
      <Modal className="palette">
        <Dialog aria-label="Command palette">
          <Autocomplete filter={contains}>
            <TextField aria-label="Find a command or a session" autoFocus>
              <Input placeholder="Type a command or the name of a session…" />
            </TextField>
            <Menu
              className="palette-list"
              aria-label="Commands"
              renderEmptyState={() => "Nothing has this name."}
            >
              <MenuSection>
                <Header>Commands</Header>
                {commands.map((command) => (
                  <MenuItem
                    key={command.label}
                    id={command.label}
                    textValue={command.label}
                    onAction={choose(command.run)}
                  >
                    <Text slot="label">{command.label}</Text>
                    {command.key ? <kbd>{command.key}</kbd> : null}
                  </MenuItem>
                ))}
              </MenuSection>
              <MenuSection>
                <Header>Go to</Header>
                {links.map((link) => (
                  <MenuItem
                    key={link.id}
                    id={link.id}
                    textValue={`${link.label} ${link.detail}`}
                    onAction={choose(link.open)}
                  >
                    <Text slot="label">{link.label}</Text>
                    <Text slot="description">{link.detail}</Text>
                  </MenuItem>
                ))}
              </MenuSection>
            </Menu>
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** All keys that do something here. */
export function KeyHelp({ commands, onClose }: { commands: Command[]; onClose: () => void }) {
  const [withKeys] = useState(() => commands.filter((command) => command.key));
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={onClose} className="overlay">
      <Modal className="dialog">
        <Dialog>
          <Heading slot="title">Keys</Heading>
          <dl className="keys">
            {withKeys.map((command) => (
              <div key={command.key}>
                <dt>
                  <kbd>{command.key}</kbd>
                </dt>
                <dd>{command.label}</dd>
              </div>
            ))}
          </dl>
          <p className="soft">Letters are text while you type; function keys always work.</p>
          <Button slot="close" className="primary">
            Close
          </Button>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
