import { expect, test } from 'vitest'
import { LazyAbort } from '../../../../src/platform/base/lazy-abort.ts'
import { endRun, RunEnding } from '../../../../src/execution/runs/session/run-ending.ts'
import type { TaskRun } from '../../../../src/execution/runs/session/task-run.ts'

test('the first end of a session counts', async () => {
  const ending = new RunEnding()
  ending.endWith({ kind: 'timeout' })
  ending.endWith({ kind: 'flooded' })
  ending.endFor('cancelled')
  expect(await ending.whenEnded).toEqual({ kind: 'timeout' })
})

test('a run that is ended from outside keeps its first reason, and its signal is aborted', async () => {
  const ending = new RunEnding()
  expect([ending.reason, ending.over.isAborted]).toEqual([null, false])
  ending.endFor('parked')
  ending.endFor('cancelled')
  expect([ending.reason, ending.over.isAborted]).toEqual(['parked', true])
  expect(await ending.whenEnded).toEqual({ kind: 'ended' })
})

test('an accepted output replaces the way in which the program ended, but not an end from outside', () => {
  const ending = new RunEnding()
  expect(ending.toFinalEnd({ kind: 'timeout' })).toEqual({ kind: 'timeout' })
  expect([ending.finish({ n: 1 }), ending.finish({ n: 2 })]).toEqual([true, false])
  expect(ending.toFinalEnd({ kind: 'timeout' })).toEqual({ kind: 'output', output: { n: 1 } })
  expect(ending.toFinalEnd({ kind: 'output', output: 'later' })).toEqual({ kind: 'output', output: { n: 1 } })
  expect(ending.toFinalEnd({ kind: 'ended' })).toEqual({ kind: 'ended' })
})

test('an accepted output does not end the session, because the program may still deliver files', async () => {
  const ending = new RunEnding()
  ending.finish('done')
  await ending.whenFinished
  ending.endWith({ kind: 'error', message: 'exited' })
  expect(await ending.whenEnded).toEqual({ kind: 'error', message: 'exited' })
})

test('the end of a run aborts its model calls', () => {
  const run = { ending: new RunEnding(), model: { over: new LazyAbort() } } as Pick<TaskRun, 'ending' | 'model'>
  endRun(run, 'lost_lease')
  expect([run.ending.reason, run.model.over.isAborted]).toEqual(['lost_lease', true])
})
