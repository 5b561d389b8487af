import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { inMatrix } from '../matrix.ts'
import { callApi } from '../http.ts'
import { consoleFixture, waitForStatus } from './console-browser.ts'

/** Records every layout shift that no user input caused. */
const RECORD_SHIFTS = `
  window.layoutShifts = []
  const box = ({ x, y, width, height }) => [x, y, width, height].map(Math.round)
  const describeShift = ({ node, previousRect, currentRect }) =>
    (node?.textContent ?? '').slice(0, 40) + ' ' + box(previousRect) + ' to ' + box(currentRect)
  new PerformanceObserver((list) =>
    list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput).forEach(({ value, sources }) =>
      window.layoutShifts.push({ value, what: sources.map(describeShift).join(' | ') })),
  ).observe({ type: 'layout-shift', buffered: true })
`
const AFTER_RENDER = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50))))`

/** The sum of all shifts while a page is open; browsers rate 0.1 as good. */
const MAX_SHIFT = 0.02

const console = consoleFixture({ SVC_OPEN_SIGNUP: '1' })

describe.each(inMatrix([360, 1280], [360]))('layout shift at a width of %i pixels', (width) => {
  const viewport = { width, height: 800 }

  /** Signs up a new owner with an empty project. */
  const signUp = async (name: string) => {
    const body = { email: `${name}-${width}@example.com`, password: 'correct horse battery', organisation: 'Larkspur' }
    const token: string = (await console().call('POST', '/v1/auth/signup', body)).body.session_token
    const api = (method: string, path: string, body?: unknown) => callApi(console().url, token, method, path, body)
    const run = async (wedge: string, task_type: string, input: object): Promise<string> =>
      (await api('POST', '/v1/tasks', { wedge, task_type, input })).body.id
    const reach = (task: string, status: 'awaiting_approval' | 'succeeded') =>
      waitForStatus(console(), task, status, token)
    return {
      api,
      reach,
      open: (path: string) => openRecorded(path, { token }),
      refund: (order_id: string, amount_usd = 84.5) =>
        run('refund-desk', 'handle_request', {
          order_id,
          amount_usd,
          reason: 'broken',
          customer_email: 'ada@example.com',
        }),
      approvalOf: async (task: string): Promise<string> => {
        await reach(task, 'awaiting_approval')
        return (await api('GET', `/v1/approvals?task_id=${task}`)).body.data[0].approval_id
      },
    }
  }

  const openRecorded = async (path: string, options: { token?: string; signedIn?: boolean }) => {
    const page = await console().newPage({ ...options, viewport, reducedMotion: 'no-preference' })
    await page.addInitScript(RECORD_SHIFTS)
    await page.goto(console().url + path)
    return page
  }

  const readShifts = async (page: Page): Promise<{ sum: number; what: string }> => {
    await page.evaluate(AFTER_RENDER)
    const all: { value: number; what: string }[] = await page.evaluate('window.layoutShifts')
    const what = all.map(({ value, what }) => `${value.toFixed(4)}: ${what}`).join('\n')
    return { sum: all.reduce((sum, { value }) => sum + value, 0), what }
  }
  const expectNoShift = async (page: Page, name: string) => {
    const { sum, what } = await readShifts(page)
    process.stdout.write(`  ${name} at ${width} pixels: layout shift ${sum.toFixed(4)}\n`)
    expect(sum, `${name}\n${what}`).toBeLessThan(MAX_SHIFT)
  }

  test('layout shift: the measurement detects moved content', async () => {
    const { open } = await signUp('watch')
    const page = await open('/')
    await page.getByText('Try the refund desk').waitFor()
    await page.evaluate(`document.querySelector('main').style.paddingTop = '150px'`)
    expect((await readShifts(page)).sum).toBeGreaterThan(MAX_SHIFT)
  })

  test('layout shift: the home page does not move when approvals and tasks change', async () => {
    const { api, open, refund, reach, approvalOf } = await signUp('home')
    const page = await open('/')
    const current = page.locator('[aria-current="step"]')
    await current.getByText('Try the refund desk').waitFor()
    const task = await refund('H-1')
    const approval = await approvalOf(task)
    await current.getByRole('link', { name: 'Review' }).waitFor()
    await page.getByRole('heading', { name: '1 approval waits' }).waitFor()
    await api('POST', `/v1/approvals/${approval}/approve`)
    await reach(task, 'succeeded')
    await current.getByText('Connect a model').waitFor()
    await expectNoShift(page, 'home on the first visit')

    const later = await open('/')
    await later.getByText('Next: connect a model').waitFor()
    const pending = [await refund('H-2'), await refund('H-3'), await refund('H-4'), await refund('H-5')]
    for (const one of pending) await reach(one, 'awaiting_approval')
    await later.getByRole('heading', { name: '4 approvals wait' }).waitFor()
    await api('POST', `/v1/tasks/${pending[0]}/cancel`)
    await later.getByRole('heading', { name: '3 approvals wait' }).waitFor()
    await expectNoShift(later, 'home later')
  })

  test('layout shift: the approvals page does not move and keeps the open approval', async () => {
    const { api, open, refund, approvalOf } = await signUp('approvals')
    const page = await open('/approvals')
    await page.getByText('No pending approvals').waitFor()
    const rows = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem')
    const approvals: string[] = []
    for (const order of ['I-1', 'I-2', 'I-3']) {
      approvals.push(await approvalOf(await refund(order)))
      await expect.poll(() => rows.count()).toBe(approvals.length)
    }
    const card = page.getByRole('article', { name: 'Approval' })
    await card.getByText('I-1').first().waitFor()
    await api('POST', `/v1/approvals/${approvals[1]}/approve`)
    await expect.poll(() => rows.count()).toBe(2)
    await api('POST', `/v1/approvals/${approvals[0]}/reject`)
    await card.locator('[data-status="rejected"]').waitFor()
    await card.getByText('I-1').first().waitFor()
    await expectNoShift(page, 'approvals')

    await page.keyboard.press('j')
    await card.getByText('I-3').first().waitFor()
    const expires_at = new Date(Date.now() - 1_000).toISOString()
    const { db } = console().app.ctx
    await db.updateTable('approvals').set({ expires_at }).where('id', '=', String(approvals[2])).execute()
    await card.locator('[data-status="expired"]').waitFor()
    await expectNoShift(page, 'approvals with an expired one')
  })

  test('layout shift: the task list does not move when tasks change', async () => {
    const { open, refund, reach } = await signUp('tasks')
    const page = await open('/tasks')
    await page.getByText('No tasks yet').waitFor()
    await reach(await refund('L-1', 12), 'succeeded')
    await page.getByText('L-1').first().waitFor()
    await refund('L-2', 12)
    await reach(await refund('L-3'), 'awaiting_approval')
    await page.getByRole('button', { name: /2 new/ }).waitFor()
    await expectNoShift(page, 'tasks')
  })

  test('layout shift: the task page does not move while the task runs, asks and ends', async () => {
    const { api, open, refund, approvalOf } = await signUp('task')
    const longText = await open('/run?wedge=poems&task_type=recite')
    await longText.getByRole('button', { name: 'Run', exact: true }).click()
    await longText.waitForURL('**/tasks/task_*')
    await longText.getByText('Finished: succeeded').waitFor()
    await expectNoShift(longText, 'task with a long text')
    for (const [order, decision, end] of [
      ['T-1', 'approve', 'succeeded'],
      ['T-2', 'reject', 'rejected'],
    ] as const) {
      const task = await refund(order)
      const page = await open(`/tasks/${task}`)
      const approval = await approvalOf(task)
      await page.getByRole('article', { name: 'Approval' }).waitFor()
      await api('POST', `/v1/approvals/${approval}/${decision}`)
      await page.getByText(`Finished: ${end}`).waitFor()
      await page.getByRole('article', { name: 'Approval' }).waitFor({ state: 'detached' })
      await expectNoShift(page, `task that is ${end}`)
    }
  })

  test('layout shift: the cases page does not move when cases change', async () => {
    const { api, open } = await signUp('cases')
    const page = await open('/cases')
    await page.getByText('No open cases').waitFor()
    const made: string[] = []
    for (const title of ['One', 'Two', 'Three']) {
      made.push((await api('POST', '/v1/cases', { wedge: 'inbox-triage', title })).body.id)
      await page.getByRole('article', { name: title }).waitFor()
    }
    await api('PUT', `/v1/cases/${made[0]}`, { stage: 'solved' })
    await page.getByRole('list', { name: 'Solved' }).getByRole('article', { name: 'One' }).waitFor()
    await api('PUT', `/v1/cases/${made[1]}`, { status: 'closed' })
    await page.getByRole('article', { name: 'Two' }).waitFor({ state: 'detached' })
    await expectNoShift(page, 'cases')
  })

  test('layout shift: conversations do not move in the console and in the portal', async () => {
    const { api, open, approvalOf } = await signUp('clients')
    const { body: mail } = await api('POST', '/v1/connections', { kind: 'email', name: 'mail', config: {} })
    const bound = { connection_id: mail.id, address: 'help@example.com', wedge: 'inbox-triage', task_type: 'triage' }
    const { body: channel } = await api('POST', '/v1/channels', bound)
    const write = async (name: string, more: object = {}) => {
      const message = { from: { handle: `${name}@example.com`, name }, subject: `From ${name}`, body: 'Locked out.' }
      return (await api('POST', `/v1/channels/${channel.id}/inbound`, { ...message, ...more })).body
    }
    const approve = async (task: string) => api('POST', `/v1/approvals/${await approvalOf(task)}/approve`)
    const inbox = await open('/conversations')
    await inbox.getByText('No conversations yet').waitFor()
    const first = await write('Grace')
    await inbox.getByText('From Grace').waitFor()
    await write('Ada')
    await inbox.getByText('From Ada').waitFor()
    await expectNoShift(inbox, 'conversations')

    const thread = await open(`/conversations/${first.thread_id}`)
    await thread.getByRole('log').getByText('Locked out.').waitFor()
    await approve(first.task_id)
    await expect.poll(() => thread.getByRole('list', { name: 'Messages' }).getByRole('listitem').count()).toBe(2)
    await expectNoShift(thread, 'thread')

    const { body: link } = await api('POST', `/v1/clients/${first.client_id}/portal-link`)
    const portal = await openRecorded(`/portal#${link.token}`, { signedIn: false })
    await portal.getByRole('button', { name: 'Continue' }).click()
    await portal.getByRole('button', { name: /From Grace/ }).click()
    await portal.getByLabel('Your message').fill('It is urgent.')
    const sent = portal.waitForResponse((response) => response.url().endsWith('/messages'))
    await portal.keyboard.press('Enter')
    const { task_id } = await (await sent).json()
    await approvalOf(task_id)
    // Browsers ignore shifts within 500 ms after a key press.
    await portal.waitForTimeout(600)
    await approve(task_id)
    await expect.poll(() => portal.getByRole('log').locator('[data-direction="outbound"]').count()).toBe(2)
    await portal.locator('[data-ended="true"]').last().waitFor()
    await expectNoShift(portal, 'portal')
  })
})
