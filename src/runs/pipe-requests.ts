import { type Problem, tooLarge, tooManyRequests } from '../base/problem.ts'
import type { PipeRequest } from '../contract/agent-protocol.ts'
import { MAX_BODY_BYTES } from '../http/server.ts'
import { type PipeCaller, type PipePlane, problemResponse } from '../http/pipe-plane.ts'
import type { AgentCell } from './agent-cell.ts'
import type { TaskRun } from './task-run.ts'

/** The harness asks one thing after another; more at once than this is not the harness. */
const MAX_CONCURRENT_REQUESTS = 16

/** Takes the questions that a run asks by its cell's pipe; `length` is that of the line. */
export function createPipeRequestHandler(
  door: PipePlane<TaskRun>,
  run: TaskRun,
  cell: AgentCell,
): (ask: PipeRequest, length: number) => void {
  let open = 0
  return (question, length) => {
    const asker: PipeCaller = {
      send: (word) => cell.reply(run.taskId, question.ask, word),
      whenDrained: (call) => cell.whenDrained(call),
    }
    const refused = refuseRequest(open, length, question)
    if (refused) asker.send(problemResponse(refused))
    else {
      open++
      void door(run, question, asker).finally(() => open--)
    }
  }
}

function refuseRequest(open: number, length: number, { first }: PipeRequest): Problem | null {
  // Two questions in one line have two bodies.
  const before = first && length > MAX_BODY_BYTES ? JSON.stringify(first).length : 0
  if (Math.max(before, length - before) > MAX_BODY_BYTES) return tooLarge('body is larger than 1 MiB')
  return open < MAX_CONCURRENT_REQUESTS ? null : tooManyRequests('too many questions at once', 1)
}
