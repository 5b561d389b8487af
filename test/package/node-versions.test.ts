import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { NODE_VERSIONS } from '../../scripts/fetch-node.mjs'
import { runSvc } from '../cli/run-svc.ts'
import { fetchNode } from './fetch-node.ts'
import { packAndInstall, readUntil } from './installed-package.ts'

const packed = packAndInstall()
cpSync(join(packed.installed, 'wedges'), join(packed.folder, 'wedges'), { recursive: true })
afterAll(packed.remove)

test.for(NODE_VERSIONS)('the package works on Node %s, with and without bubblewrap', async (version, { skip }) => {
  const node = (await fetchNode(version)) ?? skip(`the npm registry did not send Node ${version} for this platform`)
  for (const sandbox of ['bwrap', 'process']) {
    const { url, key, errors } = await startService(node, sandbox)
    const input = join(packed.folder, 'wedges/refund-desk/rehearsals/handle_request.input.json')
    const run = ['run', 'refund-desk', 'handle_request', '--input', input]
    const ended = await runSvc(run, { url, env: { SVC_KEY: key }, stdin: 'a\n', programPath: packed.program })
    expect(ended, sandbox).toMatchObject({ code: 0, stdout: expect.stringMatching(/approved[^]*■ succeeded/) })
    expect(errors(), sandbox).toBe('')
  }
})

async function startService(node: string, sandbox: string) {
  const child = spawn(node, [packed.program, 'serve'], {
    cwd: packed.folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      SVC_PORT: '0',
      SVC_SANDBOX: sandbox,
      SVC_DATA_DIR: mkdtempSync(join(packed.folder, 'data-')),
      SVC_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await once(child, 'exit')
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const output = await readUntil(child.stdout, `sandbox: ${sandbox}`)
  return {
    url: /listens on (\S+)/.exec(output)?.[1] ?? output,
    key: /svc_key_\S+/.exec(output)?.[0] ?? output,
    errors: () => errors,
  }
}
