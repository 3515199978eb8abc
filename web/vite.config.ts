import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` takes the page from Vite, and everything else from a running server.
const server = process.env.HOLDFAST_SERVER_URL ?? "http://localhost:5000";
const apiPaths = [
  "/api",
  "/sessions",
  "/health",
  "/info",
  "/config",
  "/processes",
  "/tools",
  "/openapi.json",
];

export default defineConfig({
  plugins: [react()],
  html: { cspNonce: "HOLDFAST_NONCE" },
  build: {
    outDir: process.env.HOLDFAST_PAGE_OUTPUT ?? "../src/holdfast/server/page/built",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0, // the policy allows nothing inline
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: Object.fromEntries(
      // The server refuses foreign origins, so a request must look as if its own page made it.
      apiPaths.map((path) => [path, { target: server, changeOrigin: true, headers: { origin: server } }]),
    ),
  },
  test: {
    include: ["tests/**/*.test.ts"],
    // Node.js would not find packages below a directory with a % in its name.
    server: { deps: { inline: true } },
  },
});
