import { expect, test } from 'vitest'
import type { ApprovalRow } from '../../../../src/platform/store/tables.ts'
import type { EarlierRun } from '../../../../src/execution/runs/resume/run-state.ts'
import { MAX_TRANSCRIPT_CHARS, StoredRun } from '../../../../src/execution/runs/resume/stored-run.ts'

const request = (approval_id: string, key: string) => ({ approval_id, key, is_answered: false, is_used: false })

/** What an earlier process stored, with a request for each of these keys; only some have an approval. */
function earlierRun(keys: string[], approvalIds: string[]): EarlierRun {
  return {
    state: { brief: '{"files":[]}', checkpoint: '{"step":2}' } as EarlierRun['state'],
    entries: [],
    nextSeq: 4,
    logged: { step: 0, called: [], returned: [] },
    requests: keys.map((key, n) => request(`apr_${n + 1}`, key)),
    approvals: approvalIds.map((id) => ({ id }) as ApprovalRow),
  }
}

test('a new run has no state, and continues the state of an earlier process', () => {
  expect(new StoredRun(null)).toMatchObject({ brief: null, checkpoint: null, nextSeq: 1, mayHaveState: false })
  const stored = new StoredRun(earlierRun(['a'], ['apr_1']))
  expect(stored).toMatchObject({ brief: { files: [] }, checkpoint: { step: 2 }, nextSeq: 4, mayHaveState: true })
  expect(stored.hasOpenRequest('apr_1')).toBe(true)
})

test('a run can continue elsewhere once it has a brief, and a custom agent once it has a checkpoint', () => {
  const stored = new StoredRun(null)
  expect(stored.canContinueElsewhere('harness')).toBe(false)
  stored.brief = new StoredRun(earlierRun([], [])).brief
  expect([stored.canContinueElsewhere('harness'), stored.canContinueElsewhere('custom')]).toEqual([true, false])
  stored.keepCheckpoint({ step: 1 }, 0)
  expect(stored.canContinueElsewhere('custom')).toBe(true)
  stored.transcriptChars = MAX_TRANSCRIPT_CHARS + 1
  expect([stored.canContinueElsewhere('harness'), stored.canContinueElsewhere('custom')]).toEqual([false, true])
})

test('a request is open until its answer was sent to the agent', () => {
  const stored = new StoredRun(null)
  stored.addRequest('apr_1', 'a')
  stored.addRequest('apr_2', 'b')
  stored.markAnswered('apr_1', 0)
  expect([stored.hasOpenRequest('apr_1'), stored.hasOpenRequest('apr_2')]).toEqual([false, true])
  stored.markAnswered('apr_2', 0)
  expect(stored.hasOpenRequest()).toBe(false)
})

test('a checkpoint drops the requests that were answered ten seconds or longer before it', () => {
  const stored = new StoredRun(null)
  for (const [n, key] of ['old', 'recent', 'open'].entries()) stored.addRequest(`apr_${n}`, key)
  stored.markAnswered('apr_0', 0)
  stored.markAnswered('apr_1', 5_000)
  stored.keepCheckpoint(null, 10_000)
  expect(stored.requests).toEqual([
    { approval_id: 'apr_1', key: 'recent', is_answered: true, is_used: true },
    request('apr_2', 'open'),
  ])
})

test('an approval of an earlier process is taken once for each request with its key', () => {
  const stored = new StoredRun(earlierRun(['a', 'a', 'a', 'b'], ['apr_1', 'apr_3']))
  expect(stored.takeEarlierApproval('a')).toEqual({ id: 'apr_1' })
  // The second request was never stored, so its approval does not exist.
  expect(stored.takeEarlierApproval('a')).toEqual({ id: 'apr_3' })
  expect([stored.takeEarlierApproval('a'), stored.takeEarlierApproval('b')]).toEqual([null, null])
  expect(stored.requests).toHaveLength(4)
})
