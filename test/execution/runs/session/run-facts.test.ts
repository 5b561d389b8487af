import { expect, test } from 'vitest'
import type { FileRow, TaskRow } from '../../../../src/platform/store/tables.ts'
import { type RunSetup, toRunFacts } from '../../../../src/execution/runs/session/run-facts.ts'
import type { StoredRun } from '../../../../src/execution/runs/resume/stored-run.ts'

const task = {
  id: 'task_1',
  project_id: 'prj_1',
  epoch: 3,
  task_type: 'triage',
  constraints: '{"max_runtime_s":60}',
} as TaskRow
const setup = {
  wedge: {
    manifest: {
      approvals: [
        { action: 'Sign_Letter', required: true },
        { action: 'call', required: false },
      ],
    },
  },
  type: { harness: { resume: true } },
  files: [{ id: 'file_old' }, { id: 'file_new' }] as FileRow[],
  cellKind: 'harness',
} as RunSetup

test('the name of a run in its cell has the epoch of its claim', () => {
  const facts = toRunFacts(task, setup, { brief: null })
  expect(facts).toMatchObject({ taskId: 'task_1', epoch: 3, cellRunId: 'task_1.3', isResumable: true })
})

test('required approvals of the wedge pass the gate, besides the general patterns', () => {
  const { gatePatterns } = toRunFacts(task, setup, { brief: null })
  expect(gatePatterns).toEqual(expect.arrayContaining(['refund', 'sign_letter']))
  expect(gatePatterns).not.toContain('call')
})

test('a run that continues keeps the files that it knew', () => {
  const brief = { files: [{ id: 'file_old' }] } as StoredRun['brief']
  expect(toRunFacts(task, setup, { brief: null }).files).toHaveLength(2)
  expect(toRunFacts(task, setup, { brief }).files).toEqual([{ id: 'file_old' }])
})
