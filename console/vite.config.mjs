// How the console is built; scripts/console.mjs runs it. `npx vite console` serves it while it is worked on.
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
    // A page that is split off may load its own style; nothing is put into the document by hand.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: { console: `${root}index.html`, portal: `${root}portal.html` },
      onLog: (_level, log, handle) => {
        // Libraries mark what a server may not run; there is no server here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle('warn', log)
      },
    },
  },
  server: { proxy: { '/v1': process.env['SVC_URL'] ?? 'http://127.0.0.1:8787' } },
}
