// The build of the console; scripts/console.mjs runs it. `npx vite console` starts the development server.
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'

const root = fileURLToPath(new URL('.', import.meta.url))

/** @type {import('vite').InlineConfig} */
export default {
  root,
  plugins: [tailwindcss()],
  logLevel: 'warn',
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    // The Content-Security-Policy forbids inline assets.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { console: `${root}index.html`, portal: `${root}portal.html` },
      onLog: (_level, log, handle) => {
        // Libraries mark client components with a directive that only server rendering needs.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle('warn', log)
      },
    },
  },
  server: { proxy: { '/v1': process.env['SVC_URL'] ?? 'http://127.0.0.1:8787' } },
}
