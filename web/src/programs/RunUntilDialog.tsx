import { useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";

/** Asks for the expression that ends a run when it becomes true. */
export function RunUntilDialog({
  onRun,
  onClose,
}: {
  onRun: (expression: string) => void;
  onClose: () => void;
}) {
  const [expression, setExpression] = useState("");
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={onClose} className="overlay">
      <Modal className="dialog">
        <Dialog>
          <form
            className="breakpoint-form"
            onSubmit={(event) => {
              event.preventDefault();
              onRun(expression);
              onClose();
            }}
          >
            <Heading slot="title">Run until</Heading>
            <label>
              Expression
              <input
                className="mono"
                autoFocus
                required
                value={expression}
                onChange={(event) => setExpression(event.target.value)}
              />
              <small className="soft">
                It stops when this becomes true, or when its frame returns: total &gt; 10
              </small>
            </label>
            <div className="actions">
              <button type="submit" className="primary">
                Run
              </button>
              <button type="button" onClick={onClose}>
                Cancel
              </button>
            </div>
          </form>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
