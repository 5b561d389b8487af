import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callApi } from '../http.ts'
import { accessibilityViolations, consoleFixture } from './console-browser.ts'
import { createMembers, createPendingTask, createSampleData } from './sample-data.ts'
import { openPage, pressAllControls } from './press-all-controls.ts'

type Kind = 'button' | 'link' | 'checkbox' | 'combobox'
type Control = [minRole: 'operator' | 'admin' | 'owner', kind: Kind, name: string | RegExp]
const ROLES = ['viewer', 'operator', 'admin', 'owner'] as const

/** The controls of each page that change something, with their minimum role. `:name` is a page of the sample data. */
const CONTROLS: Record<string, Control[]> = {
  '/': [['operator', 'link', 'Run a task']],
  '/approvals': [
    ['operator', 'button', 'Approve a'],
    ['operator', 'button', 'Reject r'],
    ['operator', 'checkbox', 'Select all'],
  ],
  '/tasks': [['operator', 'link', 'Run a task']],
  ':finished': [
    ['operator', 'button', 'Run again'],
    ['operator', 'button', 'Feedback'],
  ],
  ':pending': [
    ['operator', 'button', 'Cancel task'],
    ['operator', 'button', 'Approve a'],
  ],
  '/run?wedge=letters': [['operator', 'button', 'Run']],
  '/cases': [
    ['operator', 'button', 'New case'],
    ['operator', 'combobox', 'Stage of Access of Grace'],
    ['operator', 'button', 'Move Access of Grace'],
  ],
  ':case': [
    ['operator', 'button', 'Rename'],
    ['operator', 'button', 'Close'],
    ['operator', 'button', 'Run a task'],
    ['operator', 'button', 'Add note'],
    ['operator', 'combobox', 'Stage'],
    ['operator', 'combobox', 'Assignee'],
  ],
  '/conversations': [],
  '/clients': [['operator', 'button', 'New client']],
  ':client': [
    ['operator', 'button', 'Edit'],
    ['operator', 'button', 'Revoke portal access'],
    ['operator', 'button', 'Create portal link'],
  ],
  ':thread': [
    ['operator', 'button', 'Close'],
    ['operator', 'button', /^Take over/],
    ['operator', 'button', /^Send/],
    ['operator', 'button', 'Open a case'],
  ],
  '/records': [],
  '/wedges': [],
  '/wedges/refund-desk': [['operator', 'link', 'Run']],
  '/wedges/refund-desk?view=knowledge': [['operator', 'button', 'Add knowledge']],
  '/wedges/refund-desk?view=intake': [['operator', 'button', 'Dismiss']],
  '/wedges/refund-desk?view=policy': [
    ['operator', 'button', 'Simulate'],
    ['admin', 'button', 'Save rules'],
  ],
  '/connections': [
    ['admin', 'button', 'New connection'],
    ['admin', 'button', 'Test'],
    ['admin', 'button', 'Set secret'],
  ],
  ':connection': [
    ['admin', 'button', 'Test'],
    ['admin', 'button', 'Set secret'],
    ['admin', 'button', 'Edit'],
    ['admin', 'button', 'Delete'],
  ],
  '/channels': [
    ['admin', 'button', 'New channel'],
    ['operator', 'button', /^Send test/],
    ['admin', 'button', /^Edit/],
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
    ['admin', 'button', 'Invite member'],
    ['admin', 'combobox', 'Role of viewer@example.com'],
    ['admin', 'button', 'Remove viewer@example.com'],
    ['owner', 'combobox', 'Role of second@example.com'],
    ['owner', 'button', 'Remove second@example.com'],
  ],
  '/settings?view=projects': [
    ['admin', 'button', 'New project'],
    ['admin', 'button', /^Edit/],
  ],
  '/settings?view=notifications': [['admin', 'button', 'Set up Mail']],
}

const hasControlFor = (minRole: Control[0]) => (path: string) => CONTROLS[path]?.some(([one]) => one === minRole)
const ADMIN_PAGES = Object.keys(CONTROLS).filter(hasControlFor('admin'))
/** Admins and owners are tested only on the pages that have more controls for them. */
const TESTED_PAGES = {
  viewer: Object.keys(CONTROLS),
  operator: Object.keys(CONTROLS),
  admin: ADMIN_PAGES,
  owner: Object.keys(CONTROLS).filter(hasControlFor('owner')),
}

/** Pages that say which role to ask. */
const PAGES_WITH_HINT = new Set([
  '/approvals',
  ':connection',
  '/wedges/refund-desk?view=policy',
  '/settings?view=members',
])

describe('roles in the console', () => {
  const console = consoleFixture()
  let tokens: Awaited<ReturnType<typeof createMembers>>
  let samplePaths: Record<string, string>
  beforeAll(async () => {
    tokens = await createMembers(console())
    const second = { email: 'second@example.com', role: 'owner' }
    await callApi(console().url, tokens.owner, 'POST', '/v1/members', second)
    samplePaths = await createSampleData(console())
  })
  beforeEach(async () => {
    samplePaths = { ...samplePaths, pending: await createPendingTask(console()) }
  })
  const pageUrl = (path: string) => console().url + (samplePaths[path.slice(1)] ?? path)

  for (const role of ROLES) {
    test(`roles: the role ${role} sees exactly the controls that it can use`, async () => {
      const page = await console().newPage({ token: tokens[role] })
      for (const path of TESTED_PAGES[role]) {
        await openPage(page, pageUrl(path))
        for (const [minRole, kind, name] of CONTROLS[path] ?? []) {
          const control = page.getByRole('main').getByRole(kind, { name, exact: true }).first()
          if (ROLES.indexOf(role) >= ROLES.indexOf(minRole)) await control.waitFor()
          else expect(await control.count(), `${path} ${name}`).toBe(0)
        }
        if (role === 'viewer' && PAGES_WITH_HINT.has(path))
          expect(await accessibilityViolations(page), path).toEqual([])
      }
    }, 180_000)
  }

  test('roles: no control is refused to a viewer', async () => {
    const page = await console().newPage({ token: tokens.viewer })
    const refused = []
    for (const path of Object.keys(CONTROLS)) refused.push(...(await pressAllControls(page, pageUrl(path))))
    expect(refused).toEqual([])
  }, 300_000)

  test('roles: no control of the admin pages is refused to an operator', async () => {
    const page = await console().newPage({ token: tokens.operator })
    const refused = []
    for (const path of ADMIN_PAGES) refused.push(...(await pressAllControls(page, pageUrl(path))))
    expect(refused).toEqual([])
  }, 300_000)

  test('roles: shortcuts and the command menu offer a viewer no writes', async () => {
    const page = await console().open('/approvals', { token: tokens.viewer })
    await page.getByText('You have view-only access. Ask an operator to decide.').waitFor()
    const writes: string[] = []
    page.on('request', (request) => request.method() !== 'GET' && writes.push(request.url()))
    for (const key of ['x', 'X', 'a', 'a', 'Enter', 'e', 'r', 'Enter', 'g', 'r']) await page.keyboard.press(key)
    expect(await page.getByRole('main').getByRole('textbox').count()).toBe(0)
    expect(new URL(page.url()).pathname).toBe('/approvals')
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.getByText('Next / previous').first().waitFor()
    expect(await dialog.getByText(/Approve|Reject|Select|Run a task/).count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    const options = page.getByRole('dialog', { name: 'Search and commands' }).getByRole('option')
    await options.first().waitFor()
    await page.keyboard.type('run')
    await page.getByRole('option', { name: /g n/ }).or(page.getByText('No results')).waitFor()
    expect(await options.filter({ hasText: /^Run / }).count()).toBe(0)
    expect(writes).toEqual([])
  })

  test('roles: after a refusal the console notices that the role was changed', async () => {
    const { url } = console()
    const page = await console().open('/schedules', { token: tokens.operator })
    const members = await callApi(url, tokens.owner, 'GET', '/v1/members')
    const { id } = members.body.data.find(({ role }: { role: string }) => role === 'operator')
    const run = page.getByRole('button', { name: /^Run now/ })
    await run.waitFor()
    await callApi(url, tokens.owner, 'PUT', `/v1/members/${id}`, { role: 'viewer' })
    await run.click()
    await page.getByText("Role 'viewer' cannot do this").waitFor()
    await run.waitFor({ state: 'detached' })
  })
})
