import { describe, expect, test } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { barriers, SHIFTED, sharedConsole, TOO_WIDE } from './browser.ts'

const REFUND = { order_id: 'A-1001', amount_usd: 84.5, reason: 'arrived damaged', customer_email: 'ada@example.com' }

describe('the console', () => {
  const console = sharedConsole()
  const run = async (body: object) => (await console().call('POST', '/v1/tasks', body)).body.id as string
  const refund = (input: object = {}) =>
    run({ wedge: 'refund-desk', task_type: 'handle_request', input: { ...REFUND, ...input } })
  const approvalOf = (taskId: string) =>
    expect
      .poll(async () => (await console().call('GET', `/v1/approvals?task_id=${taskId}`)).body.data[0]?.approval_id, {
        timeout: 30_000,
      })
      .toBeTruthy()
  const statusOf = async (taskId: string) => (await console().call('GET', `/v1/tasks/${taskId}`)).body.status

  test('leads a first visitor from the key to a finished run', async () => {
    const page = await console().open('/', { signedIn: false })
    await page.waitForURL('**/sign-in')
    expect(await barriers(page)).toEqual([])
    await page.getByRole('button', { name: 'API key' }).click()
    await page.getByLabel('API key').last().fill(FOUNDER_KEY)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByRole('link', { name: 'Open the refund desk' }).click()
    await page.getByText('What it sends through connections is really sent.').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/tasks/task_*')
    await page.getByText('The rule for book_refund passes up to $50; this is $84.50.').waitFor()
    expect(await barriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Finished: succeeded').waitFor()
    expect(page.url()).not.toContain('svc_')
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByText('Next: connect a real model').waitFor()
    expect(await barriers(page)).toEqual([])
  })

  test('says why a sign-in is refused, and signs a member in and out', async () => {
    const page = await console().open('/', { signedIn: false })
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByLabel('Organisation').fill('Larkspur')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Create the account' }).click()
    await page.getByText('ada@example.com · owner').waitFor()
    expect(await page.evaluate('Object.keys(localStorage).includes("svc.token")')).toBe(false)
    await page.evaluate(`fetch('/v1/projects', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + sessionStorage.getItem('svc.token'), 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Second' }),
    })`)
    await refund({ order_id: 'P-1', amount_usd: 12 })
    await page.goto(`${console().url}/tasks`)
    await page
      .getByRole('link', { name: /handle request/i })
      .first()
      .waitFor()
    await page.getByRole('combobox', { name: 'Project' }).selectOption({ label: 'Second' })
    await page.getByText('No task has run yet').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-in')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).last().click()
    expect(await page.getByRole('alert').textContent()).toMatch(/password/i)
  })

  test('leads to the sign-in when the credential is no longer good', async () => {
    const page = await console().open('/sign-in', { signedIn: false })
    await page.evaluate(`sessionStorage.setItem('svc.token', 'svc_key_gone')`)
    await page.goto(`${console().url}/tasks`)
    await page.waitForURL('**/sign-in?to=%2Ftasks')
    await page.getByLabel('Email').waitFor()
    expect(await page.evaluate(`sessionStorage.getItem('svc.token')`)).toBe(null)
  })

  test('takes a key also where an email is asked for', async () => {
    const page = await console().open('/', { signedIn: false })
    await page.getByLabel('Email').fill(FOUNDER_KEY)
    await page.getByRole('button', { name: 'Use this key' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  })

  test('leads on from the sign-in to the page that was asked for, also after a refusal', async () => {
    const page = await console().open('/tasks?status=failed&wedge=letters', { signedIn: false })
    await page.getByRole('button', { name: 'API key' }).click()
    const use = async (key: string) => {
      await page.getByLabel('API key').last().fill(key)
      await page.getByRole('button', { name: 'Use this key' }).click()
    }
    await use('svc_key_wrong')
    await page.getByRole('alert').waitFor()
    await use(FOUNDER_KEY)
    await page.waitForURL('**/tasks?status=failed&wedge=letters')
    expect(page.url()).not.toContain('svc_')
  })

  test('answers approvals by keyboard, live, and never by a single stroke', async () => {
    const page = await console().open('/approvals')
    await page.getByText('Nothing waits for you').waitFor()
    const first = await refund({ order_id: 'K-1' })
    await page.getByRole('heading', { name: /Book refund of \$84.50/ }).waitFor()
    const second = await refund({ order_id: 'K-2' })
    const list = page.getByRole('list', { name: 'Approvals' }).getByRole('button')
    await expect.poll(() => list.count(), { timeout: 30_000 }).toBe(2)
    expect(await barriers(page)).toEqual([])
    await page.getByText('This cannot be edited').waitFor()

    await page.keyboard.press('j')
    await page.getByRole('heading', { name: /K-2/ }).waitFor()
    await page.keyboard.press('r')
    await page.getByLabel('Why not?').fill('not damaged at all')
    await page.keyboard.press('Enter')
    await expect.poll(() => statusOf(second), { timeout: 30_000 }).toBe('rejected')

    await page.getByRole('heading', { name: /K-1/ }).waitFor()
    await page.keyboard.press('a')
    await page.getByText('Approve: press a or Enter').waitFor()
    expect(await statusOf(first)).toBe('awaiting_approval')
    await page.keyboard.press('a')
    await expect.poll(() => statusOf(first), { timeout: 30_000 }).toBe('succeeded')
    await page.getByText('Nothing waits for you').waitFor()
  })

  test('sends what a person changed, and shows key by key what that is', async () => {
    const task = await run({
      wedge: 'letters',
      task_type: 'write',
      input: { to: 'bob@example.com', subject: 'Hello' },
    })
    await approvalOf(task)
    const page = await console().open('/approvals')
    await page.getByRole('heading', { name: /Send through post to bob@example.com/ }).waitFor()
    await page.keyboard.press('e')
    await page.getByLabel('Subject').fill('Good morning')
    const changes = page.getByRole('list', { name: 'Changes' })
    expect(await changes.textContent()).toBe('subjectHelloGood morning')
    expect(await barriers(page)).toEqual([])
    await page.getByLabel('To', { exact: true }).fill('carol@example.com')
    await page.getByRole('button', { name: 'Approve with 2 changes' }).click()
    const sentence = 'Send through post to carol@example.com'
    await page.getByText(`Approved as edited: ${sentence}`).waitFor()
    await expect.poll(() => statusOf(task), { timeout: 30_000 }).toBe('succeeded')
    expect(JSON.parse(console().received.at(-1)?.body ?? '')).toMatchObject({
      to: 'carol@example.com',
      subject: 'Good morning',
    })
    await page.goto(`${console().url}/tasks/${task}`)
    await page.getByText(sentence).waitFor()
    await page.getByText('approved as edited').waitFor()
    await page.getByText('The change was kept as a correction').waitFor()
  })

  test('tells of a new approval by the browser when nobody looks', async () => {
    const page = await console().open('/', { permissions: ['notifications'] })
    await page.getByText('Waits for your decision').waitFor()
    await page.evaluate(`
      window.told = []
      window.Notification = class extends EventTarget {
        static permission = 'granted'
        constructor(title, { body }) { super(); window.told.push(body) }
      }
      Object.defineProperty(document, 'hidden', { get: () => true })
    `)
    const task = await refund({ order_id: 'N-1' })
    await expect
      .poll(() => page.evaluate('window.told'), { timeout: 30_000 })
      .toEqual(['Book refund of $84.50 for order N-1, to ada@example.com'])
    await console().call('POST', `/v1/tasks/${task}/cancel`)
  })

  test('shows a task from all sides, and runs it again', async () => {
    const task = await refund({ order_id: 'T-1', amount_usd: 12 })
    const page = await console().open(`/tasks/${task}`)
    await page.getByText('Finished: succeeded').waitFor()
    await page.getByText('auto approved').waitFor()
    await page.getByRole('button', { name: 'Trace' }).click()
    await page.getByRole('button', { name: /book_refund/ }).waitFor()
    expect(await barriers(page)).toEqual([])
    await page.getByRole('button', { name: 'Output', exact: true }).click()
    await expect.poll(() => page.getByLabel('fits', { exact: true }).count()).toBe(5)
    expect(await barriers(page)).toEqual([])
    await page.getByRole('button', { name: 'All events' }).click()
    await page.getByRole('button', { name: /task\.finished/ }).click()
    await page.getByRole('region', { name: /^Event / }).waitFor()
    expect(await barriers(page)).toEqual([])
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download output.json' }).click()
    expect((await saved).suggestedFilename()).toBe('output.json')

    await page.getByRole('button', { name: 'Feedback' }).click()
    await page.getByRole('button', { name: 'Not good' }).click()
    await page.getByLabel('What should it have done?').fill('Ask for a photo first.')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('the next run will know').waitFor()
    const { body: knowledge } = await console().call('GET', '/v1/wedges/refund-desk/knowledge')
    expect(JSON.stringify(knowledge)).toContain('Ask for a photo first.')

    await page.getByRole('button', { name: 'Run again' }).click()
    await page.waitForURL((url) => !url.pathname.endsWith(task))
    await page.getByText('an earlier task').waitFor()
  })

  test('cancels a task that waits', async () => {
    const task = await refund({ order_id: 'C-1' })
    await approvalOf(task)
    const page = await console().open(`/tasks/${task}`)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Finished: rejected').waitFor()
  })

  test('a task that ended before it began says so, and names no sandbox', async () => {
    const { body } = await console().call('POST', '/v1/tasks', { wedge: 'refund-desk', task_type: 'pay_out' })
    const page = await console().open(`/tasks/${body.id}`)
    await page.getByText('Ended before it began').waitFor()
    expect(await page.getByText('sandbox').count()).toBe(0)
  })

  test('finds by the command menu, and shows its keys', async () => {
    const page = await console().open('/tasks?status=succeeded')
    await page.getByRole('region', { name: 'Tasks that are succeeded', exact: true }).waitFor()
    await page.keyboard.press('Control+k')
    expect(await barriers(page)).toEqual([])
    await page.keyboard.type('classify')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/run?wedge=inbox-triage&task_type=classify')
    await page.getByLabel('Subject').waitFor()
    expect(await barriers(page)).toEqual([])
    await page.locator('h1').click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.waitForURL('**/approvals')
  })

  test.each([768, 1024, 1280])('names each task in full at %i pixels', async (width) => {
    await refund({ amount_usd: 12 })
    const page = await console().open('/tasks', { viewport: { width, height: 800 } })
    const name = page.getByText('Handle request', { exact: true }).first()
    await name.waitFor()
    const [said, room] = [await name.boundingBox(), await name.locator('..').boundingBox()]
    expect(await barriers(page)).toEqual([])
    expect(said?.width).toBeLessThanOrEqual(room?.width ?? 0)
  })

  test.each([
    ['light', 360],
    ['dark', 360],
    ['dark', 1440],
    ['light', 3840],
  ] as const)('is %s and fits %i pixels', async (colorScheme, width) => {
    const task = await refund({ order_id: `W-${width}`, amount_usd: 12 })
    // What is still at work moves on the page with good reason.
    await expect.poll(() => statusOf(task), { timeout: 30_000 }).toBe('succeeded')
    const page = await console().open('/', { colorScheme, viewport: { width, height: 800 } })
    const paths = ['/', '/approvals?status=approved', '/tasks', '/run', `/tasks/${task}`, `/tasks/${task}?view=trace`]
    for (const path of paths) {
      await page.goto(console().url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('load')
      expect(await barriers(page), path).toEqual([])
      expect(await page.evaluate(TOO_WIDE), path).toBe(false)
      expect(await page.evaluate(SHIFTED), path).toBeLessThan(0.01)
    }
  })
})
