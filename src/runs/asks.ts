import { type Problem, tooLarge, tooMany } from '../base/problem.ts'
import type { PlaneAsk } from '../base/protocol.ts'
import { BODY_LIMIT } from '../http/server.ts'
import { type Asker, type LineDoor, refusal } from '../http/lines.ts'
import type { OpenCell } from './cells.ts'
import type { Run } from './run.ts'

/** The harness asks one thing after another; more at once than this is not the harness. */
const MOST_AT_ONCE = 16

/** Takes the questions that a run asks by its cell's pipe; `length` is that of the line. */
export function answering(door: LineDoor<Run>, run: Run, cell: OpenCell): (ask: PlaneAsk, length: number) => void {
  let open = 0
  return (question, length) => {
    const asker: Asker = {
      tell: (word) => cell.answer(run.taskId, question.ask, word),
      whenRoom: (call) => cell.whenRoom(call),
    }
    const refused = refusalOf(open, length, question)
    if (refused) asker.tell(refusal(refused))
    else {
      open++
      void door(run, question, asker).finally(() => open--)
    }
  }
}

function refusalOf(open: number, length: number, { first }: PlaneAsk): Problem | null {
  // Two questions in one line have two bodies.
  const before = first && length > BODY_LIMIT ? JSON.stringify(first).length : 0
  if (Math.max(before, length - before) > BODY_LIMIT) return tooLarge('body is larger than 1 MiB')
  return open < MOST_AT_ONCE ? null : tooMany('too many questions at once', 1)
}
