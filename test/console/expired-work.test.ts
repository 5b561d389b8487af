import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture, waitForStatus } from './console-browser.ts'

describe('work that nobody decided in time', () => {
  const console = consoleFixture()

  /** Sets the expiry of the task's pending approval, in seconds from now. */
  const setExpiry = async (taskId: string, seconds: number) => {
    await waitForStatus(console(), taskId, 'awaiting_approval')
    const expires_at = new Date(Date.now() + seconds * 1000).toISOString()
    const { db } = console().app.ctx
    await db.updateTable('approvals').set({ expires_at }).where('task_id', '=', taskId).execute()
  }
  const expire = async (taskId: string) => {
    await setExpiry(taskId, -1)
    await waitForStatus(console(), taskId, 'expired')
  }
  const letter = async (subject: string): Promise<string> => {
    const request = { wedge: 'letters', task_type: 'write', input: { to: 'Ada', subject } }
    return (await console().call('POST', '/v1/tasks', request)).body.id
  }
  const retriesOf = async (taskId: string) => {
    const { data } = (await console().call('GET', '/v1/tasks')).body
    return data.filter(({ retry_of }: { retry_of: string | null }) => retry_of === taskId)
  }

  test('home: it lists expired tasks until one click runs them again', async () => {
    const page = await console().open('/')
    await page.getByRole('heading', { name: 'Latest tasks' }).waitFor()
    await page.getByText('Nothing is waiting').waitFor()
    const [first, second] = [await letter('Spring offer'), await letter('Summer offer')]
    await expire(first)
    await expire(second)
    const rows = page.getByRole('region', { name: 'Needs you' }).getByRole('listitem')
    await expect.poll(() => rows.count()).toBe(2)
    await page.getByRole('heading', { name: '2 tasks expired without a decision' }).waitFor()
    expect(await rows.first().textContent()).toMatch(/Nobody decided in time.*Summer offer/)
    expect(await accessibilityViolations(page)).toEqual([])

    await rows.filter({ hasText: 'Spring offer' }).getByRole('button', { name: 'Run again' }).click()
    await page.getByText('Task started again').waitFor()
    await expect.poll(() => rows.getByRole('button', { name: 'Run again' }).count()).toBe(1)
    expect(await retriesOf(first)).toHaveLength(1)
    await rows.getByRole('button', { name: 'Run again' }).click()
    await expect.poll(() => rows.getByRole('button', { name: 'Run again' }).count()).toBe(0)
    expect(await retriesOf(second)).toHaveLength(1)
  })

  test('thread: the client reads why the request stopped, and the team runs it again with one click', async () => {
    const connection = await console().call('POST', '/v1/connections', { kind: 'email', name: 'inbox', config: {} })
    const channel = await console().call('POST', '/v1/channels', {
      connection_id: connection.body.id,
      address: 'letters@example.com',
      wedge: 'letters',
      task_type: 'write',
    })
    const from = { handle: 'ada@example.com', name: 'Ada' }
    const sent = { from, subject: 'A letter', body: 'Please send the letter.' }
    const { body: inbound } = await console().call('POST', `/v1/channels/${channel.body.id}/inbound`, sent)
    const { body: link } = await console().call('POST', `/v1/clients/${inbound.client_id}/portal-link`)
    const phone = { width: 360, height: 700 }
    const portal = await console().open(`/portal#${link.token}`, { signedIn: false, viewport: phone })
    await portal.getByRole('button', { name: 'Continue' }).click()
    await portal.getByRole('button', { name: /A letter/ }).click()
    await portal.getByRole('log').getByText('Please send the letter.').waitFor()

    await expire(inbound.task_id)
    await portal
      .getByRole('log')
      .getByText(/nobody decided in time, so it was not completed/)
      .waitFor()
    expect(await portal.getByText('A team member will reply shortly').count()).toBe(0)
    expect(await accessibilityViolations(portal)).toEqual([])

    const page = await console().open(`/conversations/${inbound.thread_id}`)
    await page
      .getByRole('list', { name: 'Messages' })
      .getByText(/nobody decided in time/)
      .waitFor()
    const banner = page.getByText('Nobody decided in time, so the client has no answer.')
    await banner.waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Run again' }).click()
    await banner.waitFor({ state: 'detached' })
    expect(await retriesOf(inbound.task_id)).toMatchObject([{ thread_id: inbound.thread_id }])
  })

  test('task: an expired task says why it ended and can be run again', async () => {
    const task = await letter('Autumn offer')
    await expire(task)
    const page = await console().open(`/tasks/${task}`)
    await page.getByRole('alert').getByText('Nobody decided in time').waitFor()
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.waitForURL((url) => url.pathname.startsWith('/tasks/') && !url.pathname.endsWith(task))
    expect(await retriesOf(task)).toHaveLength(1)
  })

  test('approvals: a long time to decide is shown in days and hours', async () => {
    const task = await letter('Winter offer')
    await setExpiry(task, 2 * 86_400 + 3 * 3_600 + 100)
    const [approval] = (await console().call('GET', `/v1/approvals?task_id=${task}`)).body.data
    const page = await console().open(`/approvals?id=${approval.approval_id}`)
    const timer = page.getByRole('article', { name: 'Approval' }).getByRole('timer', { name: '2 days left' })
    await timer.getByText('2 d 3 h').waitFor()
  })
})
