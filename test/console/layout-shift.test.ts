import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { callApi } from '../http.ts'
import { consoleFixture } from './console-browser.ts'

/** What moved on the page although nobody had touched it, from the first moment on. */
const NOTE = `
  window.moved = []
  const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round)
  const tell = ({ node, previousRect, currentRect }) =>
    (node?.textContent ?? '').slice(0, 40) + ' ' + place(previousRect) + ' to ' + place(currentRect)
  new PerformanceObserver((list) =>
    list.getEntries().filter(({ hadRecentInput }) => !hadRecentInput).forEach(({ value, sources }) =>
      window.moved.push({ value, what: sources.map(tell).join(' | ') })),
  ).observe({ type: 'layout-shift', buffered: true })
`
const DRAWN = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50))))`

/** A fifth of what browsers call good, for all that comes while a page is open. */
const MOST = 0.02

describe.each([360, 1280])('a page that is open %i pixels wide while work goes on', (width) => {
  const console = consoleFixture({ SVC_OPEN_SIGNUP: '1' })
  const viewport = { width, height: 800 }

  /** Somebody new, whose project is empty. */
  const arrive = async (name: string) => {
    const body = { email: `${name}@example.com`, password: 'correct horse battery', organisation: 'Larkspur' }
    const token: string = (await console().call('POST', '/v1/auth/signup', body)).body.session_token
    const own = (method: string, path: string, body?: unknown) => callApi(console().url, token, method, path, body)
    const run = async (wedge: string, task_type: string, input: object): Promise<string> =>
      (await own('POST', '/v1/tasks', { wedge, task_type, input })).body.id
    const reach = (task: string, status: string) =>
      expect.poll(async () => (await own('GET', `/v1/tasks/${task}`)).body.status, { timeout: 30_000 }).toBe(status)
    return {
      own,
      reach,
      open: (path: string) => watched(path, { token }),
      refund: (order_id: string, amount_usd = 84.5) =>
        run('refund-desk', 'handle_request', {
          order_id,
          amount_usd,
          reason: 'broken',
          customer_email: 'ada@example.com',
        }),
      approvalOf: async (task: string): Promise<string> => {
        await reach(task, 'awaiting_approval')
        return (await own('GET', `/v1/approvals?task_id=${task}`)).body.data[0].approval_id
      },
    }
  }

  const watched = async (path: string, options: { token?: string; signedIn?: boolean }) => {
    const page = await console().open('/docs', { ...options, viewport })
    await page.addInitScript(NOTE)
    await page.goto(console().url + path)
    return page
  }

  const moved = async (page: Page): Promise<{ sum: number; what: string }> => {
    await page.evaluate(DRAWN)
    const all: { value: number; what: string }[] = await page.evaluate('window.moved')
    const what = all.map(({ value, what }) => `${value.toFixed(4)}: ${what}`).join('\n')
    return { sum: all.reduce((sum, { value }) => sum + value, 0), what }
  }
  const steady = async (page: Page, name: string) => {
    const { sum, what } = await moved(page)
    process.stdout.write(`  ${name} at ${width} pixels: ${sum.toFixed(4)} moved\n`)
    expect(sum, `${name}\n${what}`).toBeLessThan(MOST)
  }

  test('notices when something is pushed away', async () => {
    const { open } = await arrive('watch')
    const page = await open('/')
    await page.getByText('Look at the example').waitFor()
    await page.evaluate(`document.querySelector('main').style.paddingTop = '150px'`)
    expect((await moved(page)).sum).toBeGreaterThan(MOST)
  })

  test('keeps home where it is: the guide, the questions and the latest tasks', async () => {
    const { own, open, refund, reach, approvalOf } = await arrive('home')
    const page = await open('/')
    const current = page.locator('[aria-current="step"]')
    await current.getByText('Look at the example').waitFor()
    const task = await refund('H-1')
    const approval = await approvalOf(task)
    await current.getByRole('link', { name: 'Answer it' }).waitFor()
    await page.getByRole('heading', { name: '1 question waits for you' }).waitFor()
    await own('POST', `/v1/approvals/${approval}/approve`)
    await reach(task, 'succeeded')
    await current.getByText('Connect a real model').waitFor()
    await steady(page, 'home on the first visit')

    const later = await open('/')
    await later.getByText('Next: connect a real model').waitFor()
    const waiting = [await refund('H-2'), await refund('H-3'), await refund('H-4'), await refund('H-5')]
    for (const one of waiting) await reach(one, 'awaiting_approval')
    await later.getByRole('heading', { name: '4 questions wait for you' }).waitFor()
    await own('POST', `/v1/tasks/${waiting[0]}/cancel`)
    await later.getByRole('heading', { name: '3 questions wait for you' }).waitFor()
    await steady(later, 'home later')
  })

  test('keeps the inbox where it is, and what is open in it until its reader goes on', async () => {
    const { own, open, refund, approvalOf } = await arrive('inbox')
    const page = await open('/approvals')
    await page.getByText('Nothing waits for you').waitFor()
    const rows = page.getByRole('list', { name: 'Approvals' }).getByRole('listitem')
    const approvals: string[] = []
    for (const order of ['I-1', 'I-2', 'I-3']) {
      approvals.push(await approvalOf(await refund(order)))
      await expect.poll(() => rows.count(), { timeout: 30_000 }).toBe(approvals.length)
    }
    const card = page.getByRole('article', { name: 'Approval' })
    await card.getByText('I-1').first().waitFor()
    await own('POST', `/v1/approvals/${approvals[1]}/approve`)
    await expect.poll(() => rows.count(), { timeout: 30_000 }).toBe(2)
    await own('POST', `/v1/approvals/${approvals[0]}/reject`)
    await card.locator('[data-status="rejected"]').waitFor()
    await card.getByText('I-1').first().waitFor()
    await steady(page, 'inbox')

    await page.keyboard.press('j')
    await card.getByText('I-3').first().waitFor()
    const expires_at = new Date(Date.now() - 1_000).toISOString()
    const { db } = console().app.ctx
    await db.updateTable('approvals').set({ expires_at }).where('id', '=', String(approvals[2])).execute()
    await card.locator('[data-status="expired"]').waitFor()
    await steady(page, 'inbox with one that expired')
  })

  test('keeps the list of tasks where it is', async () => {
    const { open, refund, reach } = await arrive('tasks')
    const page = await open('/tasks')
    await page.getByText('No task has run yet').waitFor()
    await reach(await refund('L-1', 12), 'succeeded')
    await page.getByText('L-1').first().waitFor()
    await refund('L-2', 12)
    await reach(await refund('L-3'), 'awaiting_approval')
    await page.getByRole('button', { name: /2 new/ }).waitFor()
    await steady(page, 'tasks')
  })

  test('keeps a task where it is while it speaks, asks, is answered and ends', async () => {
    const { own, open, refund, approvalOf } = await arrive('task')
    const speech = await open('/run?wedge=poems&task_type=recite')
    await speech.getByRole('button', { name: 'Run', exact: true }).click()
    await speech.waitForURL('**/tasks/task_*')
    await speech.getByText('Finished: succeeded').waitFor()
    await steady(speech, 'task that speaks')
    for (const [order, decision, end] of [
      ['T-1', 'approve', 'succeeded'],
      ['T-2', 'reject', 'rejected'],
    ] as const) {
      const task = await refund(order)
      const page = await open(`/tasks/${task}`)
      const approval = await approvalOf(task)
      await page.getByRole('article', { name: 'Approval' }).waitFor()
      await own('POST', `/v1/approvals/${approval}/${decision}`)
      await page.getByText(`Finished: ${end}`).waitFor()
      await page.getByRole('article', { name: 'Approval' }).waitFor({ state: 'detached' })
      await steady(page, `task that is ${end}`)
    }
  })

  test('keeps the board of cases where it is', async () => {
    const { own, open } = await arrive('cases')
    const page = await open('/cases')
    await page.getByText('No open cases').waitFor()
    const made: string[] = []
    for (const title of ['One', 'Two', 'Three']) {
      made.push((await own('POST', '/v1/cases', { wedge: 'inbox-triage', title })).body.id)
      await page.getByRole('article', { name: title }).waitFor()
    }
    await own('PUT', `/v1/cases/${made[0]}`, { stage: 'solved' })
    await page.getByRole('list', { name: 'Solved' }).getByRole('article', { name: 'One' }).waitFor()
    await own('PUT', `/v1/cases/${made[1]}`, { status: 'closed' })
    await page.getByRole('article', { name: 'Two' }).waitFor({ state: 'detached' })
    await steady(page, 'cases')
  })

  test('keeps conversations where they are, for the founder and for the client', async () => {
    const { own, open, approvalOf } = await arrive('clients')
    const { body: mail } = await own('POST', '/v1/connections', { kind: 'email', name: 'mail', config: {} })
    const bound = { connection_id: mail.id, address: 'help@example.com', wedge: 'inbox-triage', task_type: 'triage' }
    const { body: channel } = await own('POST', '/v1/channels', bound)
    const write = async (name: string, more: object = {}) => {
      const message = { from: { handle: `${name}@example.com`, name }, subject: `From ${name}`, body: 'Locked out.' }
      return (await own('POST', `/v1/channels/${channel.id}/inbound`, { ...message, ...more })).body
    }
    const answer = async (task: string) => own('POST', `/v1/approvals/${await approvalOf(task)}/approve`)
    const clients = await open('/clients')
    await clients.getByText('No clients yet').waitFor()
    const first = await write('Grace')
    await clients.getByText('From Grace').waitFor()
    await write('Ada')
    await clients.getByText('From Ada').waitFor()
    await steady(clients, 'clients')

    const thread = await open(`/threads/${first.thread_id}`)
    await thread.getByText('Locked out.').waitFor()
    await answer(first.task_id)
    await expect.poll(() => thread.getByRole('list', { name: 'Messages' }).getByRole('listitem').count()).toBe(2)
    await steady(thread, 'thread')

    const { body: link } = await own('POST', `/v1/clients/${first.client_id}/portal-link`)
    const portal = await watched(`/portal#${link.token}`, { signedIn: false })
    await portal.getByRole('button', { name: 'Continue' }).click()
    await portal.getByRole('button', { name: /From Grace/ }).click()
    await portal.getByLabel('Your message').fill('It is urgent.')
    const said = portal.waitForResponse((response) => response.url().endsWith('/messages'))
    await portal.keyboard.press('Enter')
    const { task_id } = await (await said).json()
    await approvalOf(task_id)
    // Browsers forgive what moves within half a second after a key; nothing here shall need that.
    await portal.waitForTimeout(600)
    await answer(task_id)
    await expect.poll(() => portal.getByRole('log').locator('.self-start').count(), { timeout: 30_000 }).toBe(2)
    await portal.getByRole('button', { name: 'Download output.json' }).last().waitFor()
    await steady(portal, 'portal')
  })
})
