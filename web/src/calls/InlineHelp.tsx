import { Button, Dialog, DialogTrigger, Popover } from "react-aria-components";

const CODE = `from holdfast import debug_call

debug_call(taxed, price)         # this one call
debug_call("tax", taxed, price)  # with an alias`;

/** Marks a call that was made by `debug_call`. */
export function InlineMark() {
  return <span className="inline-mark">inline</span>;
}

/** What inline calls are, in a few words. */
export function InlineHelp({ className = "" }: { className?: string }) {
  return (
    <DialogTrigger>
      <Button className={`quiet help-button ${className}`}>What are inline calls?</Button>
      <Popover className="popover" placement="bottom start">
        <Dialog aria-label="Inline calls" className="popover-body">
          <p>
            <code>debug_call(f, x)</code> marks one call: it is recorded, and it can be held, without wrapping
            an object. It is shown as <InlineMark /> here.
          </p>
          <pre className="example">{CODE}</pre>
          <p>
            To hold only such calls, make a breakpoint with the call type <b>inline</b>. Filter them with{" "}
            <code>call_type == 'inline'</code>.
          </p>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
