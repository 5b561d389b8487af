import type { Json } from '../base/json.ts'
import type { Brief } from '../base/protocol.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { CellExit } from '../sandbox/driver.ts'
import { hear, MOST_ARTIFACTS, type NewArtifact } from './agent-lines.ts'
import type { Listener, OpenCell } from './cells.ts'
import type { Run } from './run.ts'
import { RunLog } from './run-log.ts'

/** How a run came to its end, before anybody judged it. */
export type Outcome = { artifacts: NewArtifact[] } & (
  | { kind: 'output'; output: Json }
  | { kind: 'error'; message: string }
  | { kind: 'crashed'; exit: CellExit }
  | { kind: 'flooded' }
  | { kind: 'timeout' }
  | { kind: 'ended' }
)

/** An agent that says more than this says nothing worth keeping. */
const MOST_EVENTS = 200_000
/** Lines that wait for the log; beyond it the agent's pipe is left unread. */
const MOST_BACKLOG = 4096

/** Gives the agent its brief and listens until it has an output, fails, runs out of time or is ended from outside. */
export async function converse(ctx: Ctx, run: Run, cell: OpenCell, brief: Brief): Promise<Outcome> {
  const log = new RunLog(ctx, run)
  run.flush = () => settled(log)
  const artifacts: NewArtifact[] = []
  const outcome = await new Promise<Outcome>((resolve) => {
    cell.start(run.taskId, brief, listener({ ctx, run, cell, log, artifacts, end: resolve }))
    void run.ended.then(() => resolve({ kind: 'ended', artifacts }))
    void run.time.passed(run.constraints.max_runtime_s * 1000).then(() => resolve({ kind: 'timeout', artifacts }))
  })
  run.time.stop()
  await log.flush()
  return outcome
}

interface Conversation {
  ctx: Ctx
  run: Run
  cell: OpenCell
  log: RunLog
  artifacts: NewArtifact[]
  end: (outcome: Outcome) => void
}

function listener({ ctx, run, cell, log, artifacts, end }: Conversation): Listener {
  let events = 0
  return {
    exit: (exit) => end({ kind: 'crashed', exit, artifacts }),
    line(line) {
      const heard = hear(line)
      if (heard.kind === 'event') {
        if (++events > MOST_EVENTS) return end({ kind: 'flooded', artifacts })
        log.push(heard.event)
        if (log.backlog > MOST_BACKLOG) holdBack(cell, log)
      } else if (heard.kind === 'artifact') {
        if (artifacts.length < MOST_ARTIFACTS) artifacts.push(heard.artifact)
      } else if (heard.kind === 'refused') {
        ctx.world.log.warn({ task: run.taskId, why: heard.why }, 'agent line refused')
      } else {
        end({ ...heard, artifacts })
      }
    },
  }
}

/** What the agent wrote before it asked is read before the answer is written. */
async function settled(log: RunLog): Promise<void> {
  await new Promise(setImmediate)
  await log.flush()
}

function holdBack(cell: OpenCell, log: RunLog): void {
  cell.pause()
  void log.flush().finally(() => cell.resume())
}
