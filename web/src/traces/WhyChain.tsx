import type { Schemas } from "../api/client";
import { formatCount, formatPlace } from "../ui/format";
import type { Place } from "./recorded-places";
import type { WhyReport } from "./trace-queries";

interface Places {
  onPlace: (place: Place) => void;
  canShow: (place: Place) => boolean;
}

/** The writes that led to a value, the last one first. A place leads to its line. */
export function WhyChain({ report, ...places }: { report: WhyReport } & Places) {
  const { assigned } = report;
  const value = assigned?.value ?? report.value;
  const from = (report.from ?? []).map((link) => ({ ...link, file: link.file ?? assigned?.file ?? "" }));
  // The first link may be the assignment itself, with more facts.
  const rest = assigned && isSamePlace(from[0], assigned) ? from.slice(1) : from;
  const first = rest === from ? undefined : from[0];
  return (
    <>
      <p className="why-value">
        <code>
          {value === undefined ? (report.variable ?? "") : `${report.variable ?? "the exception"} = ${value}`}
        </code>{" "}
        {report.hits && report.hits > 1 ? (
          <span className="soft">
            time {formatCount(report.hit ?? 1)} of {formatCount(report.hits)}
          </span>
        ) : null}
      </p>
      <ol className="why-chain" aria-label="What led to it">
        {assigned ? (
          <li className="why-link">
            <span className="relation">written here</span>
            <PlaceButton place={assigned} {...places} />
            <Times count={first?.times} />
            <SourceText text={assigned.source ?? first?.source} />
            <Values values={first?.wrote ?? { [report.variable ?? ""]: assigned.value }} isWritten />
            <Values values={first?.read} />
          </li>
        ) : null}
        {rest.map((link, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a link is its place in the chain
          <WhyLink key={index} link={link} {...places} />
        ))}
      </ol>
      <Reasons title="It begins with" reasons={report.origins} />
      <Reasons title="What is not known" reasons={report.unknown} isWarning />
      <Reasons title="Remarks" reasons={report.remarks} isWarning />
      <Reasons title="Left out" reasons={report.omitted} />
    </>
  );
}

const isSamePlace = (a: Place | undefined, b: Place) => a?.file === b.file && a.line === b.line;

function WhyLink({ link, ...places }: { link: Schemas["WhyLinkShown"] & { file: string } } & Places) {
  return (
    <li className="why-link">
      {link.relation ? <span className="relation">{link.relation}</span> : null}
      <PlaceButton place={link} {...places} />
      <Times count={link.times} />
      <SourceText text={link.source} />
      <Values values={link.wrote} isWritten />
      <Values values={link.read} />
    </li>
  );
}

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
      {name} = {value}
    </code>
  ));
}

function PlaceButton({ place, onPlace, canShow }: { place: Place } & Places) {
  if (!canShow(place)) return <span className="mono">{formatPlace(place)}</span>;
  return (
    <button type="button" className="quiet small mono place" onClick={() => onPlace(place)}>
      {formatPlace(place)}
    </button>
  );
}

const Times = ({ count }: { count: number | undefined }) =>
  count ? <span className="soft">{formatCount(count)} times</span> : null;

const SourceText = ({ text }: { text: string | undefined }) =>
  text ? <code className="why-source">{text.trim()}</code> : null;

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
