import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { fetchNode, NODE_VERSIONS } from '../../scripts/fetch-node.mjs'
import { runSvc } from '../programs/cli/run-svc.ts'
import { page } from '../docs/pages.ts'
import { installNpmPackages, linkNpmPackages } from '../frameworks/npm-packages.ts'
import { REFUND_CALLS, refundDeskOf } from '../frameworks/run-guide.ts'
import { scriptedModel } from '../frameworks/scripted-model.ts'
import { packAndInstall, readUntil } from './installed-package.ts'
import { inMatrix } from '../matrix.ts'

const packed = packAndInstall()
cpSync(join(packed.installed, 'wedges'), join(packed.folder, 'wedges'), { recursive: true })
afterAll(packed.remove)

/** The version of the image. */
const IMAGE_VERSION = NODE_VERSIONS.filter((version) => version.startsWith('24.'))

describe.each(inMatrix(NODE_VERSIONS, IMAGE_VERSION))('the package on Node %s', async (version) => {
  const node = await fetchNode(version)
  const missing = `the npm registry did not send Node ${version} for this platform`

  test.for(['bwrap', 'process'])(
    'does a task with an approval, with the sandbox driver %s',
    async (sandbox, { skip }) => {
      const { url, key, errors } = await startService(node ?? skip(missing), sandbox)
      const input = join(packed.folder, 'wedges/refund-desk/rehearsals/handle_request.input.json')
      expect(await runRefund(url, key, input)).toMatchObject(APPROVED)
      expect(errors()).toBe('')
    },
  )

  test('runs the agent of a guide, whose calls of the model and of its tools use fetch', async ({ skip }) => {
    await installNpmPackages()
    const wedges = refundDeskOf(page('docs/frameworks/vercel-ai-sdk.md'), false)
    linkNpmPackages(join(wedges, 'refund-desk/agent'))
    const model = await scriptedModel('responses', REFUND_CALLS)
    const env = { SVC_WEDGES_DIR: wedges, ...model.env }
    const { url, key, errors } = await startService(node ?? skip(missing), 'bwrap', env)
    const input = join(wedges, 'refund-desk/rehearsals/handle_request.input.json')
    expect(await runRefund(url, key, input)).toMatchObject(APPROVED)
    expect(model.seen).toHaveLength(REFUND_CALLS.length)
    expect(errors()).toBe('')
  })
})

const APPROVED = { code: 0, stdout: expect.stringMatching(/approved[^]*■ succeeded/) }

const runRefund = (url: string, key: string, input: string) =>
  runSvc(['run', 'refund-desk', 'handle_request', '--input', input], {
    url,
    env: { SVC_KEY: key },
    stdin: 'a\n',
    programPath: packed.program,
  })

async function startService(node: string, sandbox: string, env: Record<string, string> = {}) {
  const child = spawn(node, [packed.program, 'serve'], {
    cwd: packed.folder,
    env: {
      PATH: process.env['PATH'] ?? '',
      SVC_PORT: '0',
      SVC_SANDBOX: sandbox,
      SVC_DATA_DIR: mkdtempSync(join(packed.folder, 'data-')),
      SVC_LOG_LEVEL: 'error',
      ...env,
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
