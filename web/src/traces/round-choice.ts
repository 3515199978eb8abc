import { useEffect, useMemo, useRef, useState } from "react";

import { useAddressValue } from "../ui/address";
import { formatRounds, parseRounds, type RoundChoice } from "./loop-rounds";

/** How long the address waits for the last one of many rounds: browsers refuse to change it at every pixel. */
const ADDRESS_PAUSE = 150;

/** The chosen rounds. They are in the address, a moment after they are on the page. */
export function useRoundChoice(): [RoundChoice, (line: number, round: number) => void] {
  const [address, setAddress] = useAddressValue("rounds");
  const [text, setText] = useState(address);
  const written = useRef(address);
  useEffect(() => {
    if (address === written.current) return;
    written.current = address;
    setText(address);
  }, [address]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another choice is written
  useEffect(() => {
    if (text === written.current) return;
    const timer = setTimeout(() => {
      written.current = text;
      setAddress(text);
    }, ADDRESS_PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const choice = useMemo(() => parseRounds(text), [text]);
  return [
    choice,
    (line, round) => setText((before) => formatRounds(new Map(parseRounds(before)).set(line, round))),
  ];
}
