import { useAddressValue } from "../ui/address";
import { EventList } from "./EventList";

/** All latest events of all sessions, and a box that keeps those whose text has some words. */
export function EventsPage() {
  const [words, setWords] = useAddressValue("words");
  const needles = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (
    <div className="stacked-view">
      <h1 className="unseen">Events</h1>
      <label className="filter-row">
        <span>Show events with</span>
        <input
          type="search"
          value={words}
          placeholder="a type, a session, a value"
          onChange={(event) => setWords(event.target.value)}
        />
      </label>
      <EventList
        title="Events"
        {...(needles.length
          ? {
              matches: (event) => needles.every((word) => JSON.stringify(event).toLowerCase().includes(word)),
            }
          : {})}
      />
    </div>
  );
}
