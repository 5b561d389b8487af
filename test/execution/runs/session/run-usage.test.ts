import { expect, test } from 'vitest'
import type { Config } from '../../../../src/platform/config/config.ts'
import type { NewEvent } from '../../../../src/work/events/event-types.ts'
import { RunEnding } from '../../../../src/execution/runs/session/run-ending.ts'
import type { RunLog } from '../../../../src/execution/runs/session/run-log.ts'
import { recordRunEvent, runtimeLeftMs, toRunUsage } from '../../../../src/execution/runs/session/run-usage.ts'
import type { TaskRun } from '../../../../src/execution/runs/session/task-run.ts'
import type { EarlierRun } from '../../../../src/execution/runs/resume/run-state.ts'

const progress = (text: string): NewEvent => ({ type: 'progress', data: { text } })

test('a run that continues has used what its earlier processes used', () => {
  const state = { read_count: 3, gap_count: 2, stored_bytes: 500, worked_ms: 7_000 } as EarlierRun['state']
  expect(toRunUsage({ state })).toEqual({ readCount: 3, gapCount: 2, storedBytes: 500, workedMs: 7_000 })
  expect(toRunUsage(null)).toEqual({ readCount: 0, gapCount: 0, storedBytes: 0, workedMs: 0 })
})

test('the working time of earlier processes is not given again', () => {
  const facts = { constraints: { max_runtime_s: 60 } } as TaskRun['facts']
  expect(runtimeLeftMs({ facts, usage: { ...toRunUsage(null), workedMs: 20_000 } })).toBe(40_000)
})

test('an event over the storage limit of a run ends the run instead of entering its log', async () => {
  const pushed: NewEvent[] = []
  const log = { push: (event: NewEvent) => pushed.push(event) } as Partial<RunLog> as RunLog
  const run = { usage: toRunUsage(null), ending: new RunEnding(), log }
  const config = { maxRunMb: 1 } as Config
  recordRunEvent(config, run, progress('small'))
  expect(run.usage.storedBytes).toBe('{"text":"small"}'.length)
  recordRunEvent(config, run, progress('large'), 1024 * 1024)
  expect(pushed).toEqual([progress('small')])
  expect(await run.ending.whenEnded).toEqual({ kind: 'storage_full' })
})
