import { useMemo } from "react";
import { Label, Slider, SliderThumb, SliderTrack } from "react-aria-components";

import { formatCount } from "../ui/format";
import { findUnusual, type Loop, listMarks, moveRound, type Round } from "./loop-rounds";
import type { PassedLoop } from "./traced-pass";

interface LoopScrubberProps {
  passed: PassedLoop;
  onChoose: (line: number, round: number) => void;
}

/** Chooses the round of a loop whose values are shown. */
export function LoopScrubber({ passed, onChoose }: LoopScrubberProps) {
  const { line, loop, round } = passed;
  if (!round) return <p className="loop-note soft">{describeEmpty(loop)}</p>;
  if (loop.iterations === 1) return <p className="loop-note soft">one round {round.remark}</p>;
  const goTo = (number: number) => {
    const next = moveRound(loop, round.number, number);
    if (next !== round.number) onChoose(line, next);
  };
  const count = formatCount(loop.iterations);
  const leftOut = loop.iterations - (loop.rounds?.length ?? 0);
  return (
    <div className="scrubber" role="group" aria-label={`Loop at line ${line}`}>
      <StepButton
        label="Previous round"
        sign="◂"
        isOff={isFirst(loop, round)}
        onStep={() => goTo(round.number - 1)}
      />
      <RoundSlider line={line} loop={loop} round={round} onMove={goTo} />
      <StepButton
        label="Next round"
        sign="▸"
        isOff={isLast(loop, round)}
        onStep={() => goTo(round.number + 1)}
      />

      <span className="round-count">
        round <b>{formatCount(round.number)}</b> of {count}
      </span>
      {round.remark ? <span className="remark">{round.remark}</span> : null}
      <UnusualButtons loop={loop} round={round} onMove={goTo} />
      {leftOut > 0 ? <span className="soft">{formatCount(leftOut)} left out</span> : null}
    </div>
  );
}

const isFirst = (loop: Loop, round: Round) => loop.rounds?.[0]?.number === round.number;
const isLast = (loop: Loop, round: Round) => loop.rounds?.at(-1)?.number === round.number;

function describeEmpty(loop: Loop): string {
  if (!loop.iterations) return "no rounds";
  return `${formatCount(loop.iterations)} rounds, of which only the number was kept`;
}

interface StepButtonProps {
  label: string;
  sign: string;
  isOff: boolean;
  onStep: () => void;
}

/** It stays in place and focused at the end of its way, so that keys do not go elsewhere. */
function StepButton({ label, sign, isOff, onStep }: StepButtonProps) {
  return (
    <button type="button" className="quiet" aria-label={label} aria-disabled={isOff} onClick={onStep}>
      {sign}
    </button>
  );
}

interface RoundSliderProps {
  line: number;
  loop: Loop;
  round: Round;
  onMove: (round: number) => void;
}

function RoundSlider({ line, loop, round, onMove }: RoundSliderProps) {
  const marks = useMemo(() => listMarks(loop), [loop]);
  return (
    <Slider
      className="round-slider"
      minValue={1}
      maxValue={loop.iterations}
      value={round.number}
      onChange={(value) => onMove(value as number)}
    >
      <Label className="unseen">Round of the loop at line {line}</Label>
      <SliderTrack className="round-track">
        {marks.map(({ round: unusual, at }) => (
          <span
            key={unusual.number}
            aria-hidden="true"
            className="round-mark"
            style={{ left: `${at * 100}%` }}
          />
        ))}
        <SliderThumb className="round-thumb" />
      </SliderTrack>
    </Slider>
  );
}

const FEW = 6;

/** Buttons for the unusual rounds: one for each if they are few, else to the next and the previous one. */
function UnusualButtons({ loop, round, onMove }: Omit<RoundSliderProps, "line">) {
  const unusual = useMemo(() => (loop.rounds ?? []).filter((each) => each.remark), [loop]);
  const around = findUnusual(loop, round.number);
  const shown =
    unusual.length <= FEW ? unusual : [around.before, around.after].filter((each) => each !== undefined);
  if (!shown.some((each) => each.number !== round.number)) return null;
  return (
    <span className="unusual">
      <span className="soft">unusual:</span>
      {shown.map((each) => (
        <button
          key={each.number}
          type="button"
          className="quiet"
          title={each.remark}
          aria-label={`${formatCount(each.number)}: ${each.remark}`}
          aria-current={each.number === round.number}
          onClick={() => onMove(each.number)}
        >
          {formatCount(each.number)}
        </button>
      ))}
      {unusual.length > FEW ? <span className="soft">of {formatCount(unusual.length)}</span> : null}
    </span>
  );
}
