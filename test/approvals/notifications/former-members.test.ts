import { expect, test } from 'vitest'
import { anyStore } from '../../app.ts'
import { ask, readApproval } from './chat-app.ts'
import { type Decision, expectMessagesShow, openPeopleApp, type PeopleApp, waitForMessages } from './deciding-people.ts'

const NOT_APPROVER = /ou are not an approver of this request|role 'viewer' cannot do this/
const NOT_MEMBER = /is not linked to a member of the team|you are not a member any more|^401 /

anyStore((store) => {
  test('a member who is demoted or removed after the message cannot decide in Slack, Telegram, mail or the console', async () => {
    const app = await openPeopleApp(store, 1)
    const { approval } = await ask(app, 'payout', { text: 'hello' })
    await waitForMessages(app, approval)
    const ready = await getReady(app, approval)
    expect(ready.map(({ via }) => via)).toEqual(['slack', 'telegram', 'mail', 'console'])

    for (const { member } of ready) await asOwner(app, 'PUT', member, { role: 'viewer' })
    for (const { via, decisions } of ready) {
      for (const decide of decisions) expect([via, await decide(app.url)]).toEqual([via, matching(NOT_APPROVER)])
    }
    for (const { member } of ready) await asOwner(app, 'DELETE', member)
    for (const { via, decisions } of ready) {
      for (const decide of decisions) expect([via, await decide(app.url)]).toEqual([via, matching(NOT_MEMBER)])
    }
    expect(await readApproval(app, approval)).toMatchObject({ status: 'pending', decided_by: null, votes: [] })

    await app.call('POST', `/v1/approvals/${approval}/reject`, {}, { key: app.owner.session })
    await expectMessagesShow(app, approval, 'Rejected by owner@example.com')
  })
})

const matching = (pattern: RegExp) => expect.stringMatching(pattern)

/** Both decisions of every member, with forms and prompts that were opened while the member could still decide. */
async function getReady(app: PeopleApp, approval: string) {
  const ready = []
  for (const { via, memberId, prepare } of app.people) {
    if (memberId === null) continue
    const decisions = []
    for (const decision of ['approve', 'reject'] satisfies Decision[]) decisions.push(await prepare(approval, decision))
    ready.push({ via, member: `/v1/members/${memberId}`, decisions })
  }
  return ready
}

async function asOwner(app: PeopleApp, method: string, path: string, body?: object): Promise<void> {
  expect((await app.call(method, path, body, { key: app.owner.session })).status).toBe(method === 'PUT' ? 200 : 204)
}
