import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { anyStore } from '../../app.ts'
import {
  callsFor,
  type GatedApp,
  gatedWedgeFiles,
  moveClock,
  requestedApprovalId,
  sharedGatedApp,
  startAction,
  writeWedge,
} from '../decisions/gated-app.ts'

const DAY_S = 86_400
const MAX_TTL_S = 30 * DAY_S

const APPROVALS = [
  { action: 'crm:refund', ttl_s: 2 * DAY_S },
  { action: 'crm', ttl_s: DAY_S },
  { action: 'send', ttl_s: 7200 },
  { action: 'note', ttl_s: 3600 },
  { action: 'twice', ttl_s: 7200 },
  { action: 'TWICE', ttl_s: 600 },
  { action: 'slow', ttl_s: MAX_TTL_S },
  { action: 'short', ttl_s: 30 },
  { action: 'plain' },
  { action: 'archive_order', risk: 'low', required: true, ttl_s: 5 * DAY_S },
]

anyStore((store) => {
  describe('ttl_s of an approval in wedge.json', () => {
    const shared = sharedGatedApp(store, { wedges: gatedWedgeFiles('gate', { approvals: APPROVALS }) })

    test.each([
      ['crm:refund', 2 * DAY_S, 'the entry with the whole name counts, not the entry with a part of it'],
      ['crm:other', DAY_S, 'an entry with a part of the name counts'],
      ['send_note', 3600, 'of several entries with a part of the name the shortest counts'],
      ['twice', 600, 'of several entries with the whole name the shortest counts'],
      ['plain', 300, 'an entry without ttl_s has the default'],
      ['unnamed', 300, 'an action without an entry has the default'],
    ])('%s expires after %i s: %s', async (action, seconds) => {
      const app = shared()
      const task = await startAction(app, { connection: 'crm', action })
      expect(await lifetimeOf(app, await requestedApprovalId(app, task.id))).toBe(seconds)
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })

    test('a tool call has the lifetime of its entry too', async () => {
      const app = shared()
      const input = { name: 'archive_order', args: { id: 1 } }
      const task = await app.createTask({ wedge: 'gate', task_type: 'tool', input })
      expect(await lifetimeOf(app, await requestedApprovalId(app, task.id))).toBe(5 * DAY_S)
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })

    test('a request cannot change the lifetime', async () => {
      const app = shared()
      const more = { constraints: { ttl_s: 9, approval_ttl_s: 9 }, ttl_s: 9 }
      const task = await startAction(app, { action: 'crm:refund', payload: { ttl_s: 9 }, ttl_s: 9 }, more)
      const id = await requestedApprovalId(app, task.id)
      expect(await lifetimeOf(app, id)).toBe(2 * DAY_S)
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })

    test('an approval can be edited after the default lifetime, and a short one expires before it', async () => {
      const app = shared()
      const [long, short] = [await startAction(app, { action: 'slow' }), await startAction(app, { action: 'short' })]
      const id = await requestedApprovalId(app, long.id)
      await requestedApprovalId(app, short.id)
      await app.clock.advance(31_000)
      await waitUntilExpired(app, short.id)
      await moveClock(app, 3600)
      const edited = { text: 'later' }
      expect((await app.call('POST', `/v1/approvals/${id}/approve`, { edited })).status).toBe(200)
      expect(await app.finished(long.id)).toMatchObject({ status: 'succeeded' })
      expect(callsFor(app, id)).toHaveLength(1)
    })

    test('an approval with 30 days can be decided after 29 days', async () => {
      const app = shared()
      const task = await startAction(app, { action: 'slow' })
      const id = await requestedApprovalId(app, task.id)
      await moveClock(app, 29 * DAY_S)
      expect((await app.call('GET', `/v1/approvals/${id}`)).body.status).toBe('pending')
      expect((await app.call('POST', `/v1/approvals/${id}/approve`, {})).status).toBe(200)
      expect(await app.finished(task.id)).toMatchObject({ status: 'succeeded' })
      expect(callsFor(app, id)).toHaveLength(1)
    })

    test('an approval with 30 days expires after 30 days, and ends its task as expired', async () => {
      const app = shared()
      const task = await startAction(app, { action: 'slow' })
      const id = await requestedApprovalId(app, task.id)
      await moveClock(app, MAX_TTL_S)
      const late = await app.call('POST', `/v1/approvals/${id}/approve`, {})
      expect(late).toMatchObject({ status: 409, body: { error: 'approval already decided (expired)' } })
      await waitUntilExpired(app, task.id)
      expect(callsFor(app, id)).toHaveLength(0)
    })

    test('a wedge above the limit cannot be used, and its problem names the field, the value and the limit', async () => {
      const app = shared()
      const approvals = [{ action: 'a' }, { action: 'b', ttl_s: MAX_TTL_S + 1 }]
      writeWedge(app, gatedWedgeFiles('slow', { approvals }))
      const message = `approvals.1.ttl_s is ${MAX_TTL_S + 1}, but SVC_APPROVAL_TTL_MAX_S is ${MAX_TTL_S}`
      const task = await app.call('POST', '/v1/tasks', { wedge: 'slow', task_type: 'act' })
      expect(task).toMatchObject({ status: 400, body: { error: "unknown wedge 'slow'" } })
      const { data } = (await app.call('GET', '/v1/wedges')).body
      const listed = data.find(({ wedge }: { wedge: string }) => wedge === 'slow')
      expect(listed.problems).toEqual([{ file: 'wedge.json', line: 16, message }])
    })

    test('GET /v1/wedges/:wedge shows ttl_s', async () => {
      const { body } = await shared().call('GET', '/v1/wedges/gate')
      expect(body.manifest.approvals).toEqual(APPROVALS)
    })
  })

  describe('the setting SVC_APPROVAL_TTL_MAX_S', () => {
    const approvals = [{ action: 'send', ttl_s: 90 * DAY_S }]
    const shared = sharedGatedApp(store, {
      wedges: gatedWedgeFiles('gate', { approvals }),
      env: { SVC_APPROVAL_TTL_MAX_S: String(90 * DAY_S) },
    })

    test('the setting raises the limit', async () => {
      const app = shared()
      const task = await startAction(app)
      expect(await lifetimeOf(app, await requestedApprovalId(app, task.id))).toBe(90 * DAY_S)
      await app.call('POST', `/v1/tasks/${task.id}/cancel`)
    })
  })
})

test('SVC_APPROVAL_TTL_S above SVC_APPROVAL_TTL_MAX_S is refused at the start', () => {
  const load = (ttl: string, max: string) => loadConfig({ SVC_APPROVAL_TTL_S: ttl, SVC_APPROVAL_TTL_MAX_S: max })
  expect(load('60', '60')).toMatchObject({ approvalTtlS: 60, approvalTtlMaxS: 60 })
  expect(() => load('61', '60')).toThrow('SVC_APPROVAL_TTL_S must be at most SVC_APPROVAL_TTL_MAX_S (60)')
  expect(loadConfig({}).approvalTtlMaxS).toBe(2_592_000)
})

async function lifetimeOf(app: GatedApp, approvalId: string): Promise<number> {
  const { created_at, expires_at } = (await app.call('GET', `/v1/approvals/${approvalId}`)).body
  return (Date.parse(expires_at) - Date.parse(created_at)) / 1000
}

/** Advances second by second. No advance is left behind, because it would set back a clock that is moved meanwhile. */
async function waitUntilExpired(app: GatedApp, taskId: string): Promise<void> {
  const readStatus = async () => {
    await app.clock.advance(1_000)
    return (await app.call('GET', `/v1/tasks/${taskId}`)).body
  }
  await expect.poll(readStatus).toMatchObject({ status: 'expired', error: { reason: 'expired' } })
}
