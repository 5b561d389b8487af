import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '../../../src/platform/base/json.ts'
import { createLineSplitter } from '../../../src/platform/base/lines.ts'
import { eventData, isPipeRequest } from './in-process-cell.ts'
import { testBrief, type FakePlane, modelStream, startFakePlane } from './fake-plane.ts'

let plane: FakePlane
let bundle: string
const children = new Set<ChildProcess>()

beforeAll(async () => {
  plane = startFakePlane((seen) =>
    JSON.stringify(seen.body).includes('slow')
      ? { hang: true }
      : { chunks: [modelStream('anthropic', { text: 'fine' })] },
  )
  bundle = path.join(plane.folder, 'harness.cjs')
  await build({
    entryPoints: ['src/programs/harness/main.ts'],
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    outfile: bundle,
    logLevel: 'error',
  })
})
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
})
afterAll(() => plane.close())

/** Runs the bundle with these lines on stdin; `ended` resolves with its output when it has exited. */
function harness(args: string[], inputs: object[], more: { hold?: boolean } = {}) {
  const options = ['--disallow-code-generation-from-strings', '--max-old-space-size=128']
  const child = spawn(process.execPath, [...options, bundle, ...args], { env: { TMPDIR: plane.folder }, stdio: 'pipe' })
  children.add(child)
  let stdout = ''
  let stderr = ''
  const answer = (line: JsonObject) => {
    if (!isPipeRequest(line)) return
    void plane.take(line, (word) => child.stdin.write(`${JSON.stringify({ run: line.run, ...word })}\n`))
  }
  const splitter = createLineSplitter(Number.POSITIVE_INFINITY, (line) => answer(JSON.parse(line)))
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
    splitter.push(Buffer.from(chunk))
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  for (const input of inputs) child.stdin.write(`${JSON.stringify(input)}\n`)
  if (!more.hold) child.stdin.end()
  const ended = new Promise<{ lines: JsonObject[]; stderr: string; code: number | null }>((resolve) => {
    child.once('close', (code) => {
      const lines = stdout.split('\n').filter((line) => line !== '')
      resolve({ lines: lines.map((line): JsonObject => JSON.parse(line)), stderr, code })
    })
  })
  return { child, ended }
}

function script(name: string, text: string): string {
  const dir = path.join(plane.folder, 'custom')
  mkdirSync(dir, { recursive: true })
  writeFileSync(path.join(dir, name), text)
  chmodSync(path.join(dir, name), 0o755)
  return dir
}

let outs = 0
/** Runs a program of the custom folder as a custom agent with its own out folder; stdin stays open as in the service. */
function runAsCustomAgent(dir: string, ...command: string[]) {
  const out = path.join(plane.folder, `out${outs++}`)
  const start = { run: 'r9', start: testBrief() }
  return { out, ...harness(['--custom-agent', '--dir', dir, '--out', out, '--', ...command], [start], { hold: true }) }
}

test('the harness bundle is one small file that runs briefs concurrently and exits after the last one', async () => {
  expect(statSync(bundle).size).toBeLessThan(60_000)
  const runs = Array.from({ length: 20 }, (_, n) => ({ run: `r${n}`, start: testBrief({ shape: 'decide' }) }))
  const { child, ended } = harness([], runs, { hold: true })
  let outputs = 0
  child.stdout?.on('data', (chunk: string) => {
    outputs += chunk.split('"output":').length - 1
    if (outputs === 20) child.stdin?.end()
  })
  const { lines, code, stderr } = await ended
  expect(lines[0]).toEqual({ ready: true })
  expect(lines.filter(({ output }) => output === 'fine').map(({ run }) => run)).toHaveLength(20)
  expect([code, stderr]).toEqual([0, ''])
})

test('a shell script can be a custom agent: it reads the brief, writes lines, and its files are delivered before its output', async () => {
  const dir = script(
    'agent.sh',
    `#!/bin/sh
read -r brief
case "$brief" in '{"v":1,'*) ;; *) exit 9 ;; esac
echo '{"event":"progress","data":{"text":"'"$PWD"'"},"run":"forged"}'
echo 'debugging'
echo '[1]'
printf 'a,b' > "$1/table.csv"
printf '{"output":{"ok":true}}'
`,
  )
  const out = path.join(plane.folder, `out${outs}`)
  const { lines, stderr, code } = await runAsCustomAgent(dir, './agent.sh', out).ended
  expect(lines).toEqual([
    { ready: true },
    { run: 'r9', event: 'progress', data: { text: dir } },
    { run: 'r9', artifact: { name: 'table.csv', content_type: 'text/csv; charset=utf-8', content_base64: 'YSxi' } },
    { run: 'r9', output: { ok: true } },
  ])
  expect(stderr).toBe('2 lines of the agent were ignored because they are not JSON objects\n')
  expect(code).toBe(0)
})

test('a custom agent has a minimal environment, may write many lines, and lines after its output are ignored', async () => {
  const dir = script(
    'agent.mjs',
    `import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const brief = JSON.parse(line)
  for (let n = 0; n < 20000; n++) console.log(JSON.stringify({ event: 'token.delta', data: { text: 'x'.repeat(100) } }))
  console.log(JSON.stringify({ output: { task: brief.task.id, env: Object.keys(process.env).sort() } }))
  console.log(JSON.stringify({ event: 'progress', data: { text: 'late' } }))
  console.log(JSON.stringify({ error: 'late' }))
}`,
  )
  const { lines } = await runAsCustomAgent(dir, 'node', 'agent.mjs').ended
  expect(eventData(lines, 'token.delta')).toHaveLength(20_000)
  expect(eventData(lines, 'progress')).toEqual([])
  expect(lines.at(-1)).toEqual({ run: 'r9', output: { task: 'task_1', env: ['HOME', 'LANG', 'PATH', 'TZ'] } })
})

test.each([
  ['exits without a message', 'exit 4', 'the agent ended without an output (exit code 4)'],
  [
    'writes to stderr before it exits',
    `for n in 1 2 3 4 5 6; do echo "line $n" >&2; done; printf 'bad\\000 \\033[31mend' >&2; exit 3`,
    'the agent ended without an output (exit code 3): line 3\nline 4\nline 5\nline 6\nbad   [31mend',
  ],
  [
    'writes warnings and then the reason, without the name of an error',
    `for n in 1 2; do echo "The model 'm' is deprecated and will reach end-of-life on November 30th, 2026" >&2
    echo 'Please migrate to a newer model. Visit https://docs.example for more information.' >&2; done
    echo '(node:7) [DEP0040] DeprecationWarning: The module is deprecated.' >&2; echo 'no order A-1' >&2; exit 1`,
    'the agent ended without an output (exit code 1): no order A-1',
  ],
  [
    'lacks a package',
    `node --input-type=module -e "import 'no-such-package'"`,
    expect.stringMatching(/\(exit code 1\): Error \[ERR_MODULE_NOT_FOUND\]: Cannot find package 'no-such-package' /),
  ],
  [
    'throws an error with many fields',
    `node -e "throw Object.assign(new TypeError('first\\nsecond'), { fields: Array.from({ length: 200 }, () => 'field') })"`,
    expect.stringMatching(/\(exit code 1\): TypeError: first\nsecond\n(?: +at \[eval\].*\n)* {2}fields: \[/),
  ],
  ['is killed', 'kill -9 $$', 'the agent ended without an output (SIGKILL)'],
])('a custom agent that %s fails its run', async (_what, command, error) => {
  const { lines } = await runAsCustomAgent(plane.folder, 'sh', '-c', command).ended
  expect(lines.at(-1)).toEqual({ run: 'r9', error, ended: true })
})

test('a custom agent that gives an error fails its run with it', async () => {
  const { lines } = await runAsCustomAgent(plane.folder, 'sh', '-c', `echo '{"error":"no luck"}'`).ended
  expect(lines.at(-1)).toEqual({ run: 'r9', error: 'no luck' })
})

test('a custom agent whose program does not exist fails its run', async () => {
  const { lines } = await runAsCustomAgent(plane.folder, './nothing').ended
  expect(lines.at(-1)?.error).toMatch(/^the agent could not be started: /)
})

test('a custom agent that keeps running after its output, or leaves children running, is killed', async () => {
  const command = `sleep 300 & echo '{"output":1}'; sleep 300`
  const { lines } = await runAsCustomAgent(plane.folder, 'sh', '-c', command).ended
  expect(lines.at(-1)).toEqual({ run: 'r9', output: 1 })
})

test('an abort kills the custom agent', async () => {
  const { child, ended } = runAsCustomAgent(
    plane.folder,
    'sh',
    '-c',
    `echo '{"event":"progress","data":{}}'; sleep 300`,
  )
  child.stdout?.on('data', (chunk: string) => {
    if (chunk.includes('progress')) child.stdin?.write('{"run":"r9","abort":true}\n')
  })
  expect((await ended).lines.at(-1)?.error).toBe('the agent ended without an output (SIGKILL)')
})

test('the harness of a custom agent without a brief exits when its input ends', async () => {
  const out = path.join(plane.folder, 'unused')
  const { lines, code } = await harness(['--custom-agent', '--out', out, '--', 'sh'], []).ended
  expect([lines, code, existsSync(out)]).toEqual([[{ ready: true }], 0, true])
})
