import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// Where `hourhand serve` listens while the UI is developed with `npm run dev`.
const server = process.env.HOURHAND_URL ?? "http://127.0.0.1:8420";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/hourhand/webui/dist",
    emptyOutDir: true,
    sourcemap: false,
    target: "es2022",
    chunkSizeWarningLimit: 1200,
  },
  server: {
    host: "127.0.0.1",
    // The host stays the page's own: the server refuses what another page sends.
    proxy: Object.fromEntries(
      ["/api", "/docs", "/healthz", "/readyz"].map((path) => [path, { target: server, changeOrigin: false }]),
    ),
  },
});
