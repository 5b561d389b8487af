import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { QUESTION_WEDGE } from '../approvals/requests/question-app.ts'
import { callApi } from '../http.ts'
import {
  accessibilityViolations,
  consoleFixture,
  HAS_HORIZONTAL_SCROLL,
  LAYOUT_SHIFT,
  violationsInBothThemes,
  waitForStatus,
} from './console-browser.ts'
import { approveWithoutHold } from './held-approvals.ts'
import { createMailConnection, linkMail, linkTo, receiveMail } from './notified-member.ts'
import { createMembers } from './sample-data.ts'

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1440, height: 900 }
/** Browsers log every error response; the page shows why the link cannot be used. */
const LINK_OPTIONS = { signedIn: false, viewport: PHONE, expected: /status of (401|403|410)/ }

/** How often the page asks for changes. */
const POLL_MS = 5_000

/** A request that expires after a few seconds. */
const HASTY_WEDGE = {
  'hasty/wedge.json': {
    wedge: 'hasty',
    connections: ['post'],
    approvals: [{ action: 'post:send', risk: 'low', required: true, ttl_s: 4 }],
    task_types: { send: {} },
  },
  'hasty/rehearsals/send.json': [
    { call: { tool: 'act', input: { connection: 'post', capability: 'post:send', payload: { to: '{{input.to}}' } } } },
    { output: { sent: true } },
  ],
}

/** A request that two people must approve. */
const PAIR_WEDGE = {
  'pair/wedge.json': {
    wedge: 'pair',
    connections: ['post'],
    approvals: [{ action: 'post:send', risk: 'low', required: true, needed: 2 }],
    task_types: { send: {} },
  },
  'pair/rehearsals/send.json': HASTY_WEDGE['hasty/rehearsals/send.json'],
}

describe('decision page', () => {
  const console = consoleFixture()
  let tokens: Awaited<ReturnType<typeof createMembers>>
  beforeAll(async () => {
    writeFiles(console().wedgesDir, { ...QUESTION_WEDGE, ...HASTY_WEDGE, ...PAIR_WEDGE })
    tokens = await createMembers(console())
    await createMailConnection(console())
    const saved = await console().call('PUT', '/v1/notifiers/mail', { connection: 'outbox' })
    expect(saved.status).toBe(200)
    await linkMail(console(), tokens.operator, 'operator@example.com')
  })

  /** Starts a task that asks for a decision; `path` is the link of the operator's mail, which contains the text. */
  const askByMail = async (task: { wedge: string; task_type: string; input: object }, text: string) => {
    const { id } = (await console().call('POST', '/v1/tasks', task)).body
    await waitForStatus(console(), id, 'awaiting_approval')
    const mail = await receiveMail(console(), 'operator@example.com', new RegExp(text))
    const [approval] = (await console().call('GET', `/v1/approvals?task_id=${id}`)).body.data
    return { taskId: String(id), approvalId: String(approval.approval_id), path: linkTo('/decide', mail) }
  }
  let letters = 0
  /** Each letter has an address of its own, so that a second attempt of a test does not find the mail of the first. */
  const askLetter = (recipient: string) => {
    const to = `${++letters}.${recipient}`
    return askByMail({ wedge: 'letters', task_type: 'write', input: { to, subject: 'Hello' } }, to)
  }
  const readApproval = async (id: string) => (await console().call('GET', `/v1/approvals/${id}`)).body
  const approve = async (page: Page, taskId: string) => {
    await page.getByRole('button', { name: /^Approve/ }).click()
    await approveWithoutHold(console(), taskId, () =>
      page.getByRole('button', { name: /press again to confirm/ }).click(),
    )
  }
  const openLink = (path: string, options = {}) => console().open(path, { ...LINK_OPTIONS, ...options })

  test('decision page: opening the link changes nothing, approving works once and names the member', async () => {
    const { path, taskId, approvalId } = await askLetter('once@example.com')
    const page = await openLink(path)
    await page.getByRole('heading', { name: /once@example\.com/ }).waitFor()
    await page.getByText('You decide as operator@example.com.').waitFor()
    expect(await readApproval(approvalId)).toMatchObject({ status: 'pending' })
    expect(await accessibilityViolations(page)).toEqual([])
    await approve(page, taskId)
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await waitForStatus(console(), taskId, 'succeeded')
    expect((await readApproval(approvalId)).decided_by).toMatchObject({ kind: 'member', name: 'operator@example.com' })
    await page.reload()
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
    await page.getByText('The request is decided: Approved by operator@example.com.', { exact: true }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('decision page: an edited payload is sent', async () => {
    const { path, taskId } = await askLetter('edited@example.com')
    const page = await openLink(path)
    await page.getByRole('button', { name: /^Edit/ }).click()
    await page.getByLabel('Subject').fill('Good morning')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Approve with 1 change' }).click()
    await approveWithoutHold(console(), taskId, () =>
      page.getByRole('button', { name: /press again to confirm/ }).click(),
    )
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await waitForStatus(console(), taskId, 'succeeded')
    const letters = console().received.filter(({ body }) => body.includes('edited@example.com'))
    expect(letters.map(({ body }) => JSON.parse(body).subject)).toContain('Good morning')
  })

  test('decision page: a request is sent back with a note', async () => {
    const { path, approvalId } = await askLetter('revised@example.com')
    const page = await openLink(path)
    await page.getByRole('button', { name: /^Revise/ }).click()
    await page.getByLabel('Note for the agent').fill('Write to her in Spanish.')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send back' }).click()
    await page.getByRole('heading', { name: 'Sent back' }).waitFor()
    const sentBack = { status: 'rejected', revise: true, reason: 'Write to her in Spanish.' }
    expect(await readApproval(approvalId)).toMatchObject(sentBack)
  })

  test('decision page: a request is rejected with a reason', async () => {
    const { path, taskId, approvalId } = await askLetter('rejected@example.com')
    const page = await openLink(path)
    await page.getByRole('button', { name: /^Reject/ }).click()
    await page.getByLabel('Reason (optional)').fill('Wrong address.')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Reject and end task' }).click()
    await page.getByRole('heading', { name: 'Rejected' }).waitFor()
    await waitForStatus(console(), taskId, 'rejected')
    expect(await readApproval(approvalId)).toMatchObject({ status: 'rejected', reason: 'Wrong address.' })
  })

  test('decision page: it shows earlier decisions, who started the task, and files that open without a sign-in', async () => {
    const earlier = await askLetter('earlier@example.com')
    const no = { reason: 'She asked us to stop.' }
    await callApi(console().url, tokens.admin, 'POST', `/v1/approvals/${earlier.approvalId}/reject`, no)
    const file = await console().call('POST', '/v1/files?name=terms.json', { days: 30 })
    const to = `${++letters}.files@example.com`
    const task = { wedge: 'letters', task_type: 'write', input: { to, subject: 'Hello' }, files: [file.body.id] }
    const { path } = await askByMail(task, to)
    const page = await openLink(path)
    const decisions = page.getByRole('list', { name: 'Earlier decisions on this action' })
    await decisions.getByText('“She asked us to stop.”').waitFor()
    await decisions
      .getByText(/by admin@example\.com/)
      .first()
      .waitFor()
    // The pages of the console need a sign-in.
    expect(await decisions.getByRole('link').count()).toBe(0)
    await page.getByText(/Started by: API key/).waitFor()
    await page.getByRole('button', { name: 'Preview terms.json' }).click()
    await page.getByRole('dialog').getByText('30').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
  })

  test('decision page: a question is answered', async () => {
    const question = { wedge: 'ask', task_type: 'text', input: { question: 'Which colour?', to: 'team' } }
    const { path, taskId } = await askByMail(question, 'Which colour')
    const page = await openLink(path)
    await page.getByRole('heading', { name: 'Which colour?' }).waitFor()
    await page.getByLabel('Your answer').fill('Green')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send answer' }).click()
    await page.getByRole('heading', { name: 'Answer sent' }).waitFor()
    await waitForStatus(console(), taskId, 'succeeded')
    const { output } = (await console().call('GET', `/v1/tasks/${taskId}`)).body
    expect(output).toMatchObject({ got: { answer: 'Green' } })
  })

  test('decision page: an approval of two people counts the votes, and an edit must be read first', async () => {
    const pair = { wedge: 'pair', task_type: 'send', input: { to: 'pair@example.com' } }
    const { path, taskId, approvalId } = await askByMail(pair, 'pair@example.com')
    const page = await openLink(path, { movesClock: true })
    await page.getByText('pair@example.com').first().waitFor()
    const seen = await readApproval(approvalId)
    const edited = { to: 'both@example.com' }
    await callApi(console().url, tokens.admin, 'POST', `/v1/approvals/${approvalId}/approve`, { edited })
    const { hash } = new URL(path, console().url)
    const unread = { decision: 'approve', payload_sha256: seen.payload_sha256 }
    expect((await callApi(console().url, hash.slice(1), 'POST', '/v1/decide', unread)).status).toBe(409)
    await page.clock.fastForward(POLL_MS)
    await page.getByText('both@example.com').first().waitFor()
    await page.getByText(/^1 of 2 approved/).waitFor()
    await page.getByText('Changed by admin@example.com:').waitFor()
    await page.getByText(/^Waiting for 1 of: .*operator@example\.com/).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await approve(page, taskId)
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await waitForStatus(console(), taskId, 'succeeded')
  })

  test('decision page: the first of two approvals is counted', async () => {
    const pair = { wedge: 'pair', task_type: 'send', input: { to: 'first@example.com' } }
    const { path, taskId, approvalId } = await askByMail(pair, 'first@example.com')
    const page = await openLink(path)
    await approve(page, taskId)
    await page.getByRole('heading', { name: 'Your approval is counted' }).waitFor()
    await page.getByText(/^1 of 2 approvals\./).waitFor()
    expect(await readApproval(approvalId)).toMatchObject({ status: 'pending' })
  })

  test('decision page: an approval of high risk can be undone for five seconds', async () => {
    const refund = { order_id: 'D-1', amount_usd: 84.5, reason: 'arrived damaged', customer_email: 'undo@example.com' }
    const task = { wedge: 'refund-desk', task_type: 'handle_request', input: refund }
    const { path, taskId, approvalId } = await askByMail(task, 'undo@example.com')
    const page = await openLink(path)
    await page.getByRole('button', { name: /^Approve/ }).click()
    await page.getByRole('button', { name: /press again to confirm/ }).click()
    const undo = page.getByRole('button', { name: /^Undo/ })
    await undo.waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await undo.click()
    await page.getByRole('button', { name: /^Approve/ }).waitFor()
    expect(await readApproval(approvalId)).toMatchObject({ status: 'pending' })
    await approve(page, taskId)
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    await waitForStatus(console(), taskId, 'succeeded')
  })

  test('decision page: it does not say Approved if the task was cancelled before the approval counted', async () => {
    const refund = { order_id: 'D-2', amount_usd: 84.5, reason: 'arrived damaged', customer_email: 'gone@example.com' }
    const task = { wedge: 'refund-desk', task_type: 'handle_request', input: refund }
    const { path, taskId } = await askByMail(task, 'gone@example.com')
    const page = await openLink(path)
    await page.route(/\/v1\/decide$/, (route) => {
      const body = route.request().postDataJSON()
      return body ? route.continue({ postData: JSON.stringify({ ...body, hold_s: 60 }) }) : route.continue()
    })
    await page.getByRole('button', { name: /^Approve/ }).click()
    await page.getByRole('button', { name: /press again to confirm/ }).click()
    await page.getByRole('button', { name: /^Undo/ }).waitFor()
    await console().call('POST', `/v1/tasks/${taskId}/cancel`)
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
    expect(await page.getByRole('heading', { name: 'Approved' }).count()).toBe(0)
  })

  test('decision page: an open page shows that another member has decided', async () => {
    const { path, approvalId } = await askLetter('decided@example.com')
    const page = await openLink(path, { movesClock: true })
    await page.getByRole('button', { name: /^Approve/ }).waitFor()
    await callApi(console().url, tokens.admin, 'POST', `/v1/approvals/${approvalId}/approve`, {})
    await page.clock.fastForward(POLL_MS)
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
    await page.getByText(/decided/).waitFor()
  })

  test('decision page: an expired request says so', async () => {
    const hasty = { wedge: 'hasty', task_type: 'send', input: { to: 'expired@example.com' } }
    const { path, taskId } = await askByMail(hasty, 'expired@example.com')
    await waitForEnd(taskId)
    const page = await openLink(path)
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
    await page.getByText(/Expired: nobody decided in time/).waitFor()
  })

  const waitForEnd = (taskId: string) =>
    expect.poll(async () => (await console().call('GET', `/v1/tasks/${taskId}`)).body.status).toBe('expired')

  test('decision page: a demoted member is refused and reads why', async () => {
    const { path, approvalId } = await askLetter('demoted@example.com')
    const page = await openLink(path)
    await page.getByRole('button', { name: /^Approve/ }).click()
    const members = (await callApi(console().url, tokens.owner, 'GET', '/v1/members')).body.data
    const { id } = members.find(({ email }: { email: string }) => email === 'operator@example.com')
    await callApi(console().url, tokens.owner, 'PUT', `/v1/members/${id}`, { role: 'viewer' })
    await page.getByRole('button', { name: /press again to confirm/ }).click()
    await page.getByRole('heading', { name: 'You cannot decide about this approval' }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    expect(await readApproval(approvalId)).toMatchObject({ status: 'pending' })
    await callApi(console().url, tokens.owner, 'PUT', `/v1/members/${id}`, { role: 'operator' })
  })

  test('decision page: a link without a token or with an unknown one is not valid', async () => {
    for (const path of ['/decide', '/decide#dl_unknown']) {
      const page = await openLink(path)
      await page.getByRole('heading', { name: 'This link is not valid' }).waitFor()
      expect(await accessibilityViolations(page)).toEqual([])
    }
  })

  test('decision page: a console session that has ended does not lead away from it', async () => {
    const { path } = await askLetter('session@example.com')
    const page = await openLink(path, { signedIn: true, token: 'svc_key_gone' })
    await page.getByRole('button', { name: /^Approve/ }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/decide')
    expect(await page.evaluate(`sessionStorage.getItem('svc.token')`)).toBe('svc_key_gone')
  })

  test('decision page: it fits a phone and a desktop in both themes', async () => {
    const { path } = await askLetter('themes@example.com')
    for (const viewport of [PHONE, DESKTOP]) {
      const page = await openLink(path, { viewport })
      await page.getByRole('button', { name: /^Approve/ }).waitFor()
      const name = `${viewport.width} pixels`
      expect(await page.evaluate(LAYOUT_SHIFT), name).toBeLessThan(0.01)
      expect(await violationsInBothThemes(page), name).toEqual([])
      expect(await page.evaluate(HAS_HORIZONTAL_SCROLL), name).toBe(false)
    }
  })
})
