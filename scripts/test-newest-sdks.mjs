// A part of `npm run test:frameworks`: tests the libraries of agents in the versions that a plain `npm install` brings today.
// `npm test` runs the same tests with the pinned versions.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installNewest } from './newest-packages.mjs'

const SDKS = ['openai', '@anthropic-ai/sdk', '@modelcontextprotocol/client']
const TESTS = [
  'test/execution/runs/requests/vendor-sdk',
  'test/execution/models/request-fields',
  'test/execution/models/example-models',
  'test/server/mcp/agent-mcp',
]

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'svc-newest-sdks-'))
try {
  const versions = Object.entries(installNewest(SDKS, folder)).map(([name, version]) => `${name} ${version}`)
  process.stderr.write(`svc: ${versions.join(', ')}\n`)
  const vitest = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--retry=1', ...TESTS]
  const env = { ...process.env, NEWEST_SDKS: folder }
  process.exitCode = spawnSync(process.execPath, vitest, { cwd: root, env, stdio: 'inherit' }).status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
