import { useNavigate, useParams, useSearch } from "@tanstack/react-router";

/** A part of the path, such as the `id` in `/programs/$id`. */
export function usePathParameter(name: string): string {
  return (useParams({ strict: false }) as Record<string, string>)[name] ?? "";
}

type Search = Record<string, unknown>;

/**
 * A value that is kept in the address, so that a reload or a shared link shows the same. An empty value
 * is left out. Set it with `{ push: true }` for what the back button should undo.
 */
export function useAddressValue(
  name: string,
  fallback = "",
): [string, (value: string, options?: { push?: boolean }) => void] {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  const value = search[name] === undefined ? fallback : String(search[name]);
  const setValue = (next: string, options?: { push?: boolean }) => {
    const change = ({ [name]: _, ...rest }: Search): Search =>
      next === fallback ? rest : { ...rest, [name]: next };
    void navigate({ to: ".", search: change as never, replace: !options?.push, resetScroll: false });
  };
  return [value, setValue];
}

/** Set several values of the address at once. */
export function useAddressChange(): (values: Record<string, string | undefined>, push?: boolean) => void {
  const navigate = useNavigate();
  return (values, push = false) =>
    void navigate({
      to: ".",
      search: ((before: Search) => {
        const next = Object.entries({ ...before, ...values });
        return Object.fromEntries(next.filter(([, value]) => value !== undefined && value !== ""));
      }) as never,
      replace: !push,
      resetScroll: false,
    });
}
