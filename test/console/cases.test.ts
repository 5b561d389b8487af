import { describe, expect, test } from 'vitest'
import { FOUNDER_KEY } from '../app.ts'
import { callApi } from '../http.ts'
import {
  accessibilityViolations,
  consoleFixture,
  HAS_HORIZONTAL_SCROLL,
  violationsInBothThemes,
} from './console-browser.ts'

const WIDTHS = [390, 1440]

describe('cases', () => {
  const console = consoleFixture()
  const create = async (title: string): Promise<string> =>
    (await console().call('POST', '/v1/cases', { wedge: 'inbox-triage', title })).body.id
  const stageOf = async (id: string) => (await console().call('GET', `/v1/cases/${id}`)).body.stage
  const stages = async (): Promise<string[]> => {
    const { data } = (await console().call('GET', '/v1/wedges')).body
    return data.find(({ wedge }: { wedge: string }) => wedge === 'inbox-triage').manifest.cases.stages
  }

  test('board: a case moves by dragging it to another stage, and with the arrow keys', async () => {
    const id = await create('Broken screen')
    const [first = '', second = ''] = await stages()
    const page = await console().open('/cases?wedge=inbox-triage')
    const card = page.getByRole('article', { name: 'Broken screen' })
    const column = (stage: string) => page.locator(`section[aria-label="${label(stage)}"]`)
    await card.dragTo(column(second))
    await column(second).getByRole('article', { name: 'Broken screen' }).waitFor()
    await expect.poll(() => stageOf(id)).toBe(second)

    await card.getByRole('button', { name: 'Move Broken screen' }).focus()
    await page.keyboard.press('ArrowLeft')
    await column(first).getByRole('article', { name: 'Broken screen' }).waitFor()
    await page.getByText(`Broken screen moved to ${label(first)}`).waitFor({ state: 'attached' })
    await expect.poll(() => stageOf(id)).toBe(first)
    // The focus follows the card, so that the next key moves it further.
    await page.keyboard.press('ArrowRight')
    await column(second).getByRole('article', { name: 'Broken screen' }).waitFor()
    await expect.poll(() => stageOf(id)).toBe(second)
    expect(await accessibilityViolations(page)).toEqual([])
  })

  test('board: a move that the server refuses is taken back', async () => {
    await create('Stubborn')
    const [first = '', second = ''] = await stages()
    const page = await console().open('/cases?wedge=inbox-triage', { expected: /status of 409/ })
    await page.route('**/v1/cases/*', (route) =>
      route.request().method() === 'PUT'
        ? route.fulfill({ status: 409, json: { error: 'case is locked' } })
        : route.continue(),
    )
    const column = (stage: string) => page.locator(`section[aria-label="${label(stage)}"]`)
    await page.getByRole('article', { name: 'Stubborn' }).dragTo(column(second))
    await page.getByText('Case is locked').waitFor()
    await column(first).getByRole('article', { name: 'Stubborn' }).waitFor()
  })

  test('case page: a long title fits a phone', async () => {
    const title = 'Parcel'.repeat(20)
    const page = await console().open(`/cases/${await create(title)}`, { viewport: { width: 390, height: 844 } })
    const heading = await page.getByRole('heading', { name: title }).boundingBox()
    expect(heading && heading.x + heading.width).toBeLessThanOrEqual(390)
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
  })

  test('case page: notes, assignee, stage, tasks and the close are in the history', async () => {
    const account = { email: 'olga@example.com', password: 'correct horse battery', name: 'Olga' }
    const { session_token } = (await callApi(console().url, FOUNDER_KEY, 'POST', '/v1/auth/signup', account)).body
    const id = await create('Late parcel')
    const [, second = ''] = await stages()
    const page = await console().open(`/cases/${id}`, { token: session_token })
    await page.getByRole('heading', { name: 'Late parcel' }).waitFor()
    await page.getByLabel('Note').fill('The carrier lost it.')
    await page.getByRole('button', { name: 'Add note' }).click()
    const history = page.getByRole('list', { name: 'History' })
    await history.getByText('The carrier lost it.').waitFor()
    await history.getByText('by Olga').first().waitFor()
    await page.getByLabel('Assignee').selectOption({ label: 'Olga' })
    await history.getByText('Assigned to Olga').waitFor()
    await page.getByLabel('Stage').selectOption(second)
    await history.getByText(new RegExp(`→ ${label(second)}`)).waitFor()
    await page.getByRole('button', { name: 'Run a task' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText('Task started').waitFor()
    await expect.poll(() => page.getByRole('list', { name: 'Tasks' }).getByRole('listitem').count()).toBe(1)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Close' }).click()
    await history.getByText('Closed').waitFor()
    expect(await page.getByRole('button', { name: 'Run a task' }).count()).toBe(0)
  })

  test.each(WIDTHS)(
    'case page and board: they fit a width of %i pixels and are accessible in both themes',
    async (width) => {
      const id = await create(`Wide ${width}`)
      const page = await console().newPage({ viewport: { width, height: 800 } })
      for (const path of ['/cases?wedge=inbox-triage', `/cases/${id}`]) {
        await page.goto(console().url + path)
        await page.getByText(`Wide ${width}`).first().waitFor()
        expect(await violationsInBothThemes(page), path).toEqual([])
        expect(await page.evaluate(HAS_HORIZONTAL_SCROLL), path).toBe(false)
      }
    },
  )
})

/** The heading of a stage. */
const label = (stage: string) => (stage.charAt(0).toUpperCase() + stage.slice(1)).replaceAll('_', ' ')
