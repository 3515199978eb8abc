import { formatCount, formatPlace } from "../ui/format";
import type { TraceWhy, WhyStatement } from "./trace-queries";

type Open = (statement: WhyStatement) => void;

/** The writes that led to a value, the last one first. Each leads to the call and the rounds in which it ran. */
export function WhyChain({ answer, onOpen }: { answer: TraceWhy; onOpen: Open }) {
  const { variable = "the exception", value, assigned } = answer;
  return (
    <>
      <p className="why-value">
        <code>{value === undefined ? variable : `${variable} = ${value}`}</code>{" "}
        {answer.hits > 1 ? (
          <span className="soft">
            time {formatCount(answer.hit)} of {formatCount(answer.hits)}
          </span>
        ) : null}
      </p>
      <ol className="why-chain" aria-label="What led to it">
        {assigned ? (
          <WhyLink
            link={{
              relation: "written here",
              ...assigned,
              wrote: assigned.wrote ?? { [variable]: value ?? "" },
            }}
            onOpen={onOpen}
          />
        ) : null}
        {answer.from?.map((link, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a link is its place in the chain
          <WhyLink key={index} link={link} onOpen={onOpen} />
        ))}
      </ol>
      {answer.left_out ? <p className="soft">{formatCount(answer.left_out)} more matter less.</p> : null}
      <Reasons title="It begins with" reasons={answer.origins} />
      <Reasons title="What is not known" reasons={answer.unknown} isWarning />
      <Reasons title="Remarks" reasons={answer.remarks} isWarning />
    </>
  );
}

function WhyLink({ link, onOpen }: { link: WhyStatement; onOpen: Open }) {
  return (
    <li className="why-link">
      {link.relation ? <span className="relation">{link.relation}</span> : null}
      <PlaceButton link={link} onOpen={onOpen} />
      {link.times && link.times > 1 ? <span className="soft">{formatCount(link.times)} times</span> : null}
      <code className="why-source">{link.source.trim()}</code>
      <Values values={link.wrote} isWritten />
      <Values values={link.read} />
    </li>
  );
}

/** What stands in the place of a variable: what came of a test, of a call. */
const NO_VARIABLES = new Set(["entered", "returned", "gave", "raised"]);

function Values({
  values,
  isWritten = false,
}: {
  values: Record<string, string> | undefined;
  isWritten?: boolean;
}) {
  const pairs = Object.entries(values ?? {});
  return pairs.map(([name, value]) => (
    <code key={name} className={isWritten ? "note set" : "note read"}>
      {NO_VARIABLES.has(name) ? `${name}:` : `${name} =`} {value}
    </code>
  ));
}

function PlaceButton({ link, onOpen }: { link: WhyStatement; onOpen: Open }) {
  if (link.call === undefined) return <span className="mono">{formatPlace(link)}</span>;
  return (
    <button type="button" className="quiet small mono place" onClick={() => onOpen(link)}>
      {formatPlace(link)}
    </button>
  );
}

interface ReasonsProps {
  title: string;
  reasons: string[] | undefined;
  isWarning?: boolean;
}

function Reasons({ title, reasons = [], isWarning = false }: ReasonsProps) {
  if (!reasons.length) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul className={isWarning ? "remarks" : "reasons"}>
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </section>
  );
}
