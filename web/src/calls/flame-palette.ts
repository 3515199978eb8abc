export const HUES = 10;

/** The colours of a chart, as a canvas takes them. */
export interface Palette {
  hues: string[];
  back: string;
  band: string;
  line: string;
  text: string;
  soft: string;
  /** On a box. */
  boxText: string;
  failed: string;
  held: string;
  lost: string;
  focus: string;
}

/** The hue of a function: the same in every session, whatever else was called. */
export function chooseHue(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++)
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % HUES;
}

/** A hue for each function: its own, or the next one while another function has that and some are free. */
export function chooseHues(names: readonly string[]): Uint8Array {
  const taken = new Set<number>();
  return Uint8Array.from(names, (name) => {
    let hue = chooseHue(name);
    while (taken.has(hue) && taken.size < HUES) hue = (hue + 1) % HUES;
    taken.add(hue);
    return hue;
  });
}

/** Read the colours from the style sheet. A canvas does not know variables, nor `light-dark`. */
export function readPalette(element: HTMLElement): Palette {
  const probe = element.ownerDocument.createElement("i");
  element.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
    hues: Array.from({ length: HUES }, (_, index) => read(`flame-${index}`)),
    back: read("panel"),
    band: read("sunken"),
    line: read("line"),
    text: read("text"),
    soft: read("soft"),
    boxText: read("flame-text"),
    failed: read("flame-failed"),
    held: read("flame-held"),
    lost: read("flame-lost"),
    focus: read("focus"),
  };
  probe.remove();
  return palette;
}
