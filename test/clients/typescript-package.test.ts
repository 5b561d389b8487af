import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { page } from '../docs/pages.ts'
import { inMatrix } from '../matrix.ts'
import { compile, createClientProject } from './packed-client.ts'

const { folder, packedFiles } = createClientProject()
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const CALLER = `
import { AgentWorkClient, type Event, NotFoundError, type Task, verifyWebhook } from 'agent-work-service-client'

export async function use(key: string | undefined, signal: AbortSignal | undefined): Promise<Task> {
  const service = new AgentWorkClient({ url: 'http://127.0.0.1:8787', key })
  const onEvent = async (event: Event) => {
    if (event.type === 'progress') event.data.text.trim()
    // @ts-expect-error only an approval has an id
    event.data.approval_id
  }
  const task = await service.run({ wedge: 'a', task_type: 'b' }, { onEvent, signal })
  for await (const { status } of service.list('listTasks', { limit: 1 })) {
    const known: 'queued' | undefined = status === 'queued' ? status : undefined
    console.log(known)
  }
  // @ts-expect-error there is no such operation
  await service.call('getTusk', { id: task.id })
  // @ts-expect-error the id is required
  await service.call('getTask')
  // @ts-expect-error a limit is a number
  service.list('listTasks', { limit: '1' })
  await service.uploadFile('a.bin', new Uint8Array(1))
  await verifyWebhook('whsec_', new Headers(), new Uint8Array(1)).catch((error: unknown) => error instanceof NotFoundError)
  return task
}
`

const PROGRAM = `
import { openSandbox } from 'agent-work-service-client/sandbox'
const sandbox = await openSandbox<{ a: string }, { b: string }>()
// @ts-expect-error the output is { b: string }
sandbox.finish({ b: 1 })
sandbox.finish({ b: sandbox.brief.task.input.a })
`

test('the package has programs, types and its license, and no dependencies', () => {
  const modules = [
    'client',
    'errors',
    'follow',
    'openapi',
    'operation',
    'path-part',
    'response-error',
    'sandbox',
    'transport',
    'webhook',
  ]
  const compiled = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`])
  expect(packedFiles.toSorted()).toEqual(['LICENSE', 'README.md', ...compiled, 'package.json'])
  const manifest = JSON.parse(page('clients/typescript/package.json'))
  expect(Object.keys(manifest)).not.toContain('dependencies')
  expect(manifest.scripts.prepack).toMatch(/typescript-native\/bin\/tsc --project \.$/)
  expect(manifest).toMatchObject({ sideEffects: false, license: JSON.parse(page('package.json')).license })
  for (const client of ['typescript', 'python']) expect(page(`clients/${client}/LICENSE`)).toBe(page('LICENSE'))
})

const NATIVE = ['typescript-native', '--module nodenext'] as const
const COMPILERS = [
  ['typescript', '--module nodenext'],
  NATIVE,
  ['typescript-native', '--module esnext --moduleResolution bundler'],
] as const

test.each(inMatrix(COMPILERS, [NATIVE]))('%s accepts its types with %s', (compiler, module) => {
  writeFiles(folder, { 'caller.ts': CALLER, 'program.ts': PROGRAM })
  const options = [...module.split(' '), '--noEmit', '--lib', 'es2022', '--types', 'node']
  expect(compile(folder, ['caller.ts', 'program.ts'], options, compiler)).toBe('')
})

test('browsers need no types of Node', () => {
  writeFiles(folder, { 'caller.ts': CALLER })
  const lib = 'es2022,dom,dom.iterable,dom.asynciterable'
  const options = ['--module', 'esnext', '--moduleResolution', 'bundler', '--lib', lib, '--typeRoots', 'none']
  expect(compile(folder, ['caller.ts'], [...options, '--noEmit'])).toBe('')
})

test('a bundle for browsers needs nothing of Node, and has only what is used', async () => {
  const bundle = async (contents: string) => {
    const stdin = { contents, resolveDir: folder }
    const { outputFiles } = await build({ stdin, bundle: true, platform: 'browser', format: 'esm', write: false })
    return outputFiles[0]?.text ?? ''
  }
  const whole = await bundle("export * from 'agent-work-service-client'")
  expect(whole).toContain('AgentWorkClient = class')
  expect(whole).not.toMatch(/node:|process\.|Buffer/)
  const part = await bundle("export { verifyWebhook } from 'agent-work-service-client'")
  expect(part).toContain('WebhookSignatureError')
  expect(part).not.toMatch(/AgentWorkClient|\/v1\/tasks/)
})

test('plain JavaScript can import the package', () => {
  const code = `
    import { AgentWorkClient } from 'agent-work-service-client'
    try { new AgentWorkClient({ url: 'localhost', key: 'a' }) } catch (error) { console.log(error.message) }`
  writeFiles(folder, { 'plain.mjs': code })
  const output = execFileSync(process.execPath, [join(folder, 'plain.mjs')], { encoding: 'utf8' })
  expect(output).toContain("option 'url' must be an address such as http://127.0.0.1:8787, not 'localhost'")
})
