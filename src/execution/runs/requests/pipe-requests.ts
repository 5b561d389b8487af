import { type Problem, tooLarge, tooManyRequests } from '../../../platform/base/problem.ts'
import type { PipeRequest } from '../../../platform/contract/agent-protocol.ts'
import { MAX_BODY_BYTES } from '../../../platform/http/route.ts'
import { type PipeCaller, type PipePlane, problemResponse } from '../../../platform/http/pipe-plane.ts'
import { MAX_FILE_BODY_BYTES, RUN_FILES_PATH } from './file-routes.ts'
import type { AgentCell } from '../cells/agent-cell.ts'
import type { TaskRun } from '../session/task-run.ts'

/** The harness sends one request after the other; only a manipulated one sends more at once. */
const MAX_CONCURRENT_REQUESTS = 16

/** Handles the requests that a run sends over the pipe of its cell; `length` is the length of the line. */
export function createPipeRequestHandler(
  plane: PipePlane<TaskRun>,
  run: TaskRun,
  cell: AgentCell,
): (request: PipeRequest, length: number) => void {
  let open = 0
  return (request, length) => {
    const caller: PipeCaller = {
      send: (part) => cell.reply(run.facts.cellRunId, request.ask, part),
      whenDrained: (call) => cell.whenDrained(call),
    }
    const refused = refuseRequest(open, length, request)
    if (refused) caller.send(problemResponse(refused))
    else {
      open++
      void plane(run, request, caller).finally(() => open--)
    }
  }
}

function refuseRequest(open: number, length: number, { first, path }: PipeRequest): Problem | null {
  const limit = path === RUN_FILES_PATH ? MAX_FILE_BODY_BYTES : MAX_BODY_BYTES
  // A line with two requests may have two bodies of the maximum size.
  const before = first && length > limit ? JSON.stringify(first).length : 0
  if (Math.max(before, length - before) > limit) return tooLarge(`body is larger than ${limit / 1024 / 1024} MiB`)
  return open < MAX_CONCURRENT_REQUESTS ? null : tooManyRequests('too many requests at once', 1)
}
