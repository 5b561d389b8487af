import { expect, test } from 'vitest'
import type { PipeResponse, PipeResponsePart } from '../../../../src/platform/contract/agent-protocol.ts'
import type { PipePlane } from '../../../../src/platform/http/pipe-plane.ts'
import { createPipeRequestHandler } from '../../../../src/execution/runs/requests/pipe-requests.ts'
import type { AgentCell } from '../../../../src/execution/runs/cells/agent-cell.ts'
import type { TaskRun } from '../../../../src/execution/runs/session/task-run.ts'

/** Sends pipe requests of one run to `plane`, and collects the responses. */
function openPipe(plane: PipePlane<TaskRun>) {
  const responses: PipeResponse[] = []
  const reply = (run: string, request: number, part: PipeResponsePart) =>
    run === 'task_1.1' && responses.push({ answer: request, ...part }) > 0
  const cell = { reply, whenDrained: () => {} } as Partial<AgentCell> as AgentCell
  const handle = createPipeRequestHandler(plane, { facts: { cellRunId: 'task_1.1' } } as TaskRun, cell)
  const request = { token: '', method: 'GET', path: '/' }
  const send = (number: number, length = 100) => handle({ ask: number, ...request }, length)
  /** Sends two requests in one line, with these sizes. */
  const sendTwo = (number: number, first: number, then: number) => {
    const body = { text: '' }
    const frame = JSON.stringify({ ...request, body }).length
    const before = { ...request, body: { text: 'x'.repeat(first - frame) } }
    handle({ ask: number, ...request, first: before }, first + then)
  }
  const sendFile = (number: number, length: number) =>
    handle({ ask: number, ...request, path: '/v1/internal/files' }, length)
  return { responses, send, sendTwo, sendFile }
}

test('a response contains the number of its request', async () => {
  const { responses, send } = openPipe(
    async (_run, _request, responder) => void responder.send({ status: 204, body: null }),
  )
  for (const number of [3, 1]) send(number)
  expect(responses).toEqual([
    { answer: 3, status: 204, body: null },
    { answer: 1, status: 204, body: null },
  ])
})

test('a run with more than 16 requests at once gets 429, and can send more after it has its responses', async () => {
  const waiting: (() => void)[] = []
  const { responses, send } = openPipe((_run, _request, responder) => {
    return new Promise((resolve) => {
      waiting.push(() => {
        responder.send({ status: 200, body: null })
        resolve()
      })
    })
  })
  for (let number = 1; number <= 17; number++) send(number)
  expect(responses).toEqual([{ answer: 17, status: 429, body: { error: 'too many requests at once' } }])
  for (const respond of waiting.splice(0)) respond()
  await new Promise(setImmediate)
  send(18)
  for (const respond of waiting) respond()
  expect(responses.at(-1)).toEqual({ answer: 18, status: 200, body: null })
})

test('a request with a body over 1 MiB gets 413', () => {
  const { responses, send, sendTwo } = openPipe(async () => {})
  const refused = { status: 413, body: { error: 'body is larger than 1 MiB' } }
  send(1, 1024 * 1024 + 1)
  expect(responses).toEqual([{ answer: 1, ...refused }])
  sendTwo(2, 1024 * 1024, 1024 * 1024)
  sendTwo(3, 1024 * 1024 + 1, 1000)
  sendTwo(4, 1000, 1024 * 1024 + 1)
  expect(responses.slice(1)).toEqual([3, 4].map((answer) => ({ answer, ...refused })))
})

test('a request that stores a file may have 15 MiB', () => {
  const { responses, sendFile } = openPipe(async () => {})
  sendFile(1, 15 * 1024 * 1024)
  expect(responses).toEqual([])
  sendFile(2, 15 * 1024 * 1024 + 1)
  expect(responses).toEqual([{ answer: 2, status: 413, body: { error: 'body is larger than 15 MiB' } }])
})
