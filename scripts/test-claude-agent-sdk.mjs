// `npm run test:claude-agent-sdk`: follows docs/frameworks/claude-agent-sdk.md with the real package.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'

const root = fileURLToPath(new URL('..', import.meta.url))
const guide = readFileSync(join(root, 'docs/frameworks/claude-agent-sdk.md'), 'utf8')
const version = /"@anthropic-ai\/claude-agent-sdk": "([\d.]+)"/.exec(guide)?.[1]
const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
const folder = join(cache, 'agent-work-service', `claude-agent-sdk-${version}`)

if (!existsSync(join(folder, 'node_modules/.package-lock.json'))) install()
process.env['CLAUDE_AGENT_SDK_FOLDER'] = folder
const vitest = await startVitest('test', [], { root, include: ['test/frameworks/claude-agent-sdk.ts'] })
await vitest.close()

function install() {
  process.stderr.write(`svc: installing @anthropic-ai/claude-agent-sdk ${version} (400 MB) ...\n`)
  mkdirSync(folder, { recursive: true })
  const manifest = { private: true, dependencies: { '@anthropic-ai/claude-agent-sdk': version } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = spawnSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit' })
  if (npm.status !== 0) process.exit(1)
}
