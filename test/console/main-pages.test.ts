import { describe, expect, test } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { IS_MATRIX, inMatrix } from '../matrix.ts'
import {
  accessibilityViolations,
  consoleFixture,
  HAS_HORIZONTAL_SCROLL,
  LAYOUT_SHIFT,
  violationsInBothThemes,
  waitForStatus,
} from './console-browser.ts'
import { approveWithoutHold, holdForMinute, passHold } from './held-approvals.ts'

const REFUND = { order_id: 'A-1001', amount_usd: 84.5, reason: 'arrived damaged', customer_email: 'ada@example.com' }

describe('main pages', () => {
  const console = consoleFixture()
  const run = async (body: object) => (await console().call('POST', '/v1/tasks', body)).body.id as string
  const refund = (input: object = {}) =>
    run({ wedge: 'refund-desk', task_type: 'handle_request', input: { ...REFUND, ...input } })
  const statusOf = async (taskId: string) => (await console().call('GET', `/v1/tasks/${taskId}`)).body.status

  test('first visit: an API key leads to a finished run', async () => {
    const page = await console().open('/', { signedIn: false })
    await page.waitForURL('**/sign-in')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'API key' }).click()
    await page.getByLabel('API key').last().fill(FOUNDER_KEY)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('link', { name: 'Start' }).click()
    await page.getByText(/The agent's steps are recorded; sending is real\./).waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/tasks/task_*')
    await page.getByText('Auto-approval limit is $50; this is $180.').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    const task = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await page.getByRole('button', { name: 'Approve' }).click()
    await approveWithoutHold(console(), task, () =>
      page.getByRole('button', { name: /press again to confirm/ }).click(),
    )
    await page.getByText('Finished: succeeded').waitFor()
    expect(page.url()).not.toContain('svc_')
    await page.getByRole('link', { name: 'Home' }).click()
    await page.getByText('Next: connect a model').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('sign-in: a member signs up, signs out, and sees why a sign-in is refused', async () => {
    const page = await console().open('/', { signedIn: false })
    await page.getByRole('button', { name: 'Sign up' }).click()
    await page.getByLabel('Organisation').fill('Larkspur')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('correct horse battery')
    await page.getByLabel('Founder key').fill(FOUNDER_KEY)
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('ada@example.com · Owner').waitFor()
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
    await page.getByText('No tasks yet').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-in')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).last().click()
    expect(await page.getByRole('alert').textContent()).toMatch(/password/i)
  })

  test('sign-in: an invalid credential leads to the sign-in page', async () => {
    const page = await console().open('/sign-in', { signedIn: false })
    await page.evaluate(`sessionStorage.setItem('svc.token', 'svc_key_gone')`)
    await page.goto(`${console().url}/tasks`)
    await page.waitForURL('**/sign-in?to=%2Ftasks')
    await page.getByLabel('Stay signed in on this device').waitFor()
    expect(await page.evaluate(`sessionStorage.getItem('svc.token')`)).toBe(null)
  })

  test('sign-in: an API key can be pasted into the email field', async () => {
    const page = await console().open('/', { signedIn: false })
    await page.getByRole('button', { name: 'Sign in' }).first().click()
    await page.getByLabel('Email').fill(FOUNDER_KEY)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
  })

  test('sign-in: it leads to the requested page, even after a failed attempt', async () => {
    const page = await console().open('/tasks?status=failed&wedge=letters', { signedIn: false })
    await page.getByRole('button', { name: 'API key' }).click()
    const signInWith = async (key: string) => {
      await page.getByLabel('API key').last().fill(key)
      await page.getByRole('button', { name: 'Continue' }).click()
    }
    await signInWith('svc_key_wrong')
    await page.getByRole('alert').waitFor()
    await signInWith(FOUNDER_KEY)
    await page.waitForURL('**/tasks?status=failed&wedge=letters')
    expect(page.url()).not.toContain('svc_')
  })

  test('approvals: new ones appear live, and a decision by keyboard takes two keys', async () => {
    const page = await console().open('/approvals')
    await page.getByText('No pending approvals').waitFor()
    const first = await refund({ order_id: 'K-1' })
    await page.getByRole('heading', { name: /Book refund of \$84.50/ }).waitFor()
    const second = await refund({ order_id: 'K-2' })
    const list = page.getByRole('list', { name: 'Approvals' }).getByRole('button')
    await expect.poll(() => list.count()).toBe(2)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByText('This step runs as it is. Send it back with a note to change it.').waitFor()

    await page.keyboard.press('j')
    await page.getByRole('heading', { name: /K-2/ }).waitFor()
    await page.keyboard.press('r')
    await page.getByLabel('Reason (optional)').fill('not damaged at all')
    await page.keyboard.press('Enter')
    await waitForStatus(console(), second, 'rejected')

    await page.getByRole('heading', { name: /K-1/ }).waitFor()
    await page.keyboard.press('a')
    await page.getByText('Approve: press again to confirm').waitFor()
    expect(await statusOf(first)).toBe('awaiting_approval')
    await approveWithoutHold(console(), first, () => page.keyboard.press('a'))
    await waitForStatus(console(), first, 'succeeded')
    await page.getByText('No pending approvals').waitFor()
  })

  test('approvals: an edited payload is sent, and the changes are shown field by field', async () => {
    const task = await run({
      wedge: 'letters',
      task_type: 'write',
      input: { to: 'bob@example.com', subject: 'Hello' },
    })
    await waitForStatus(console(), task, 'awaiting_approval')
    const page = await console().newPage()
    await holdForMinute(page)
    await page.goto(`${console().url}/approvals`)
    await page.getByRole('heading', { name: /Send through post to bob@example.com/ }).waitFor()
    await page.keyboard.press('e')
    await page.getByLabel('Subject').fill('Good morning')
    const changes = page.getByRole('list', { name: 'Changes' })
    expect(await changes.textContent()).toBe('subjectHelloGood morning')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByLabel('To', { exact: true }).fill('carol@example.com')
    await page.getByRole('button', { name: 'Approve with 2 changes' }).click()
    await page.getByRole('button', { name: /press again to confirm/ }).click()
    const summary = 'Send through post to carol@example.com'
    await page.getByRole('status').getByText(summary).waitFor()
    await passHold(console())
    await page.getByText('No pending approvals').waitFor()
    await waitForStatus(console(), task, 'succeeded')
    expect(JSON.parse(console().received.at(-1)?.body ?? '')).toMatchObject({
      to: 'carol@example.com',
      subject: 'Good morning',
    })
    await page.goto(`${console().url}/tasks/${task}`)
    await page.getByText(summary).waitFor()
    await page.getByText('approved with edits').waitFor()
    await page.getByText('Saved as a correction for future runs').waitFor()
  })

  test('approvals: a hidden tab shows a browser notification for a new approval', async () => {
    const page = await console().open('/', { permissions: ['notifications'] })
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
    await page.evaluate(`
      window.notifications = []
      window.Notification = class extends EventTarget {
        static permission = 'granted'
        constructor(title, { body }) { super(); window.notifications.push(body) }
      }
      Object.defineProperty(document, 'hidden', { get: () => true })
    `)
    const task = await refund({ order_id: 'N-1' })
    await expect
      .poll(() => page.evaluate('window.notifications'))
      .toEqual(['Book refund of $84.50 for order N-1, to ada@example.com'])
    await console().call('POST', `/v1/tasks/${task}/cancel`)
  })

  test('task page: all tabs, the download, feedback and a second run work', async () => {
    const task = await refund({ order_id: 'T-1', amount_usd: 12 })
    const page = await console().open(`/tasks/${task}`)
    await page.getByText('Finished: succeeded').waitFor()
    await page.getByText('auto-approved').waitFor()
    // A long duration must not cover the text beside it.
    const covered: boolean = await page.evaluate(`(() => {
      const took = document.querySelector('[role=log] summary span.tabular-nums')
      took.textContent = '3 min 51 s'
      return took.scrollWidth > took.clientWidth
    })()`)
    expect(covered).toBe(false)
    await page.getByRole('button', { name: 'Trace' }).click()
    await page.getByRole('button', { name: /book_refund/ }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Output', exact: true }).click()
    await expect.poll(() => page.getByLabel('matches', { exact: true }).count()).toBe(5)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'All events' }).click()
    await page.getByRole('button', { name: /task\.finished/ }).click()
    await page.getByRole('region', { name: /^Event / }).waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download output.json' }).click()
    expect((await saved).suggestedFilename()).toBe('output.json')

    await page.getByRole('button', { name: 'Feedback' }).click()
    await page.getByRole('button', { name: 'Needs work' }).click()
    await page.getByLabel('What should it have done?').fill('Ask for a photo first.')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('Used from the next run on.').waitFor()
    const { body: knowledge } = await console().call('GET', '/v1/wedges/refund-desk/knowledge')
    expect(JSON.stringify(knowledge)).toContain('Ask for a photo first.')

    await page.getByRole('button', { name: 'Run again' }).click()
    await page.waitForURL((url) => !url.pathname.endsWith(task))
    await page.getByText('Earlier task').waitFor()
  })

  test('task page: a task that needs approval can be cancelled', async () => {
    const task = await refund({ order_id: 'C-1' })
    await waitForStatus(console(), task, 'awaiting_approval')
    const page = await console().open(`/tasks/${task}`)
    await page.getByRole('button', { name: 'Cancel task' }).click()
    await page.getByText('Finished: rejected').waitFor()
  })

  test('task page: a task that ended before it started shows no sandbox', async () => {
    const { body } = await console().call('POST', '/v1/tasks', { wedge: 'refund-desk', task_type: 'pay_out' })
    const page = await console().open(`/tasks/${body.id}`)
    await page.getByText('Could not start').waitFor()
    expect(await page.getByText('sandbox').count()).toBe(0)
    const error = page.getByRole('alert').filter({ hasText: 'These connections do not exist' })
    const timeline = await page.getByRole('log', { name: 'Task log' }).boundingBox()
    expect((await error.boundingBox())?.y).toBeLessThan(timeline?.y ?? 0)
    expect(await accessibilityViolations(page)).toEqual([])
    await error.getByRole('button', { name: 'Create connection mail' }).click()
    await page.getByRole('heading', { name: 'Connect mail' }).waitFor()
  })

  test('run and wedge pages: a connection that the wedge needs and the project lacks is named before the run', async () => {
    for (const path of ['/run?wedge=refund-desk&task_type=pay_out', '/wedges/refund-desk']) {
      const page = await console().open(path)
      await page.getByText('Missing: stripe, mail').waitFor()
      await page.getByRole('button', { name: 'Create connection stripe' }).waitFor()
    }
  })

  test('command menu and shortcuts: both lead to pages', async () => {
    const page = await console().open('/tasks?status=succeeded')
    await page.getByRole('region', { name: 'Tasks: Succeeded', exact: true }).waitFor()
    await page.keyboard.press('Control+k')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.keyboard.type('classify')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/run?wedge=inbox-triage&task_type=classify')
    await page.getByLabel('Subject').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.locator('h1').click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('a')
    await page.waitForURL('**/approvals')
  })

  test('task list: the task name fits at a width of 768, 1024 and 1280 pixels', async () => {
    await refund({ amount_usd: 12 })
    const page = await console().open('/tasks')
    const name = page.getByText('Handle request', { exact: true }).first()
    await name.waitFor()
    for (const width of [768, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const [text, available] = [await name.boundingBox(), await name.locator('..').boundingBox()]
      if (width === 768 || IS_MATRIX) expect(await accessibilityViolations(page), `${width} pixels`).toEqual([])
      expect(text?.width, `${width} pixels`).toBeLessThanOrEqual(available?.width ?? 0)
    }
  })

  test.each(inMatrix([360, 1440, 3840], [360, 1440]))(
    'main pages: they fit a width of %i pixels and are accessible in both themes',
    async (width) => {
      const task = await refund({ order_id: `W-${width}`, amount_usd: 12 })
      // A running task would move content on the page.
      await waitForStatus(console(), task, 'succeeded')
      const page = await console().newPage({ viewport: { width, height: 800 } })
      const paths = ['/', '/approvals?status=approved', '/tasks', '/run', `/tasks/${task}`, `/tasks/${task}?view=trace`]
      for (const path of paths) {
        await page.goto(console().url + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForLoadState('load')
        expect(await page.evaluate(LAYOUT_SHIFT), path).toBeLessThan(0.01)
        expect(await violationsInBothThemes(page), path).toEqual([])
        expect(await page.evaluate(HAS_HORIZONTAL_SCROLL), path).toBe(false)
      }
    },
  )
})
