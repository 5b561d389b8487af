import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeFiles } from '../app.ts'
import { type FakeUpstream, openFakeUpstream } from '../fake-upstream.ts'
import { SHOP_OPERATIONS, SHOP_WEDGE } from '../conversations/portal/approval-app.ts'
import { accessibilityViolations, consoleFixture, HAS_HORIZONTAL_SCROLL, waitForStatus } from './console-browser.ts'

/** A call whose arguments are nested, and which has no description. */
const SHIPPING = [
  {
    call: {
      tool: 'workflow',
      input: {
        name: 'ship_it',
        args: {
          to: { handle: 'joan@example.com', name: 'Joan' },
          line_items: [{ item: 'Teapot', count: 2 }, { item: 'Lid' }],
          colours: ['blue', 'white'],
          is_gift: true,
          topic: null,
        },
      },
    },
  },
  { output: '{{last}}' },
]

const PHONE = { width: 390, height: 844 }

describe('approvals by the client', () => {
  const console = consoleFixture()
  let outside: FakeUpstream
  let channel: string
  let shippingChannel: string

  afterAll(() => outside?.close())
  beforeAll(async () => {
    writeFiles(console().wedgesDir, { ...SHOP_WEDGE, 'shop/rehearsals/ship.json': SHIPPING })
    outside = await openFakeUpstream()
    const base_url = `${outside.url}/store`
    const store = { kind: 'custom', name: 'store', config: { base_url, operations: SHOP_OPERATIONS } }
    const { body } = await console().call('POST', '/v1/connections', store)
    const inbox = await console().call('POST', '/v1/connections', { kind: 'email', name: 'inbox', config: {} })
    await console().call('POST', `/v1/connections/${body.id}/secret`, { value: 'sk_test' })
    const createChannel = async (address: string, task_type: string): Promise<string> => {
      const binding = { connection_id: inbox.body.id, address, wedge: 'shop', task_type }
      return (await console().call('POST', '/v1/channels', binding)).body.id
    }
    channel = await createChannel('buy@example.com', 'act')
    shippingChannel = await createChannel('ship@example.com', 'ship')
  })

  /** A client whose message made the agent ask for an approval of the action. */
  const askClient = async (handle: string, name: string, action = 'store:order', through = channel) => {
    const message = { from: { handle, name }, subject: 'A teapot', body: action }
    const { body } = await console().call('POST', `/v1/channels/${through}/inbound`, message)
    await waitForStatus(console(), body.task_id, 'awaiting_approval')
    const { data } = (await console().call('GET', `/v1/approvals?task_id=${body.task_id}`)).body
    const { body: link } = await console().call('POST', `/v1/clients/${body.client_id}/portal-link`)
    const path = `/portal#${link.token}`
    return { task: body.task_id, approval: data[0].approval_id, client_id: body.client_id, path }
  }
  const openPortal = async (path: string, viewport?: typeof PHONE, colorScheme: 'light' | 'dark' = 'light') => {
    const page = await console().open(path, { signedIn: false, colorScheme, ...(viewport && { viewport }) })
    await page.getByRole('button', { name: /Continue|Weiter/ }).click()
    return page
  }

  test('portal: the card shows what will happen, and the action is performed after a confirmed approval', async () => {
    const { task, approval, path } = await askClient('grace@example.com', 'Grace Hopper')
    const page = await openPortal(path, PHONE)
    const title = 'Please confirm: place the order ($45.00)'
    const card = page.getByRole('region', { name: `Your approval is needed: ${title}`, exact: true })
    await card.getByRole('heading', { name: title }).waitFor()
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    await page.getByRole('button', { name: /A teapot/ }).click()
    await page.getByRole('log').getByText('Please confirm: place the order ($45.00).').waitFor()
    await card.getByText('Teapot').waitFor()
    expect(await card.getByText('4500').count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await card.getByRole('button', { name: 'Approve', exact: true }).click()
    await card.getByText('It is done as shown here as soon as you approve.').waitFor()
    expect((await console().call('GET', `/v1/approvals/${approval}`)).body.status).toBe('pending')
    await card.getByRole('button', { name: 'Cancel' }).click()
    await card.getByRole('button', { name: 'Approve', exact: true }).click()
    await card.getByRole('button', { name: 'Yes, approve' }).click()
    await card.getByText('You approved this.').waitFor()
    await waitForStatus(console(), task, 'succeeded')
    expect(await card.getByRole('button').count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.reload()
    await card.getByText('You approved this.').waitFor()
    const decided = await console().open(`/approvals?status=approved&id=${approval}`)
    await decided.getByText('Approved by Grace Hopper').waitFor()
  })

  test('portal: a client declines with a reason, also on the first page and in another language', async () => {
    await console().call('PUT', '/v1/brand', { name: 'Teapot Shop', language: 'de' })
    const { task, approval, path } = await askClient('joan@example.com', 'Joan')
    const page = await openPortal(path, undefined, 'dark')
    const card = page.getByRole('region', { name: 'Ihre Zustimmung wird gebraucht' })
    await card.getByRole('heading', { name: 'Bitte bestätigen Sie: Place the order (45,00 $)' }).waitFor()
    await card.getByRole('button', { name: 'Ablehnen' }).click()
    await card.getByLabel('Grund').fill('Too expensive.')
    expect(await accessibilityViolations(page)).toEqual([])
    await card.getByRole('button', { name: 'Ja, ablehnen' }).click()
    await card.getByText('Sie haben abgelehnt.').waitFor()
    await waitForStatus(console(), task, 'rejected')
    expect((await console().call('GET', `/v1/approvals/${approval}`)).body.reason).toBe('Too expensive.')
    await console().call('PUT', '/v1/brand', { language: 'en' })
  })

  test('portal: a client reads neither JSON, nor the name of an action, nor an English stage', async () => {
    await console().call('PUT', '/v1/brand', { name: 'Teapot Shop', language: 'de' })
    const { task, client_id, path } = await askClient('kai@example.com', 'Kai', 'ship it', shippingChannel)
    await console().call('POST', '/v1/cases', { wedge: 'shop', title: 'Der Versand', client_id })
    const page = await openPortal(path, PHONE)
    const card = page.getByRole('region', { name: 'Ihre Zustimmung wird gebraucht' })
    await card.getByRole('heading', { name: 'Bitte bestätigen Sie diesen Schritt' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'Der Versand' }).getByText('Neu', { exact: true }).waitFor()
    const lines = (await card.locator('dl').first().innerText()).split('\n').filter((line) => line !== '')
    const shipped = 'To Handle joan@example.com Name Joan Line items Item Teapot Count 2 Item Lid Colours blue white'
    expect(lines.join(' ')).toBe(`${shipped} Is gift Ja Topic —`)
    expect(await card.locator('pre').count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: /A teapot/ }).click()
    const notice = 'Bitte bestätigen Sie diesen Schritt. Im Portal können Sie zustimmen oder ablehnen.'
    await page.getByRole('log').getByText(notice).waitFor()
    expect(await page.locator('body').innerText()).not.toMatch(/ship_it|\{/)
    expect(await page.evaluate(HAS_HORIZONTAL_SCROLL)).toBe(false)
    await console().call('POST', `/v1/tasks/${task}/cancel`)
    await console().call('PUT', '/v1/brand', { language: 'en' })
  })

  test('portal: an approval that is asked for or withdrawn meanwhile appears and changes by itself', async () => {
    const { task, path } = await askClient('kim@example.com', 'Kim')
    const page = await openPortal(path)
    await page.getByRole('button', { name: /A teapot/ }).click()
    const card = page.getByRole('region', { name: 'Your approval is needed' })
    await card.getByRole('button', { name: 'Approve', exact: true }).waitFor()
    await console().call('POST', `/v1/tasks/${task}/cancel`)
    await card.getByText('This is no longer needed.').waitFor()
    await page.getByLabel('Your message').fill('store:contract')
    await page.keyboard.press('Enter')
    await card.getByRole('heading', { name: 'Please confirm: place the contract ($45.00)' }).waitFor()
    await card.getByRole('button', { name: 'Approve', exact: true }).click()
    await card.getByRole('button', { name: 'Yes, approve' }).click()
    await card.getByText('You approved this. It is done as soon as our team has approved it too.').waitFor()
  })

  test('console: an approval that waits for the client says so and offers no decision', async () => {
    const { task, approval } = await askClient('lea@example.com', 'Lea', 'ship it', shippingChannel)
    const page = await console().open(`/approvals?id=${approval}`)
    const card = page.getByRole('article', { name: 'Approval' })
    await card.getByText('Waits for Lea, who decides in the portal.').waitFor()
    await card.getByText('Only these may decide: Lea.').waitFor()
    expect(await card.getByRole('button', { name: /^(Approve|Edit|Revise|Reject)/ }).count()).toBe(0)
    expect(await accessibilityViolations(page)).toEqual([])
    await console().call('POST', `/v1/tasks/${task}/cancel`)
  })
})
