import { expect, test } from 'vitest'
import type { PipeResponse, PipeResponsePart } from '../../src/contract/agent-protocol.ts'
import type { PipePlane } from '../../src/http/pipe-plane.ts'
import { createPipeRequestHandler } from '../../src/runs/pipe-requests.ts'
import type { AgentCell } from '../../src/runs/agent-cell.ts'
import type { TaskRun } from '../../src/runs/task-run.ts'

/** The questions of one run, and what it was told; `door` is the plane behind it. */
function asked(door: PipePlane<TaskRun>) {
  const told: PipeResponse[] = []
  const answer = (run: string, ask: number, word: PipeResponsePart) =>
    run === 'task_1' && told.push({ answer: ask, ...word }) > 0
  const cell = { reply: answer, whenDrained: () => {} } as Partial<AgentCell> as AgentCell
  const take = createPipeRequestHandler(door, { taskId: 'task_1' } as TaskRun, cell)
  const question = { token: '', method: 'GET', path: '/' }
  const ask = (number: number, length = 100) => take({ ask: number, ...question }, length)
  /** One question behind another, each of that size. */
  const askBoth = (number: number, first: number, then: number) => {
    const body = { text: '' }
    const frame = JSON.stringify({ ...question, body }).length
    const before = { ...question, body: { text: 'x'.repeat(first - frame) } }
    take({ ask: number, ...question, first: before }, first + then)
  }
  return { told, ask, askBoth }
}

test('an answer names its question', async () => {
  const { told, ask } = asked(async (_run, _question, asker) => void asker.send({ status: 204, body: null }))
  for (const number of [3, 1]) ask(number)
  expect(told).toEqual([
    { answer: 3, status: 204, body: null },
    { answer: 1, status: 204, body: null },
  ])
})

test('a run that asks too much at once is told so, and is heard again when it has its answers', async () => {
  const waiting: (() => void)[] = []
  const { told, ask } = asked((_run, _question, asker) => {
    return new Promise((resolve) => {
      waiting.push(() => {
        asker.send({ status: 200, body: null })
        resolve()
      })
    })
  })
  for (let number = 1; number <= 17; number++) ask(number)
  expect(told).toEqual([{ answer: 17, status: 429, body: { error: 'too many requests at once' } }])
  for (const answer of waiting.splice(0)) answer()
  await new Promise(setImmediate)
  ask(18)
  for (const answer of waiting) answer()
  expect(told.at(-1)).toEqual({ answer: 18, status: 200, body: null })
})

test('a question larger than a body may be is refused', () => {
  const { told, ask, askBoth } = asked(async () => {})
  const refused = { status: 413, body: { error: 'body is larger than 1 MiB' } }
  ask(1, 1024 * 1024 + 1)
  expect(told).toEqual([{ answer: 1, ...refused }])
  askBoth(2, 1024 * 1024, 1024 * 1024)
  askBoth(3, 1024 * 1024 + 1, 1000)
  askBoth(4, 1000, 1024 * 1024 + 1)
  expect(told.slice(1)).toEqual([3, 4].map((answer) => ({ answer, ...refused })))
})
