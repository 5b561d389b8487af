import { describe, expect, test } from 'vitest'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'

describe('the conversations of the portal', () => {
  const console = consoleFixture()
  /** A message that came in on a channel of its own. */
  const written = async (connection_id: string, address: string, work: object, message: object) => {
    const { body: channel } = await console().call('POST', '/v1/channels', { connection_id, address, ...work })
    return (await console().call('POST', `/v1/channels/${channel.id}/inbound`, message)).body
  }

  test('answers in a chat, tells how the work stands and hands over its files', async () => {
    const connection = await console().call('POST', '/v1/connections', { kind: 'email', name: 'mail', config: {} })
    const work = { wedge: 'inbox-triage', task_type: 'acknowledge' }
    const arrived = await written(connection.body.id, 'help@example.com', work, {
      from: { handle: 'grace@example.com', name: 'Grace' },
      subject: 'Locked out',
      body: 'I cannot log in.',
    })
    await console().call('POST', '/v1/cases', {
      wedge: 'inbox-triage',
      title: 'Access of Grace',
      client_id: arrived.client_id,
    })
    const { body: link } = await console().call('POST', `/v1/clients/${arrived.client_id}/portal-link`)
    const path = `/portal#${link.token}`
    const page = await console().open(path, { signedIn: false, viewport: { width: 360, height: 700 } })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Access of Grace').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])

    await page.getByRole('button', { name: /Locked out/ }).click()
    await page.getByText('I cannot log in.').waitFor()
    await page.getByLabel('Your message').fill('It is urgent.')
    await page.keyboard.press('Enter')
    await page.getByText('It is urgent.').waitFor()
    await page.locator('[data-ended="true"]').nth(1).waitFor()
    await expect.poll(() => page.getByRole('log').locator('.self-start').count(), { timeout: 30_000 }).toBe(2)
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download output.json' }).last().click()
    expect((await saved).suggestedFilename()).toBe('output.json')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.reload()
    await page.getByText('It is urgent.').waitFor()
  })

  test('shows what a person answers from the console, and then no longer says that one is needed', async () => {
    const connection = (await console().call('GET', '/v1/connections')).body.data[0].id
    const arrived = await written(
      connection,
      'letters@example.com',
      { wedge: 'letters', task_type: 'write' },
      {
        from: { handle: 'joan@example.com', name: 'Joan' },
        subject: 'A letter',
        body: 'Did it leave?',
      },
    )
    await console().call('POST', `/v1/tasks/${arrived.task_id}/cancel`)
    const { body: link } = await console().call('POST', `/v1/clients/${arrived.client_id}/portal-link`)
    const portal = await console().open(`/portal#${link.token}`, { signedIn: false })
    await portal.getByRole('button', { name: 'Continue' }).click()
    await portal.getByRole('button', { name: /A letter/ }).click()
    const needed = portal.getByText('This needs a person; we will get back')
    await needed.waitFor()

    const page = await console().open(`/threads/${arrived.thread_id}`)
    const answer = page.getByRole('button', { name: 'Reply', exact: true })
    await answer.click()
    await page.getByLabel('Your reply').fill('It left on Monday.')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send reply' }).click()
    await page.getByRole('list', { name: 'Messages' }).getByText('It left on Monday.').waitFor()
    await page.getByLabel('Your reply').waitFor({ state: 'hidden' })
    await portal.getByText('It left on Monday.').waitFor()
    await needed.waitFor({ state: 'hidden' })

    await page.getByRole('button', { name: 'Close' }).click()
    await answer.waitFor({ state: 'hidden' })
  })
})
