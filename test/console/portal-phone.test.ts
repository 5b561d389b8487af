import type { Locator, Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL, waitForStatus } from './console-browser.ts'

const PHONE = { width: 390, height: 844 }

const LONG_LINK = 'https://shop.example/a/very/long/path/without/any/break/teekanne-handgemacht-blau-1200ml.html'
const LONG_OPTION = 'Die große Teekanne mit handgemachtem Deckel, lieferbar in sechs bis acht Wochen nach der Zahlung'
const LONG_FILE = `Angebot-fuer-Grete-Mueller-Luedenscheidt-${'Teekanne-'.repeat(8)}2026.txt`

const DELIVERY_SCHEMA = {
  type: 'object',
  required: ['city', 'lift'],
  properties: {
    city: { type: 'string', title: 'Ort' },
    lift: { type: 'boolean', title: 'Aufzug vorhanden' },
    floor: { type: 'integer', enum: [1, 2], title: 'Etage' },
    couriers: { type: 'array', items: { type: 'string' }, title: 'Zusteller' },
    contact: { type: 'object', title: 'Kontakt', properties: { phone: { type: 'string', title: 'Telefon' } } },
    notes: { type: 'string', title: 'Hinweise' },
    access: { type: 'string', title: 'Zufahrt', description: 'Tor, Klingel und Zeiten' },
  },
}

const PAYLOAD = {
  customer: { name: 'Grete', street: 'Donaudampfschifffahrtsgesellschaftskapitänsweg 12a' },
  delivery_date: '2026-11-24',
  created_at: '2026-11-19T12:30:00Z',
  weight_kg: 3.5,
  order_number: 100_045,
  items: Array.from({ length: 8 }, () => ({ link: LONG_LINK, count: 2 })),
}

const ask = (input: object) => [
  { call: { tool: 'ask_person', input: { ...input, to: 'client' } } },
  { output: { reply: 'Danke.' } },
]

const KETTLE_WEDGE = {
  'kettles/wedge.json': {
    wedge: 'kettles',
    title: 'Kettles',
    tools: ['files'],
    approvals: [
      { action: 'ask_person', risk: 'high', required: true },
      { action: 'ship_it', approvers: ['client'], required: true },
    ],
    workflows: [{ name: 'ship_it' }],
    task_types: { form: {}, choice: {}, ship: {}, offer: {} },
  },
  'kettles/workflows/ship_it.mjs': 'export default () => ({ shipped: true })',
  'kettles/rehearsals/form.json': ask({ question: 'Wohin dürfen wir liefern?', schema: DELIVERY_SCHEMA }),
  'kettles/rehearsals/choice.json': ask({ question: 'Welche Kanne?', options: ['Klein', LONG_OPTION, LONG_LINK] }),
  'kettles/rehearsals/ship.json': [
    { call: { tool: 'workflow', input: { name: 'ship_it', args: PAYLOAD } } },
    { output: '{{last}}' },
  ],
  'kettles/rehearsals/offer.json': [
    { call: { tool: 'write_file', input: { path: `out/client/${LONG_FILE}`, content: '84 EUR' } } },
    { output: { reply: 'Hier ist Ihr Angebot.' } },
  ],
}

describe('client portal on a phone, in German', () => {
  const console = consoleFixture()
  let connection: string

  beforeAll(async () => {
    writeFiles(console().wedgesDir, KETTLE_WEDGE)
    await console().call('PUT', '/v1/brand', { language: 'de' })
    connection = (await console().call('POST', '/v1/connections', { kind: 'email', name: 'inbox', config: {} })).body.id
  })

  /** Creates a channel and a message of a client on it. */
  const receive = async (task_type: string, subject: string, handle = `${task_type}@example.com`) => {
    const binding = { connection_id: connection, address: `${task_type}-${handle}`, wedge: 'kettles', task_type }
    const { body: channel } = await console().call('POST', '/v1/channels', binding)
    const message = { from: { handle, name: 'Grete' }, subject, body: 'Bitte.' }
    return (await console().call('POST', `/v1/channels/${channel.id}/inbound`, message)).body
  }
  const openPortal = async (client_id: string, viewport = PHONE): Promise<Page> => {
    const { body: link } = await console().call('POST', `/v1/clients/${client_id}/portal-link`)
    const page = await console().open(`/portal#${link.token}`, { signedIn: false, viewport, expected: /404/ })
    await page.getByRole('button', { name: 'Weiter' }).click()
    return page
  }
  const openConversation = async (task_type: string, subject: string) => {
    const { task_id, client_id } = await receive(task_type, subject)
    await waitForStatus(console(), task_id, task_type === 'offer' ? 'succeeded' : 'awaiting_approval')
    const page = await openPortal(client_id)
    await page.getByRole('list', { name: 'Gespräche' }).getByText(subject, { exact: true }).click()
    await page.getByRole('log').getByText('Bitte.', { exact: true }).waitFor()
    return { page, task: task_id }
  }

  test('portal: a form asks for every field in German, and the answer is a message in German', async () => {
    const { page, task } = await openConversation('form', 'Lieferung')
    const question = page.getByRole('region', { name: 'Frage an Sie' })
    await question.getByText('Ein Eintrag pro Zeile.').waitFor()
    await question.getByRole('combobox', { name: 'Etage' }).waitFor()
    await question.getByRole('group', { name: 'Kontakt' }).getByLabel('Telefon').fill('0711 1')
    expect(await question.innerText()).not.toMatch(/null|One per line|\{/)
    // A long form leaves room for the messages and the composer.
    expect(await page.evaluate(HAS_VERTICAL_SCROLL)).toBe(false)
    await expectInside(page.getByRole('button', { name: 'Senden', exact: true }))
    await question.getByRole('textbox', { name: /^Ort/ }).fill('Bern')
    await question.getByLabel('Aufzug vorhanden').check()
    expect(await accessibilityViolations(page)).toEqual([])
    await question.getByRole('button', { name: 'Antwort senden' }).click()
    await waitForStatus(console(), task, 'succeeded')
    const { thread_id } = (await console().call('GET', `/v1/tasks/${task}`)).body
    const { messages } = (await console().call('GET', `/v1/threads/${thread_id}`)).body
    const answer = messages.map(({ body }: { body: string }) => body).find((body: string) => body.includes('Bern'))
    expect(answer).toContain('Kontakt:\n  Telefon: 0711 1')
    for (const line of ['Aufzug vorhanden: Ja', 'Ort: Bern']) expect(answer.split('\n')).toContain(line)
  })

  test('portal: long options and their buttons fit', async () => {
    const { page } = await openConversation('choice', 'Kanne')
    const question = page.getByRole('region', { name: 'Frage an Sie' })
    for (const option of [LONG_OPTION, LONG_LINK]) await expectInside(question.getByText(option))
    await question.getByLabel(LONG_LINK).check()
    await question.getByRole('button', { name: 'Ablehnen' }).click()
    await expectInside(question.getByRole('button', { name: /^Ablehnen: noch einmal/ }))
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
  })

  test('portal: a long approval fits, with its days, times and numbers in German', async () => {
    const { page } = await openConversation('ship', 'Versand')
    const card = page.getByRole('region', { name: 'Ihre Zustimmung wird gebraucht' })
    await card.getByText('24. November 2026', { exact: true }).waitFor()
    await card.getByText(/^19\. November 2026 um \d\d:30$/).waitFor()
    await card.getByText('3,5', { exact: true }).waitFor()
    await card.getByText('100045', { exact: true }).waitFor()
    const press = async (name: string) => {
      const button = card.getByRole('button', { name, exact: true })
      await expectInside(button)
      return button.click()
    }
    await press('Zustimmen')
    await expectInside(card.getByRole('button', { name: 'Ja, zustimmen' }))
    await press('Abbrechen')
    await press('Ablehnen')
    await expectInside(card.getByRole('button', { name: 'Ja, ablehnen' }))
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    expect(await page.evaluate(HAS_VERTICAL_SCROLL)).toBe(false)
  })

  test('portal: the button of a file with a long name fits', async () => {
    const { page } = await openConversation('offer', 'Angebot')
    await expectInside(page.getByRole('button', { name: `${LONG_FILE} herunterladen` }))
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
  })

  test('portal: a text and files that are not sent are there again after another conversation was open', async () => {
    const { client_id } = await receive('offer', 'Angebot', 'kept@example.com')
    await receive('choice', 'Kanne', 'kept@example.com')
    const page = await openPortal(client_id, { width: 1440, height: 900 })
    const list = page.getByRole('list', { name: 'Gespräche' })
    const field = page.getByRole('textbox', { name: 'Ihre Nachricht' })
    await list.getByText('Angebot', { exact: true }).click()
    await field.fill('Noch eine Frage')
    await page.locator('input[type=file]').setInputFiles({ name: 'foto.txt', mimeType: '', buffer: Buffer.from('x') })
    await page.getByRole('button', { name: 'foto.txt entfernen' }).waitFor()
    await list.getByText('Kanne', { exact: true }).click()
    await page.getByRole('heading', { name: 'Kanne', exact: true }).waitFor()
    expect(await field.inputValue()).toBe('')
    expect(await page.getByRole('button', { name: 'foto.txt entfernen' }).count()).toBe(0)
    await list.getByText('Angebot', { exact: true }).click()
    await page.getByRole('button', { name: 'foto.txt entfernen' }).waitFor()
    expect(await field.inputValue()).toBe('Noch eine Frage')
    await page.getByRole('button', { name: 'Senden', exact: true }).click()
    await page.getByRole('log').getByText('Noch eine Frage').waitFor()
    await list.getByText('Kanne', { exact: true }).click()
    await list.getByText('Angebot', { exact: true }).click()
    await page.getByRole('log').getByText('Noch eine Frage').waitFor()
    expect(await field.inputValue()).toBe('')
  })

  test('portal: a conversation that cannot be read has no field for a message', async () => {
    const { client_id } = await receive('offer', 'Angebot', 'other@example.com')
    const page = await openPortal(client_id)
    await page.getByRole('heading', { name: 'Hallo Grete' }).waitFor()
    await page.goto(`${console().url}/portal?thread=thr_none`)
    await page.getByText('Das ist im Moment nicht möglich.').waitFor()
    expect(await page.getByRole('textbox', { name: 'Ihre Nachricht' }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
  })
})

const HAS_VERTICAL_SCROLL = 'document.documentElement.scrollHeight > document.documentElement.clientHeight'

/** Expects that the element is as wide as the phone at most. */
async function expectInside(element: Locator): Promise<void> {
  await element.scrollIntoViewIfNeeded()
  const { x = 0, y = 0, width = 0, height = 0 } = (await element.boundingBox()) ?? {}
  expect(x).toBeGreaterThanOrEqual(0)
  expect(x + width).toBeLessThanOrEqual(PHONE.width)
  expect(y + height).toBeLessThanOrEqual(PHONE.height)
}
