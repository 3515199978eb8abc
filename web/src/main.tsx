import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { startEventStore } from "./live/event-store";
import { startQueryRefresh } from "./live/query-refresh";
import { router } from "./router";
import "./style/base.css";
import "./style/parts.css";
import { applyTheme, readTheme } from "./ui/theme";

const client = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 5_000, refetchOnWindowFocus: false } },
});

applyTheme(readTheme());
startQueryRefresh(client);
startEventStore();
createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
