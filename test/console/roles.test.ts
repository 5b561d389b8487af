import type { Page } from 'playwright-core'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callApi } from '../http.ts'
import { barriers, sharedConsole } from './browser.ts'
import { asking, people, stock } from './stock.ts'
import { drawn, tryEverything } from './try-everything.ts'

type Kind = 'button' | 'link' | 'checkbox' | 'combobox'
type Control = [least: 'operator' | 'admin' | 'owner', kind: Kind, name: string | RegExp]
const RANKS = ['viewer', 'operator', 'admin', 'owner'] as const

/** What each page offers that changes something, and to whom. `:name` is an address that only the test knows. */
const OFFERED: Record<string, Control[]> = {
  '/': [['operator', 'link', 'Run a task']],
  '/approvals': [
    ['operator', 'button', 'Approve a'],
    ['operator', 'button', 'Reject r'],
    ['operator', 'checkbox', 'Pick all'],
  ],
  '/tasks': [['operator', 'link', 'Run a task']],
  ':done': [
    ['operator', 'button', 'Run again'],
    ['operator', 'button', 'Feedback'],
  ],
  ':asking': [
    ['operator', 'button', 'Cancel'],
    ['operator', 'button', 'Approve a'],
  ],
  '/run?wedge=letters': [['operator', 'button', 'Run']],
  '/cases': [
    ['operator', 'button', 'New case'],
    ['operator', 'combobox', 'Stage of Access of Grace'],
    ['operator', 'button', 'Close'],
  ],
  '/clients': [['operator', 'button', 'New client']],
  ':client': [
    ['operator', 'button', 'Edit'],
    ['operator', 'button', 'Revoke portal access'],
    ['operator', 'button', 'Create portal link'],
  ],
  ':thread': [
    ['operator', 'button', 'Close'],
    ['operator', 'button', 'Reply'],
  ],
  '/records': [],
  '/wedges': [],
  '/wedges/refund-desk': [['operator', 'link', 'Run']],
  '/wedges/refund-desk?view=knowledge': [['operator', 'button', 'Add knowledge']],
  '/wedges/refund-desk?view=intake': [['operator', 'button', 'Dismiss']],
  '/wedges/refund-desk?view=policy': [['operator', 'button', 'Simulate']],
  '/connections': [
    ['admin', 'button', 'New connection'],
    ['admin', 'button', 'Connect app'],
    ['admin', 'button', 'Test'],
    ['admin', 'button', 'Set secret'],
    ['admin', 'button', 'Delete'],
  ],
  '/channels': [
    ['admin', 'button', 'New channel'],
    ['operator', 'button', /^Send test/],
    ['admin', 'button', /^Delete/],
  ],
  '/schedules': [
    ['operator', 'button', 'New schedule'],
    ['operator', 'checkbox', 'ledger enabled'],
    ['operator', 'button', /^Run now/],
  ],
  '/webhooks': [
    ['admin', 'button', 'New webhook'],
    ['admin', 'checkbox', 'Enabled'],
    ['admin', 'button', 'Rotate secret'],
    ['admin', 'button', /^Retry/],
  ],
  '/blueprints': [['admin', 'button', 'Set up']],
  '/analytics': [],
  '/audit': [],
  '/settings': [
    ['admin', 'button', 'New key'],
    ['admin', 'button', /^Revoke/],
  ],
  '/settings?view=members': [
    ['admin', 'button', 'Invite'],
    ['admin', 'combobox', 'Role of viewer@example.com'],
    ['admin', 'button', 'Remove viewer@example.com'],
    ['owner', 'combobox', 'Role of olga@example.com'],
    ['owner', 'button', 'Remove olga@example.com'],
  ],
  '/settings?view=projects': [
    ['admin', 'button', 'New project'],
    ['admin', 'button', /^Change/],
  ],
}

const offers = (least: Control[0]) => (path: string) => OFFERED[path]?.some(([one]) => one === least)
const SETUP = Object.keys(OFFERED).filter(offers('admin'))
/** Roles grow, so of those above an operator only the pages count that have something more for them. */
const SHOWN = {
  viewer: Object.keys(OFFERED),
  operator: Object.keys(OFFERED),
  admin: SETUP,
  owner: Object.keys(OFFERED).filter(offers('owner')),
}

/** Where it is said who can do what is not offered. */
const TOLD = new Set(['/approvals', '/wedges/refund-desk?view=policy', '/settings?view=members'])

describe('what the console offers to a role', () => {
  const console = sharedConsole()
  let tokens: Awaited<ReturnType<typeof people>>
  let known: Record<string, string>
  beforeAll(async () => {
    tokens = await people(console())
    known = await stock(console())
  })
  beforeEach(async () => {
    known = { ...known, asking: await asking(console()) }
  })
  const at = (path: string) => console().url + (known[path.slice(1)] ?? path)
  const shown = async (page: Page, path: string) => {
    await page.goto(at(path))
    await drawn(page)
  }

  for (const role of RANKS) {
    test(`is to ${role === 'viewer' ? 'a' : 'an'} ${role} what the role may do, and nothing else`, async () => {
      const page = await console().open('/', { token: tokens[role] })
      for (const path of SHOWN[role]) {
        await shown(page, path)
        for (const [least, kind, name] of OFFERED[path] ?? []) {
          const control = page.getByRole('main').getByRole(kind, { name, exact: true }).first()
          if (RANKS.indexOf(role) >= RANKS.indexOf(least)) await control.waitFor()
          else expect(await control.count(), `${path} ${name}`).toBe(0)
        }
        if (role === 'viewer' && TOLD.has(path)) expect(await barriers(page), path).toEqual([])
      }
    }, 180_000)
  }

  test('is never refused to a viewer, whatever they press', async () => {
    const page = await console().open('/', { token: tokens.viewer })
    const refused = []
    for (const path of Object.keys(OFFERED)) refused.push(...(await tryEverything(page, at(path))))
    expect(refused).toEqual([])
  }, 300_000)

  test('is never refused to an operator where admins set things up', async () => {
    const page = await console().open('/', { token: tokens.operator })
    const refused = []
    for (const path of SETUP) refused.push(...(await tryEverything(page, at(path))))
    expect(refused).toEqual([])
  }, 300_000)

  test('is the same by keys and by the command menu', async () => {
    const page = await console().open('/approvals', { token: tokens.viewer })
    await page.getByText('Your role (viewer) may read; operators decide.').waitFor()
    const writes: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && writes.push(request.url()))
    for (const key of ['x', 'X', 'a', 'a', 'Enter', 'e', 'r', 'Enter', 'g', 'r']) await page.keyboard.press(key)
    expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe('/approvals')
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await sheet.getByText('Next, previous').first().waitFor()
    expect(await sheet.getByText(/approve|Reject|Pick|Run a task/).count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    const options = page.getByRole('dialog', { name: 'Search and commands' }).getByRole('option')
    await options.first().waitFor()
    await page.keyboard.type('run')
    await page.getByRole('option', { name: /g n/ }).or(page.getByText('Nothing found.')).waitFor()
    expect(await options.filter({ hasText: /^Run / }).count()).toBe(0)
    expect(writes).toEqual([])
  })

  test('is asked for again when it was refused: a role that was taken away is noticed', async () => {
    const { url } = console()
    const page = await console().open('/schedules', { token: tokens.operator })
    const members = await callApi(url, tokens.owner, 'GET', '/v1/members')
    const { id } = members.body.data.find(({ role }: { role: string }) => role === 'operator')
    const run = page.getByRole('button', { name: /^Run now/ })
    await run.waitFor()
    await callApi(url, tokens.owner, 'PUT', `/v1/members/${id}`, { role: 'viewer' })
    await run.click()
    await page.getByText("role 'viewer' cannot do this").waitFor()
    await run.waitFor({ state: 'detached' })
  })
})
