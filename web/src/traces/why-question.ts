import { useAddressChange, useAddressValue } from "../ui/address";
import { EXCEPTION, type WhyQuestion } from "./trace-queries";

/** The question in the address, if there is one: `?why=total&at=orders.py:12&hit=2&after=true`. */
export function useWhyQuestion(): [WhyQuestion | null, (question: WhyQuestion) => void] {
  const [variable] = useAddressValue("why");
  const [at] = useAddressValue("at");
  const [hit] = useAddressValue("hit", "1");
  const [after] = useAddressValue("after");
  const change = useAddressChange();
  const ask = (question: WhyQuestion) =>
    change({ why: undefined, at: undefined, hit: undefined, after: undefined, ...writeWhy(question) }, true);
  const isAsked = variable === EXCEPTION || (variable !== "" && at !== "");
  return [isAsked ? { variable, at, hit: readHit(hit), after: after === "true" } : null, ask];
}

const readHit = (text: string): number => (/^-?\d+$/.test(text) ? Number(text) : 1);

/** A question as the address has it. */
export const writeWhy = ({ variable, at, hit, after }: WhyQuestion): Record<string, string> =>
  variable === EXCEPTION
    ? { why: variable }
    : {
        why: variable,
        at,
        ...(hit === 1 ? {} : { hit: String(hit) }),
        ...(after ? { after: "true" } : {}),
      };
