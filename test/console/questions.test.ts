import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { QUESTION_WEDGE } from '../approvals/question-app.ts'
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
