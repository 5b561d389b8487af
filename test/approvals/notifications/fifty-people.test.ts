import { expect, onTestFinished, test } from 'vitest'
import { callsFor, startReplica, stopReplica } from '../decisions/gated-app.ts'
import { ask, HOOK_SECRET, readApproval } from './chat-app.ts'
import { openBoltApp, openGrammyBot } from './chat-judges.ts'
import {
  decideAtOnce,
  type DecidingPerson,
  type Decision,
  expectMessagesShow,
  hasWon,
  openPeopleApp,
  type PeopleApp,
  waitForMessages,
} from './deciding-people.ts'

/** Ten people decide in each of five ways. */
const EACH = 10

/** The team with two replicas on PostgreSQL. */
async function openTwoReplicas(): Promise<{ app: PeopleApp; urls: string[] }> {
  const app = await openPeopleApp('postgres', EACH)
  const other = await startReplica(app)
  onTestFinished(() => stopReplica(app, other))
  return { app, urls: [app.url, other.url] }
}

/** Asks, waits until every person has a message, and gets the decisions ready, so that they can be sent at the same time. */
async function askEverybody(
  app: PeopleApp,
  action: string,
  people: readonly DecidingPerson[],
  decisionOf: (n: number) => Decision,
) {
  const asked = await ask(app, action, { text: 'hello' })
  await waitForMessages(app, asked.approval)
  const decisions = []
  for (const [n, person] of people.entries()) decisions.push(await person.prepare(asked.approval, decisionOf(n)))
  expect((await readApproval(app, asked.approval)).status).toBe('pending')
  return { ...asked, decisions }
}

const auditEntries = async (app: PeopleApp, action: string, approval: string) =>
  (await app.call('GET', `/v1/audit?action=${action}&subject=${approval}&limit=100`)).body.data

const ROUNDS: [string, (n: number) => Decision][] = [
  ['approve', () => 'approve'],
  ['approve or reject', (n) => (n % 3 === 0 ? 'reject' : 'approve')],
]

test('fifty people who decide at once in Slack, Telegram, mail, console and API on two replicas have one outcome', async () => {
  const { app, urls } = await openTwoReplicas()
  for (const [round, decisionOf] of ROUNDS) {
    const { task, approval, decisions } = await askEverybody(app, 'payout', app.people, decisionOf)
    const told = await decideAtOnce(app.people, decisions, urls)
    const [winner, second] = told.filter(hasWon)
    expect([round, winner?.name, second]).toEqual([round, expect.any(String), undefined])
    // An approval that was made in a chat can be undone for some seconds, and nobody else can decide meanwhile.
    const isPending = async () => (await readApproval(app, approval)).status === 'pending'
    await expect
      .poll(async () => (await isPending()) && (await app.clock.advance(5_000), await isPending()))
      .toBe(false)
    const { status, decided_by } = await readApproval(app, approval)
    expect(decided_by.name).toBe(winner?.name)
    const isApproved = status === 'approved'
    expect(status).toBe(decisionOf(told.findIndex(hasWon)) === 'approve' ? 'approved' : 'rejected')
    const outcome = `${isApproved ? 'Approved' : 'Rejected'} by ${winner?.name}`
    const tooLate = new RegExp(
      `pproval already decided \\(${status}\\)|the request is decided: ${outcome}|${winner?.name} has approved this already`,
      'i',
    )
    for (const answer of told.filter((one) => one !== winner)) expect(answer.text).toMatch(tooLate)

    expect((await app.finished(task)).status).toBe(isApproved ? 'succeeded' : 'rejected')
    expect(callsFor(app, approval)).toHaveLength(isApproved ? 1 : 0)
    const resolved = (await app.events(task)).filter(({ event }) => event === 'approval.resolved')
    expect(resolved.map(({ data }) => data.data.decision)).toEqual([status])
    expect(await auditEntries(app, `approval.${status}`, approval)).toHaveLength(1)
    await expectMessagesShow(app, approval, outcome)
  }
  await expectRealClicks(app)
})

/** The libraries of Slack and Telegram accept the clicks of the test, and read the same approvals from them. */
async function expectRealClicks({ clicks, people }: PeopleApp): Promise<void> {
  const [bolt, grammy] = [await openBoltApp(HOOK_SECRET), openGrammyBot(HOOK_SECRET)]
  for (const body of clicks.slack) await bolt.deliver(body)
  for (const body of clicks.telegram) await grammy.deliver(body)
  const value = expect.stringMatching(/^apr_\w{26}:\w{24}$/)
  const clicksVia = (via: string) => ROUNDS.flatMap(() => people.filter((person) => person.via === via))
  expect(bolt.seen).toEqual(clicksVia('slack').map(({ name }) => ({ user: name.split('@')[0]?.toUpperCase(), value })))
  expect(grammy.seen).toEqual(
    clicksVia('telegram').map(({ name }) => ({
      chat: Number(/\d+/.exec(name)),
      data: expect.stringMatching(/^[cr]:apr_\w{26}:\w{24}:0$/),
    })),
  )
}

test('of thirty people who approve at once, three count if three are needed, and the action is sent once', async () => {
  const { app, urls } = await openTwoReplicas()
  // An approval in a chat can be undone, and no other vote is taken meanwhile.
  const people = app.people.filter(({ via }) => via !== 'slack' && via !== 'telegram')
  const { task, approval, decisions } = await askEverybody(app, 'pay_much', people, () => 'approve')
  const told = await decideAtOnce(people, decisions, urls)
  const counted = told.filter(({ text }) => text.startsWith('Your approval counts'))
  expect(counted.map(({ text }) => text).toSorted()).toEqual([
    'Your approval counts: 1 of 3.',
    'Your approval counts: 2 of 3.',
  ])
  const won = told.filter(hasWon)
  expect(won).toHaveLength(1)
  const { status, votes, decided_by } = await readApproval(app, approval)
  expect([status, decided_by.name]).toEqual(['approved', won[0]?.name])
  const voters: string[] = votes.map(({ by }: { by: { name: string } }) => by.name)
  expect(voters.toSorted()).toEqual([...counted, ...won].map(({ name }) => name).toSorted())
  for (const { text } of told.filter((one) => ![...counted, ...won].includes(one)))
    expect(text).toMatch(/pproval already decided \(approved\)|the request is decided: Approved by/)
  expect((await app.finished(task)).status).toBe('succeeded')
  expect(callsFor(app, approval)).toHaveLength(1)
  expect(await auditEntries(app, 'approval.voted', approval)).toHaveLength(2)
  expect(await auditEntries(app, 'approval.approved', approval)).toHaveLength(1)
  await expectMessagesShow(app, approval, `Approved by ${won[0]?.name}`)
})
