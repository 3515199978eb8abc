import createClient, { type Middleware } from "openapi-fetch";

import type { components, paths } from "./schema";
import { authorization } from "./token";

export type Schemas = components["schemas"];

/** What an error answer of the server says. `hint` is what to do next. */
export class ServerProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string | null,
    readonly details: Record<string, unknown>,
  ) {
    super(message);
  }
}

async function readProblem(response: Response): Promise<ServerProblem> {
  const answer = (await response.json().catch(() => null)) as Schemas["ErrorAnswer"] | null;
  const error = answer?.error;
  return new ServerProblem(
    response.status,
    error?.code ?? "UNREADABLE_ANSWER",
    error?.message ?? `The server answered with status ${response.status}.`,
    error?.hint ?? null,
    (error?.details ?? {}) as Record<string, unknown>,
  );
}

const middleware: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response }) {
    if (!response.ok) throw await readProblem(response);
    return response;
  },
  onError() {
    return new ServerProblem(
      0,
      "SERVER_UNREACHABLE",
      "The server does not answer.",
      "Start it again with `holdfast serve`; this page reconnects by itself.",
      {},
    );
  },
};

/** Requests to the server, typed by its OpenAPI document. A bad answer throws a `ServerProblem`. */
export const api = createClient<paths>({ baseUrl: location.origin });
api.use(middleware);

/** The body of an answer. */
export async function bodyOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  return (await answer).data as T;
}
