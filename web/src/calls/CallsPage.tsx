import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { sessionsQuery } from "../api/queries";
import { useAddressChange, useAddressValue } from "../ui/address";
import { useCommand } from "../ui/commands";
import { formatCount } from "../ui/format";
import { Status } from "../ui/parts";
import { CallDetail } from "./CallDetail";
import { CallFilter } from "./CallFilter";
import { CallList } from "./CallList";
import { CallTree } from "./CallTree";
import { useCallFeed, useFeedState } from "./call-feed-hooks";
import "./calls.css";

const FlameView = lazy(() => import("./FlameView").then((module) => ({ default: module.FlameView })));

/** The recorded calls: as a list, a tree or a timeline, and one of them beside it. */
export function CallsPage() {
  const [filter] = useAddressValue("filter");
  const [session] = useAddressValue("session");
  const [view, setView] = useAddressValue("view", "list");
  const [call] = useAddressValue("call");
  const changeAddress = useAddressChange();
  const feed = useCallFeed(filter, session, call !== "");
  const close = () => changeAddress({ call: undefined, look: undefined });
  const select = (id: string) => {
    feed.stop();
    changeAddress({ call: id }, call === "");
  };
  useCommand("Close the call", "Escape", close, call !== "");
  return (
    <div className="calls-view">
      <h1 className="unseen">Calls</h1>
      <Tabs className="calls-tabs" selectedKey={view} onSelectionChange={(key) => setView(String(key))}>
        <div className="calls-head">
          <CallFilter state={useFeedState(feed)} isTimeline={view === "flame"} />
          <SessionChooser />
          <TabList className="switch" aria-label="How to show the calls">
            <Tab id="list">List</Tab>
            <Tab id="tree">Tree</Tab>
            <Tab id="flame">Flame</Tab>
          </TabList>
        </div>
        <div className={call ? "calls-body with-detail" : "calls-body"}>
          <TabPanel id="list" className="calls-panel">
            <CallList feed={feed} selected={call} onSelect={select} />
          </TabPanel>
          <TabPanel id="tree" className="calls-panel">
            <CallTree feed={feed} isFiltered={filter !== ""} selected={call} onSelect={select} />
          </TabPanel>
          <TabPanel id="flame" className="calls-panel">
            <Suspense fallback={<p className="empty">Reading the timeline…</p>}>
              <FlameView session={session} filter={filter} onSelect={select} />
            </Suspense>
          </TabPanel>
          {call ? <CallDetail key={call} id={call} onClose={close} /> : null}
        </div>
      </Tabs>
    </div>
  );
}

/** Whose calls: of one application, or of all. */
function SessionChooser() {
  const [session, setSession] = useAddressValue("session");
  const sessions = (useQuery(sessionsQuery).data?.sessions ?? []).filter((each) => each.kind === "calls");
  const chosen = sessions.find((each) => each.session_id === session);
  return (
    <div className="row session-chooser">
      <select
        aria-label="Session"
        value={session}
        onChange={(event) => setSession(event.target.value, { push: true })}
      >
        <option value="">All applications</option>
        {session && !chosen ? <option value={session}>{session}</option> : null}
        {sessions.toReversed().map((each) => (
          <option key={each.session_id} value={each.session_id}>
            {each.name ?? each.session_id} ({each.status}, {formatCount(each.calls)} calls)
          </option>
        ))}
      </select>
      {chosen ? <Status of={chosen.status} /> : null}
    </div>
  );
}
