import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { WorkerThread } from '../../../src/platform/ctx/worker-thread.ts'

/** A thread whose jobs are JavaScript, with an answer or without. */
const PROGRAM = `
  const { parentPort, threadId } = require('node:worker_threads')
  parentPort.on('message', (job) => {
    const answer = eval(job)
    parentPort.postMessage(answer)
  })`

function openThread(timeoutMs?: number): WorkerThread {
  const folder = mkdtempSync(join(tmpdir(), 'svc-thread-'))
  writeFileSync(join(folder, 'program.cjs'), PROGRAM)
  const thread = new WorkerThread(join(folder, 'program.cjs'), timeoutMs)
  onTestFinished(async () => {
    await thread.close()
    rmSync(folder, { recursive: true })
  })
  return thread
}

test('jobs run one after the other in one thread, without the settings of the process', async () => {
  const thread = openThread()
  const ids = await Promise.all([1, 2, 3].map(() => thread.run('({ result: threadId })', [])))
  expect(new Set(ids).size).toBe(1)
  expect(await thread.run('({ result: Object.keys(process.env).length })', [])).toBe(0)
})

test('a job that fails is an error of its caller, and the thread goes on', async () => {
  const thread = openThread()
  const id = await thread.run('({ result: threadId })', [])
  await expect(thread.run(`({ error: 'wrong' })`, [])).rejects.toThrow('wrong')
  const problem = `({ error: 'no', problem: { status: 413, message: 'too large' } })`
  await expect(thread.run(problem, [])).rejects.toMatchObject({ status: 413, message: 'too large' })
  expect(await thread.run('({ result: threadId })', [])).toBe(id)
})

test.each([
  ['does not end', 'for (;;);', { status: 422, message: 'reading the content takes too long' }],
  [
    'takes all memory',
    'const all = []; for (;;) all.push(new Array(1e6).fill(all.length))',
    { status: 422, message: 'reading the content takes too much memory' },
  ],
  ['ends the thread', 'process.exit(1)', { status: 503 }],
  ['throws', `throw new Error('unexpected')`, { status: 422, message: 'reading the content failed: unexpected' }],
])('a job that %s is stopped, and the next job gets a new thread', async (_, job, error) => {
  const thread = openThread(job.startsWith('for') ? 500 : undefined)
  await expect(thread.run(job, [])).rejects.toMatchObject(error)
  expect(await thread.run('({ result: 1 })', [])).toBe(1)
})

test('bytes move to the thread without a copy', async () => {
  const thread = openThread()
  const bytes = new Uint8Array(100)
  await thread.run('({ result: null })', [bytes.buffer])
  expect(bytes.length).toBe(0)
})

test('a thread whose program is missing is an outage, and not an error of the content', async () => {
  const thread = new WorkerThread(join(tmpdir(), 'svc-no-such-program.cjs'))
  await expect(thread.run('', [])).rejects.toMatchObject({ status: 503 })
})

test('a thread that is closed ends its job and refuses those that wait', async () => {
  const thread = openThread()
  const results = Promise.allSettled(['for (;;);', '({ result: 1 })'].map((job) => thread.run(job, [])))
  await thread.close()
  expect(await results).toMatchObject([
    { status: 'rejected', reason: { status: 503 } },
    { status: 'rejected', reason: { status: 503 } },
  ])
})
