import { useCallback } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { EventList } from "../events/EventList";
import type { Event } from "../live/event-stream";
import { useAddressValue } from "../ui/address";
import { BreakpointsPanel } from "./BreakpointsPanel";
import type { Breakpoints } from "./breakpoint-edits";
import type { EditedBreakpoint } from "./breakpoint-facts";
import { ConsolePanel } from "./ConsolePanel";
import { InputBox } from "./InputBox";
import { OutputPanel } from "./OutputPanel";
import { type Frame, holdOf, type Program } from "./program-state";

interface LowerTabsProps {
  program: Program;
  frame: Frame | undefined;
  breakpoints: Breakpoints;
  onEdit: (edited: EditedBreakpoint) => void;
  onOpen: (file: string, line: number) => void;
}

/** The console, the output, the breakpoints or the events; the address says which. */
export function LowerTabs({ program, frame, breakpoints, onEdit, onOpen }: LowerTabsProps) {
  const [tab, setTab] = useAddressValue("tab", "output");
  const id = program.session_id;
  const hold = holdOf(program);
  const isAsking = program.status === "waiting_for_input";
  const isReading = isAsking || (tab === "output" && program.status === "running");
  const isOurs = useCallback((event: Event) => event.session_id === id, [id]);
  return (
    <section className="panel lower" aria-label="Output, console, breakpoints and events">
      <Tabs className="tabs" selectedKey={tab} onSelectionChange={(key) => setTab(String(key))}>
        <TabList aria-label="Views" className="tab-list">
          <Tab id="output">Output</Tab>
          <Tab id="console">Console</Tab>
          <Tab id="breakpoints">
            Breakpoints{breakpoints.list.length ? ` ${breakpoints.list.length}` : ""}
          </Tab>
          <Tab id="events">Events</Tab>
        </TabList>
        <TabPanel id="output" className="tab-panel">
          <OutputPanel session={id} />
        </TabPanel>
        <TabPanel id="console" className="tab-panel">
          <ConsolePanel session={id} hold={hold} frame={frame} />
        </TabPanel>
        <TabPanel id="breakpoints" className="tab-panel">
          <BreakpointsPanel
            session={id}
            hold={hold}
            breakpoints={breakpoints}
            onEdit={onEdit}
            onOpen={onOpen}
          />
        </TabPanel>
        <TabPanel id="events" className="tab-panel">
          <EventList title="Events of this program" matches={isOurs} />
        </TabPanel>
      </Tabs>
      {isReading ? <InputBox session={id} prompt={isAsking ? (program.prompt ?? "") : null} /> : null}
    </section>
  );
}
