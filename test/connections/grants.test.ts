import { describe, expect, test } from 'vitest'
import {
  listMissingConnections,
  pickConnection,
  resolveGrant,
  toBriefConnections,
} from '../../src/connections/actions/grants.ts'
import type { Connection } from '../../src/connections/connection/rows.ts'
import { writeSecret } from '../../src/connections/setup/write-secret.ts'
import { anyStore } from '../stores.ts'
import { insertTestConnection, openTestContext, PROJECT } from './test-context.ts'

const manifest = { connections: ['mail', 'crm'] }

anyStore((store) => {
  test('a run is granted the declared connections of the founder and of its own client', async () => {
    const { ctx } = await openTestContext({ store })
    const founderMail = await insertTestConnection(ctx, { name: 'mail' })
    const ownMail = await insertTestConnection(ctx, { name: 'mail', owner_kind: 'client', owner_id: 'cli_1' })
    const crm = await insertTestConnection(ctx, { name: 'crm' })
    await insertTestConnection(ctx, { name: 'crm', owner_kind: 'client', owner_id: 'cli_2' })
    await insertTestConnection(ctx, { name: 'other' })
    await insertTestConnection(ctx, { name: 'mail', project_id: 'prj_2', owner_id: 'prj_2' })
    const ids = async (clientId: string | null) =>
      (await resolveGrant(ctx.db, { projectId: PROJECT, clientId, manifest })).connections
        .map((connection) => connection.id)
        .toSorted()
    expect(await ids('cli_1')).toEqual([ownMail.id, crm.id].toSorted())
    expect(await ids(null)).toEqual([founderMail.id, crm.id].toSorted())
    expect(
      (await resolveGrant(ctx.db, { projectId: PROJECT, clientId: null, manifest: { connections: [] } })).connections,
    ).toEqual([])
  })

  test('a declared connection is missing if it is not registered, has no secret or is not authorised', async () => {
    const { ctx, scope } = await openTestContext({ store })
    const declaring = { connections: ['mail', 'gmail', 'slack', 'crm'] }
    const mail = await insertTestConnection(ctx, { name: 'mail', kind: 'email' })
    await insertTestConnection(ctx, {
      name: 'gmail',
      kind: 'broker',
      config: { toolkit: 'gmail', connected_account_id: 'ca_1' },
    })
    await insertTestConnection(ctx, { name: 'slack', kind: 'broker', config: { toolkit: 'slack' } })
    expect(await listMissingConnections(ctx, declaring, PROJECT, null)).toEqual(['mail', 'slack', 'crm'])
    await writeSecret(ctx, scope, mail, 'x')
    expect(await listMissingConnections(ctx, declaring, PROJECT, null)).toEqual(['slack', 'crm'])
  })
})

/** `shop` is declared but not registered. */
const DECLARED = ['mail', 'work', 'home', 'crm', 'crm:eu', 'shop']

describe('choosing the connection for a capability', () => {
  const connection = (name: string, kind = 'custom', config = {}) =>
    ({ id: `conn_${name}`, name, kind, config }) as Connection
  const mail = connection('mail')
  const gmail = connection('work', 'broker', { toolkit: 'gmail', read_tools: ['GMAIL_LIST'] })
  const home = connection('home', 'broker', { toolkit: 'g-mail' })
  const grantOf = (...connections: Connection[]) => ({ declared: DECLARED, connections, narrowed: new Map() })
  const grant = grantOf(mail, gmail, home, connection('crm'), connection('crm:eu'))

  test.each([
    ['mail', undefined, 'mail'],
    ['mail:send', undefined, 'mail'],
    ['GMAIL_SEND_EMAIL', undefined, 'work'],
    ['gmail_send_email', undefined, 'work'],
    ['GMAIL_SEND_EMAIL', 'work', 'work'],
    ['G_MAIL_SEND', 'home', 'home'],
    ['anything', 'crm', 'crm'],
    ['any:thing', 'crm', 'crm'],
    ['Mail:Send', 'mail', 'mail'],
    ['crm:eu:refund', 'crm:eu', 'crm:eu'],
  ])('capability %s with connection %s uses %s', (capability, name, picked) => {
    expect(pickConnection(grant, capability, name).name).toBe(picked)
  })

  test.each(['send', 'mailer', 'GMAILER_X', 'mail send', 'SLACK_POST'])(
    'capability %s without a matching connection is 400',
    (capability) => {
      expect(() => pickConnection(grant, capability)).toThrow(expect.objectContaining({ status: 400 }))
    },
  )

  test.each([
    ['mail', 'crm'],
    ['mail:send', 'crm'],
    ['MAIL:send', 'crm'],
    ['shop:refund', 'crm'],
    ['crm:eu:refund', 'crm'],
    ['gmail_send_email', 'crm'],
    ['GMAIL_SEND_EMAIL', 'home'],
    ['STRIPE_CREATE_REFUND', 'work'],
    ['send', 'work'],
  ])('capability %s names another connection, so connection %s is 400', (capability, name) => {
    expect(() => pickConnection(grant, capability, name)).toThrow(expect.objectContaining({ status: 400 }))
  })

  test('a wedge that lists tools of a connection may use no others', () => {
    const narrowed = new Map([
      ['crm', ['refunds.create']],
      ['work', ['GMAIL_LIST']],
    ])
    const narrow = { ...grant, narrowed }
    expect(pickConnection(narrow, 'crm:refunds.create').name).toBe('crm')
    expect(pickConnection(narrow, 'GMAIL_LIST').name).toBe('work')
    expect(pickConnection(narrow, 'mail:send').name).toBe('mail')
    for (const [capability, name] of [
      ['crm:refunds.list'],
      ['crm'],
      ['crm', 'crm'],
      ['anything', 'crm'],
      ['GMAIL_SEND'],
    ])
      expect(() => pickConnection(narrow, capability ?? '', name)).toThrow(expect.objectContaining({ status: 400 }))
  })

  test('a connection outside the grant is 404', () => {
    expect(() => pickConnection(grant, 'mail', 'stripe')).toThrow(expect.objectContaining({ status: 404 }))
  })

  test('a capability that two connections serve is 400', () => {
    const ambiguous = grantOf(gmail, connection('other', 'broker', { toolkit: 'gmail' }))
    expect(() => pickConnection(ambiguous, 'GMAIL_SEND_EMAIL')).toThrow(/more than one connection/)
  })

  test('the agent sees names and kinds of its connections, and no addresses', async () => {
    const { ctx } = await openTestContext()
    const grantWithAddress = grantOf(connection('crm', 'custom', { api_url: 'https://x.test' }), gmail)
    expect(await toBriefConnections(ctx, grantWithAddress)).toEqual([
      { name: 'crm', kind: 'custom' },
      { name: 'work', kind: 'broker', toolkit: 'gmail', read_tools: ['GMAIL_LIST'] },
    ])
  })
})
