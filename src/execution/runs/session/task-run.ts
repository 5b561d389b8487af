import type { GatedRun } from '../../../approvals/policy/gated-request.ts'
import { LazyAbort } from '../../../platform/base/lazy-abort.ts'
import { newToken } from '../../../platform/base/tokens.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { WorkingTime } from '../../../platform/ctx/working-time.ts'
import type { QueuedTask } from '../../../platform/store/tables.ts'
import type { NewEvent } from '../../../work/events/event-types.ts'
import { parseTaskInput } from '../../../work/tasks/view.ts'
import { chooseModels } from '../../models/choose-model.ts'
import { type ModelRun, newModelState } from '../../models/model-run.ts'
import { ToolLog } from '../../models/tool-log.ts'
import { createGatedRun } from '../requests/gated-run.ts'
import { createParking } from '../resume/park-run.ts'
import type { Parking } from '../resume/parking.ts'
import { type EarlierRun, saveEntries } from '../resume/run-state.ts'
import { StoredRun } from '../resume/stored-run.ts'
import { RunEnding } from './run-ending.ts'
import { type RunFacts, type RunSetup, toRunFacts } from './run-facts.ts'
import { logDelay, RunLog, type SaveEntries } from './run-log.ts'
import { recordRunEvent, type RunUsage, toRunUsage } from './run-usage.ts'

/** The tokens of an agent. They exist only in memory, so they become invalid when the process ends. */
export interface RunTokens {
  task: string
  gate: string
  /** The tokens are valid only on the socket or pipe of this cell. Null until the run has a cell. */
  cellId: string | null
}

/** One execution of a task on this replica, in parts. A function takes the parts that it needs. */
export interface TaskRun {
  readonly facts: RunFacts
  readonly tokens: RunTokens
  readonly usage: RunUsage
  /** Counts against max_runtime_s; the time that the run waits for an approval does not count. */
  readonly workingTime: WorkingTime
  readonly ending: RunEnding
  readonly log: RunLog
  readonly stored: StoredRun
  readonly parking: Parking
  readonly model: ModelRun
  /** The run as the approvals see it. */
  readonly gate: GatedRun
}

/** `onWait` is called when the run starts to wait for a person, because its slot is then free. */
export function createTaskRun(
  ctx: Ctx,
  task: QueuedTask,
  setup: RunSetup,
  earlier: EarlierRun | null,
  onWait: () => void,
): TaskRun {
  const stored = new StoredRun(earlier)
  const facts = toRunFacts(task, setup, stored)
  const usage = toRunUsage(earlier)
  const workingTime = new WorkingTime(ctx.world.clock, onWait)
  const ending = new RunEnding()
  const save: SaveEntries = (tx, entries) => saveEntries(tx, { facts, stored, usage, workingTime, model }, entries)
  const log = new RunLog(ctx, facts, save, logDelay(ctx, facts.cellKind))
  const record = (event: NewEvent) => recordRunEvent(ctx.config, { usage, log, ending }, event)
  const model: ModelRun = {
    ...startModelRun(ctx, task, facts),
    spentMicros: earlier ? Math.max(earlier.state.spent_micros, task.cost_micros) : 0,
    toolLog: facts.cellKind === 'custom' ? new ToolLog(record) : null,
    flushLog: () => log.flush(),
  }
  const parking = createParking(ctx, { facts, stored, workingTime, ending, log, model })
  const tokens = { task: newToken('task', ctx.world.random), gate: newToken('gate', ctx.world.random), cellId: null }
  const parts = { facts, tokens, usage, workingTime, ending, log, stored, parking, model }
  return { ...parts, gate: createGatedRun(ctx, parts) }
}

function startModelRun({ config }: Ctx, task: QueuedTask, facts: RunFacts): Omit<ModelRun, 'flushLog'> {
  const { taskId, epoch, projectId, wedge, taskType, files, type, constraints } = facts
  const [model, ...fallbacks] = chooseModels(config, type.harness.tier, task.tier)
  return {
    taskId,
    epoch,
    projectId,
    wedge,
    taskType,
    input: parseTaskInput(task),
    model,
    fallbacks,
    files,
    maxCostMicros: Math.round(constraints.max_cost_usd * 1e6),
    over: new LazyAbort(),
    ...newModelState(),
  }
}
