import { beforeAll, describe, expect, test } from 'vitest'
import { callsFor, requestedApprovalId, sharedGatedApp } from '../approvals/decisions/gated-app.ts'
import { anyStore } from '../app.ts'
import { scriptedAgentFolder } from '../execution/runs/scripted-agent.ts'
import { addShop, shopWedgeFiles } from './operations-app.ts'

const agents = scriptedAgentFolder()

const OPERATIONS = [
  {
    name: 'refunds.create',
    description: 'Refund a charge.',
    method: 'POST',
    path: '/charges/{id}/refunds',
    body: 'form',
    input_schema: { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] },
  },
  { name: 'refunds.list', method: 'GET', path: '/refunds', query: { limit: '{limit}' }, read: true },
]

const REHEARSALS = {
  'gate/rehearsals/act.json': [
    { call: { tool: 'shop__refunds_list', input: { limit: 3 } } },
    { call: { tool: 'shop__refunds_create', input: { id: '{{input.id}}', amount: 5 } } },
    { output: '{{last}}' },
  ],
  'gate/rehearsals/thrice.json': [
    { call: { tool: 'act', input: { capability: 'shop:refunds.create', payload: { id: '{{input.id}}', amount: 5 } } } },
    { output: '{{last}}' },
  ],
}

const OFFERED = [
  {
    name: 'refunds.create',
    capability: 'shop:refunds.create',
    description: 'Refund a charge.',
    input_schema: {
      type: 'object',
      properties: {
        id: { type: ['string', 'number'], description: 'Part of the path /charges/{id}/refunds.' },
        amount: { type: 'integer' },
      },
      required: ['amount', 'id'],
    },
    class: 'ask',
  },
  {
    name: 'refunds.list',
    capability: 'shop:refunds.list',
    description: 'GET /refunds',
    input_schema: { type: 'object', properties: { limit: {} }, additionalProperties: false },
    class: 'read',
  },
]

anyStore((store) => {
  describe('tools by name', () => {
    const shared = sharedGatedApp(store, { wedges: { ...shopWedgeFiles(), ...REHEARSALS } })
    beforeAll(async () => void (await addShop(shared(), OPERATIONS)))

    test('a rehearsal calls operations by name; the read needs no approval and the action waits', async () => {
      const app = shared()
      const { id } = await app.createTask({ wedge: 'gate', task_type: 'act', input: { id: 'ch_1' } })
      const approvalId = await requestedApprovalId(app, id)
      const { body } = await app.call('GET', `/v1/approvals/${approvalId}`)
      expect(body).toMatchObject({
        action: 'shop:refunds.create',
        connection: 'shop',
        preview: { id: 'ch_1', amount: 5 },
      })
      await app.call('POST', `/v1/approvals/${approvalId}/approve`, { edited: { amount: 4 } })
      expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true, edited: true } })
      expect(callsFor(app, approvalId)).toMatchObject([{ url: '/v1/charges/ch_1/refunds', body: 'amount=4' }])
      expect(app.outside.received.map(({ url }) => url)).toContain('/v1/refunds?limit=3')
      const called = (await app.events(id)).filter(({ event }) => event === 'tool.called')
      expect(called.map(({ data }) => [data.data.tool, data.data.input])).toEqual([
        ['shop__refunds_list', { limit: 3 }],
        ['shop__refunds_create', { capability: 'shop:refunds.create', connection: 'shop' }],
      ])
    })

    test('a run that is parked at a tool by name continues after the approval and calls it once', async () => {
      const app = shared()
      const { id } = await app.createTask({ wedge: 'gate', task_type: 'act', input: { id: 'ch_2' } })
      const approvalId = await requestedApprovalId(app, id)
      await expect
        .poll(async () => {
          await app.clock.advance(1_000)
          return (await app.ctx.db.selectFrom('tasks').select('replica').where('id', '=', id).execute())[0]?.replica
        })
        .toBeNull()
      await app.call('POST', `/v1/approvals/${approvalId}/approve`)
      expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
      expect(callsFor(app, approvalId)).toMatchObject([{ url: '/v1/charges/ch_2/refunds' }])
      const called = (await app.events(id)).filter(({ event }) => event === 'tool.called')
      expect(called.map(({ data }) => data.data.tool)).toEqual(['shop__refunds_list', 'shop__refunds_create'])
    })

    test('a rehearsal may use act with the capability of an operation', async () => {
      const app = shared()
      const { id } = await app.createTask({ wedge: 'gate', task_type: 'thrice', input: { id: 'ch_3' } })
      await app.call('POST', `/v1/approvals/${await requestedApprovalId(app, id)}/approve`)
      expect(await app.finished(id)).toMatchObject({ status: 'succeeded', output: { ok: true } })
    })
  })

  describe('the brief', () => {
    const narrow = { connections: ['crm', { name: 'shop', tools: ['refunds.list'] }] }
    const shared = sharedGatedApp(store, {
      wedges: {
        ...shopWedgeFiles(),
        'narrow/wedge.json': { wedge: 'narrow', title: 'Narrow', task_types: { act: {} }, ...narrow },
      },
      env: agents,
    })
    beforeAll(async () => void (await addShop(shared(), OPERATIONS)))
    const run = async (wedge: string, js: string, more: object = {}) => {
      const { id } = await shared().createTask({ wedge, task_type: 'act', input: { js }, ...more })
      return (await shared().finished(id)).output
    }

    test('lists the granted tools of each connection that has tools by name', async () => {
      expect(await run('gate', 'say({ output: brief.connections })')).toEqual(
        expect.arrayContaining([
          { name: 'crm', kind: 'custom' },
          { name: 'shop', kind: 'custom', tools: OFFERED },
        ]),
      )
      const onlyReads = await run('gate', 'say({ output: brief.connections })', { tools: ['read'] })
      expect(onlyReads).toContainEqual({ name: 'shop', kind: 'custom', tools: [OFFERED[1]] })
    })

    test('leaves out a tool that the wedge does not list, and the tool is refused', async () => {
      const js = `say({ output: [
        brief.connections.find(({ name }) => name === 'shop').tools.map(({ name }) => name),
        (await ask('POST', '/v1/internal/reads/shop:refunds.list', { arguments: {} })).status,
        await ask('POST', '/v1/internal/actions/shop:refunds.create', { payload: { id: '1', amount: 1 } }),
        await ask('POST', '/v1/internal/actions/shop:refunds.create', { connection: 'shop', payload: { id: '1', amount: 1 } }),
        (await ask('GET', '/v1/internal/reads/crm?path=x')).status,
      ] })`
      expect(await run('narrow', js)).toEqual([
        ['refunds.list'],
        200,
        {
          status: 400,
          body: { error: "no granted connection serves 'shop:refunds.create': name one in 'connection'" },
        },
        { status: 400, body: { error: "the wedge does not grant 'shop:refunds.create'" } },
        200,
      ])
    })

    test('a wedge that narrows its connections is shown as its author wrote it', async () => {
      const { body } = await shared().call('GET', '/v1/wedges/narrow')
      expect(body.manifest.connections).toEqual(narrow.connections)
    })
  })
})
