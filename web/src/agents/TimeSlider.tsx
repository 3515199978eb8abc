import { useEffect, useState } from "react";
import { Label, Slider, SliderThumb, SliderTrack } from "react-aria-components";

import { useCommand } from "../ui/commands";
import { formatClock } from "../ui/format";
import { choosePause, describeStep, findStep, type ReplayStep } from "./replay-steps";

const SPEEDS = [1, 4, 16];

interface TimeSliderProps {
  steps: ReplayStep[];
  /** The event that is shown; null is now. */
  at: number | null;
  onChange: (at: number | null) => void;
}

/** Goes back and forth in a run. Nothing is called by it: it shows what was recorded. */
export function TimeSlider({ steps, at, onChange }: TimeSliderProps) {
  const last = steps.length - 1;
  const index = at === null ? last : Math.max(0, findStep(steps, at));
  const [speed, setSpeed] = useState(1);
  const [isPlaying, setPlaying] = useState(false);
  const goTo = (next: number) => {
    const step = steps[Math.min(last, Math.max(0, next))];
    if (step) onChange(next >= last ? null : step.seq);
  };
  usePlayback(steps, index, isPlaying ? speed : 0, goTo, () => setPlaying(false));
  const play = () => {
    if (!isPlaying && at === null) goTo(0);
    setPlaying(!isPlaying);
  };
  useCommand("Go back one event", "[", () => goTo(index - 1), index > 0);
  useCommand("Go forward one event", "]", () => goTo(index + 1), index < last);
  const step = steps[index];
  if (!step) return null;
  return (
    <section className="time-slider" aria-label="Replay">
      <div className="row">
        <button
          type="button"
          onClick={() => goTo(index - 1)}
          disabled={index <= 0}
          aria-label="Previous event"
        >
          ◂
        </button>
        <button type="button" onClick={play}>
          {isPlaying ? "Stop" : "Play"}
        </button>
        <button
          type="button"
          onClick={() => goTo(index + 1)}
          disabled={index >= last}
          aria-label="Next event"
        >
          ▸
        </button>
        <select aria-label="Speed" value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </select>
        <Slider
          className="slider"
          minValue={0}
          maxValue={Math.max(1, last)}
          value={index}
          onChange={(value) => {
            setPlaying(false);
            goTo(value);
          }}
        >
          <Label className="unseen">Time</Label>
          <SliderTrack className="slider-track">
            <StepMarks steps={steps} />
            <SliderThumb className="slider-thumb" />
          </SliderTrack>
        </Slider>
        <button
          type="button"
          className={at === null ? "" : "primary"}
          disabled={at === null}
          onClick={() => onChange(null)}
        >
          Now
        </button>
      </div>
      <p className="soft cut" role="status">
        {at === null ? "now: " : ""}event {step.seq} of {steps[last]?.seq} ·{" "}
        {formatClock(new Date(step.time).toISOString())} · {describeStep(step)}
      </p>
    </section>
  );
}

/** Go from step to step at the pace of the recording, until the end. */
function usePlayback(
  steps: ReplayStep[],
  index: number,
  speed: number,
  goTo: (index: number) => void,
  onEnd: () => void,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new step or speed is what starts a wait
  useEffect(() => {
    const [from, to] = [steps[index], steps[index + 1]];
    if (!speed || !from) return;
    if (!to) {
      onEnd();
      return;
    }
    const timer = setTimeout(() => goTo(index + 1), choosePause(from, to, speed));
    return () => clearTimeout(timer);
  }, [index, speed, steps.length]);
}

/** Where it was held, and where something failed. */
function StepMarks({ steps }: { steps: ReplayStep[] }) {
  return steps.map((step, index) =>
    step.mark ? (
      <span
        key={step.seq}
        aria-hidden="true"
        className={`step-mark ${step.mark}-mark`}
        style={{ left: `${(index / Math.max(1, steps.length - 1)) * 100}%` }}
      />
    ) : null,
  );
}
