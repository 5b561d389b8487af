import { afterAll, beforeAll } from 'vitest'
import { addMember, signUpOwner } from '../../identity/accounts/members.ts'
import type { StoreKind } from '../../stores.ts'
import {
  gatedWedgeFiles,
  type GatedApp,
  openGatedApp,
  requestedApprovalId,
  startAction,
} from '../decisions/gated-app.ts'

/** Each action has another rule about who decides. */
export const PEOPLE_APPROVALS = [
  { action: 'pay', needed: 2 },
  { action: 'refund', approvers: 'admin', needed: 2 },
  { action: 'transfer', approvers: ['admin'] },
  { action: 'publish', approvers: ['OPERATOR-two@example.com'] },
  { action: 'own_work', exclude_requester: true },
  {
    action: 'wake',
    ttl_s: 3_600,
    approvers: ['operator-two@example.com'],
    escalate: [
      { after_s: 600, to: 'owner' },
      { after_s: 60, to: ['admin-two@example.com'] },
    ],
  },
  { action: 'remind', ttl_s: 3_600, escalate: [{ after_s: 60, to: 'admin' }] },
]

/** The members of the organisation with their sessions, by role. */
export type People = Record<'owner' | 'admin' | 'operator' | 'second' | 'viewer', { id: string; session: string }>

export interface PeopleApp extends GatedApp {
  people: People
}

export function sharedPeopleApp(store: StoreKind): () => PeopleApp {
  let app: PeopleApp
  beforeAll(async () => {
    const gated = await openGatedApp(store, gatedWedgeFiles('gate', { approvals: PEOPLE_APPROVALS }))
    app = { ...gated, people: await addPeople(gated) }
  })
  afterAll(async () => {
    await app?.stop()
    await app?.outside.close()
  })
  return () => app
}

async function addPeople(app: GatedApp): Promise<People> {
  const owner = await signUpOwner(app)
  const { body } = await app.call('GET', '/v1/members', undefined, { key: owner })
  return {
    owner: { id: body.data[0].id, session: owner },
    admin: await addMember(app, owner, 'admin'),
    operator: await addMember(app, owner, 'operator'),
    second: await addMember(app, owner, 'operator', 'second@example.com'),
    viewer: await addMember(app, owner, 'viewer'),
  }
}

/** A task that waits for a decision about the action. */
export async function askFor(app: PeopleApp, action: string, payload: object = { text: 'hello' }) {
  const task = await startAction(app, { action, payload })
  return { task: task.id, approval: await requestedApprovalId(app, task.id) }
}

export const decide = (app: PeopleApp, who: { session: string }, approval: string, decision: string, body?: object) =>
  app.call('POST', `/v1/approvals/${approval}/${decision}`, body, { key: who.session })

export const readApproval = async (app: PeopleApp, approval: string) =>
  (await app.call('GET', `/v1/approvals/${approval}`)).body
