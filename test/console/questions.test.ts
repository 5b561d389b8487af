import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { QUESTION_WEDGE } from '../approvals/requests/question-app.ts'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL, waitForStatus } from './console-browser.ts'

describe('questions', () => {
  const console = consoleFixture()

  beforeAll(() => writeFiles(console().wedgesDir, QUESTION_WEDGE))

  const ask = async (task_type: string, input: object = {}): Promise<string> => {
    const { body } = await console().call('POST', '/v1/tasks', { wedge: 'ask', task_type, input })
    await waitForStatus(console(), body.id, 'awaiting_approval')
    return body.id
  }
  const outputOf = async (task: string) => (await console().call('GET', `/v1/tasks/${task}`)).body.output
  const questionOf = async (task: string): Promise<string> =>
    (await console().call('GET', `/v1/approvals?task_id=${task}`)).body.data[0].approval_id

  test('console: the approvals list answers a question with a form', async () => {
    const task = await ask('form')
    const other = await ask('text', { question: 'Another?', to: 'team' })
    const page = await console().open(`/approvals?id=${await questionOf(task)}`)
    await page.getByRole('heading', { name: 'Where to?' }).waitFor()
    await page.getByText('Question to the team').waitFor()
    expect(await page.getByLabel('Select Question: Where to?').count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Send answer' }).isDisabled()).toBe(true)
    await page.getByLabel('City').fill('Bern')
    await page.getByLabel('Floor').fill('3')
    // What is typed is there again after another item was open.
    await page.getByRole('button', { name: /Another\?/ }).click()
    await page.getByRole('heading', { name: 'Another?' }).waitFor()
    await page.getByRole('button', { name: /Where to\?/ }).click()
    expect(await page.getByLabel('City').inputValue()).toBe('Bern')
    await console().call('POST', `/v1/tasks/${other}/cancel`)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send answer' }).click()
    await waitForStatus(console(), task, 'succeeded')
    expect(await outputOf(task)).toMatchObject({ got: { answer: { city: 'Bern', floor: 3 } } })
    const decided = await console().open(`/approvals?status=approved&id=${await questionOf(task)}`)
    await decided.getByRole('region', { name: 'Answer' }).getByText('Bern').waitFor()
    expect(await accessibilityViolations(decided)).toEqual([])
  })

  test('console: the task page answers a question with options, and the timeline shows it', async () => {
    const task = await ask('choice')
    const page = await console().open(`/tasks/${task}`)
    await page.getByLabel('large').check()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send answer' }).click()
    await waitForStatus(console(), task, 'succeeded')
    expect(await outputOf(task)).toMatchObject({ got: { answer: 'large' } })
    await page.getByText('Question: Which size?').waitFor()
    await page.getByText('answered', { exact: true }).waitFor()
  })

  test('console: declining needs a second click, and the task continues', async () => {
    const task = await ask('text', { question: 'Why?', to: 'team' })
    const page = await console().open(`/approvals?id=${await questionOf(task)}`)
    await page.getByLabel('Your answer').fill('because')
    await page.getByRole('button', { name: 'Decline' }).dblclick()
    const confirm = page.getByRole('button', { name: /^Decline: press again/ })
    await page.setViewportSize({ width: 390, height: 800 })
    const { x = 0, width = 0 } = (await confirm.boundingBox()) ?? {}
    expect(x + width).toBeLessThanOrEqual(390)
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    await confirm.click()
    await waitForStatus(console(), task, 'succeeded')
    expect(await outputOf(task)).toMatchObject({ got: { answered: false } })
  })

  test('portal: the client answers in the conversation, and the answer becomes a message', async () => {
    const { page, task } = await openPortalWith('client', 'ada@example.com')
    await page.getByRole('button', { name: /Order 7/ }).click()
    const question = page.getByRole('region', { name: 'Question for you' })
    await question.getByRole('heading', { name: 'Which size do you need?' }).waitFor()
    await page.getByRole('status').getByText('Waiting for your answer').waitFor()
    expect(await page.getByRole('log').getByText('Which size do you need?').count()).toBe(0)
    await question.getByLabel('small').check()
    expect(await accessibilityViolations(page)).toEqual([])
    await question.getByRole('button', { name: 'Send answer' }).click()
    await page.getByRole('log').getByText('small', { exact: true }).waitFor()
    await question.waitFor({ state: 'detached' })
    await waitForStatus(console(), task, 'succeeded')
    expect(await outputOf(task)).toMatchObject({ got: { answer: 'small', answered_by: 'client' } })
    await page.getByText('Done', { exact: true }).waitFor()
  })

  test('portal: the first page shows questions too, and says if the team has answered already', async () => {
    const { page, task } = await openPortalWith('client_form', 'bea@example.com')
    const question = page.getByRole('region', { name: 'Question for you' })
    await question.getByLabel('City').fill('Bern')
    await question.getByLabel('Floor').fill('3')
    await question.getByRole('button', { name: 'Send answer' }).click()
    await question.waitFor({ state: 'detached' })
    await waitForStatus(console(), task, 'succeeded')
    expect(await outputOf(task)).toMatchObject({ got: { answer: { city: 'Bern', floor: 3 } } })
    const { thread_id } = (await console().call('GET', `/v1/tasks/${task}`)).body
    const { messages } = (await console().call('GET', `/v1/threads/${thread_id}`)).body
    expect(messages.map(({ body }: { body: string }) => body)).toContain('City: Bern\nFloor: 3')

    const other = await openPortalWith('client_form', 'cleo@example.com')
    const asked = other.page.getByRole('region', { name: 'Question for you' })
    await asked.getByLabel('City').fill('Basel')
    const edited = { answer: { city: 'Chur' } }
    await console().call('POST', `/v1/approvals/${await questionOf(other.task)}/approve`, { edited })
    await asked.getByRole('button', { name: 'Send answer' }).click()
    await asked.getByRole('alert').getByText('This question has been answered already.').waitFor()
    expect(await accessibilityViolations(other.page)).toEqual([])
  })

  test('portal: lists of objects, numbers, choices and names are fields, also by keyboard', async () => {
    const { page, task } = await openPortalWith('client_table', 'dan@example.com')
    const question = page.getByRole('region', { name: 'Question for you' })
    // A list starts with as many rows as it must have.
    await question.getByLabel('Guest 2: Name').waitFor()
    expect(await question.getByRole('textbox', { name: /Guest/ }).count()).toBe(2)
    expect(await question.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
    await question.getByText('2 to 3 entries.').waitFor()
    await question.getByLabel('Guest 1: Name').fill('Ada')
    await question.getByLabel('Guest 1: Age').fill('36')
    await question.getByLabel('Guest 1: Vegan').check()
    const addGuest = question.getByRole('button', { name: 'Add: Guest' })
    await addGuest.press('Enter')
    expect(await focusedLabel(page)).toBe('Guest 3: Name')
    await page.keyboard.type('Cleo')
    expect(await addGuest.isDisabled()).toBe(true)
    // The other rows keep their values, and the focus is not lost.
    await question.getByRole('button', { name: 'Remove: Guest 2' }).press('Enter')
    expect(await page.locator(':focus').getAttribute('aria-label')).toBe('Add: Guest')
    expect(await question.getByLabel('Guest 2: Name').inputValue()).toBe('Cleo')
    for (const number of ['4', '7']) {
      await question.getByRole('button', { name: 'Add: Table' }).press('Enter')
      await page.keyboard.type(number)
    }
    expect(await focusedLabel(page)).toBe('Table 2')
    await question.getByLabel('music').check()
    await question.getByLabel('cake').check()
    expect(await question.getByLabel('flowers').isDisabled()).toBe(true)
    for (const name of ['Parking', 'Parking']) {
      await question.getByRole('button', { name: 'Add: Notes' }).press('Enter')
      await page.keyboard.type(name)
      await page.keyboard.press('Tab')
      await page.keyboard.type('yes')
    }
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    expect(await accessibilityViolations(page)).toEqual([])
    await question.getByRole('button', { name: 'Send answer' }).click()
    expect(await focusedLabel(page)).toBe('Notes 2: Name')
    await question.getByLabel('Notes 2: Name').fill('Music')
    await question.getByRole('button', { name: 'Send answer' }).click()
    await question.waitFor({ state: 'detached' })
    await waitForStatus(console(), task, 'succeeded')
    const guests = [
      { name: 'Ada', age: 36, vegan: true },
      { name: 'Cleo', vegan: false },
    ]
    const answer = { guests, tables: [4, 7], extras: ['music', 'cake'], notes: { Parking: 'yes', Music: 'yes' } }
    expect(await outputOf(task)).toMatchObject({ got: { answer } })
  })

  test('portal: a list that is too short is refused at its first blank row or first box', async () => {
    const { page, task } = await openPortalWith('client_limits', 'fay@example.com')
    const question = page.getByRole('region', { name: 'Question for you' })
    const send = () => question.getByRole('button', { name: 'Send answer' }).click()
    await question.getByLabel('Pet 1: Name').fill('Rex')
    expect(await question.getByLabel(/^Many/).count()).toBe(10)
    await send()
    expect([await focusedLabel(page), await focusedProblem(page)]).toEqual(['Pet 2: Name', 'At least 2 entries.'])
    await question.getByLabel('Pet 2: Name').fill('Tom')
    await question.getByLabel('38').check()
    await send()
    expect([await focusedLabel(page), await focusedProblem(page)]).toEqual(['36', 'At least 2 entries.'])
    expect(await question.locator('input[type=checkbox]:required').count()).toBe(0)
    await question.getByLabel('40').check()
    await question.getByLabel('Seat 2').check()
    await question.getByRole('button', { name: 'Add: Included' }).click()
    await question.getByLabel('Included 1: Name').fill('Parking')
    expect(await accessibilityViolations(page)).toEqual([])
    await send()
    await question.waitFor({ state: 'detached' })
    await waitForStatus(console(), task, 'succeeded')
    const answer = {
      pets: [{ name: 'Rex' }, { name: 'Tom' }],
      sizes: [38, 40],
      seats: [false, true],
      included: { Parking: false },
    }
    expect((await outputOf(task)).got.answer).toEqual(answer)
  })

  test('console: the team fills in a list of objects too, and the tab keeps it', async () => {
    const { task } = await openPortalWith('client_table', 'ed@example.com')
    const page = await console().open(`/tasks/${task}`)
    await page.getByLabel('Guest 1: Name').fill('Ada')
    await page.getByLabel('Guest 2: Name').fill('Bob')
    await page.getByRole('link', { name: 'Tasks' }).first().click()
    await page.goBack()
    expect(await page.getByLabel('Guest 2: Name').inputValue()).toBe('Bob')
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Send answer' }).click()
    await waitForStatus(console(), task, 'succeeded')
    const guests = [
      { name: 'Ada', vegan: false },
      { name: 'Bob', vegan: false },
    ]
    expect(await outputOf(task)).toMatchObject({ got: { answer: { guests } } })
  })

  /** The label of the field that has the focus. */
  const focusedLabel = (page: Page): Promise<string> =>
    page.evaluate("document.activeElement?.labels?.[0]?.textContent ?? ''")

  /** Why the field that has the focus refuses its value. */
  const focusedProblem = (page: Page): Promise<string> => page.evaluate('document.activeElement.validationMessage')

  /** The portal of a client whose message made the agent ask back. */
  const openPortalWith = async (task_type: string, handle: string): Promise<{ page: Page; task: string }> => {
    const { body: connection } = await console().call('POST', '/v1/connections', {
      kind: 'email',
      name: handle,
      config: {},
    })
    const binding = { connection_id: connection.id, address: `to-${handle}`, wedge: 'ask', task_type }
    const { body: channel } = await console().call('POST', '/v1/channels', binding)
    const mail = { from: { handle, name: 'Ada' }, subject: 'Order 7', body: 'Please send it.' }
    const { body: inbound } = await console().call('POST', `/v1/channels/${channel.id}/inbound`, mail)
    await waitForStatus(console(), inbound.task_id, 'awaiting_approval')
    const { body: link } = await console().call('POST', `/v1/clients/${inbound.client_id}/portal-link`)
    const viewport = { width: 360, height: 700 }
    const page = await console().open(`/portal#${link.token}`, { signedIn: false, viewport, expected: /409/ })
    await page.getByRole('button', { name: 'Continue' }).click()
    return { page, task: inbound.task_id }
  }
})
