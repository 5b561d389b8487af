import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { callApi } from '../http.ts'
import {
  accessibilityViolations,
  consoleFixture,
  HAS_HORIZONTAL_SCROLL,
  LAYOUT_SHIFT,
  violationsInBothThemes,
} from './console-browser.ts'
import { createMailConnection, linkMail, linkTo, receiveMail } from './notified-member.ts'
import { createMembers } from './sample-data.ts'

const PATH = '/settings?view=notifications'
const SERVICES = 'Services'
const ACCOUNTS = 'Your accounts'

/** The row of a service in one of the two tables. */
const rowOf = (page: Page, table: string, service: string) =>
  page.getByRole('region', { name: table }).getByRole('row', { name: new RegExp(`^${service}`) })

describe('notification settings', () => {
  const console = consoleFixture()
  let tokens: Awaited<ReturnType<typeof createMembers>>
  beforeAll(async () => {
    tokens = await createMembers(console())
    await createMailConnection(console())
  })
  const setUpMail = () => console().call('PUT', '/v1/notifiers/mail', { connection: 'outbox' })
  const readMine = async (token: string) => (await callApi(console().url, token, 'GET', '/v1/me/notifications')).body

  test('notifications: an admin sets up mail, and a member links the address', async () => {
    await console().call('DELETE', '/v1/notifiers/mail')
    await callApi(console().url, tokens.operator, 'DELETE', '/v1/me/notifications/links/mail')
    const admin = await console().open(PATH, { token: tokens.admin })
    await rowOf(admin, SERVICES, 'Mail').getByText('Not set up').waitFor()
    await admin.getByRole('button', { name: 'Set up Mail' }).click()
    const setup = admin.getByRole('dialog', { name: 'Set up Mail' })
    await setup.getByLabel('Connection').selectOption('outbox')
    expect(await accessibilityViolations(admin)).toEqual([])
    await setup.getByRole('button', { name: 'Save connection' }).click()
    await admin.getByText('Mail saved').waitFor()
    await setup.getByRole('button', { name: 'Done' }).click()
    await rowOf(admin, SERVICES, 'Mail').getByText('Ready').waitFor()

    const page = await console().open(PATH, { token: tokens.operator })
    await page.getByRole('button', { name: 'Link Mail' }).click()
    const dialog = page.getByRole('dialog', { name: 'Link Mail' })
    await dialog.getByText('A mail was sent to operator@example.com.').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    const mail = await receiveMail(console(), 'operator@example.com', /^Confirm/)
    const other = await console().open(linkTo('/settings', mail), { token: tokens.operator })
    await other.getByText('You opened the link of a confirmation mail.').waitFor()
    expect((await readMine(tokens.operator)).links).toEqual([])
    expect(await accessibilityViolations(other)).toEqual([])
    await other.getByRole('button', { name: 'Confirm address' }).click()
    await other.getByText('Mail address confirmed').waitFor()
    expect(new URL(other.url()).hash).toBe('')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Mail is linked').waitFor()
    await rowOf(page, ACCOUNTS, 'Mail').getByText('operator@example.com').waitFor()
  })

  test('notifications: a member unlinks an account after a confirmation', async () => {
    await setUpMail()
    await linkMail(console(), tokens.operator, 'operator@example.com')
    const page = await console().open(PATH, { token: tokens.operator })
    await page.getByRole('button', { name: 'Unlink Mail' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Unlink' }).click()
    await rowOf(page, ACCOUNTS, 'Mail').getByText('Not linked').waitFor()
    expect((await readMine(tokens.operator)).links).toEqual([])
  })

  test('notifications: the defaults of the project apply until a member chooses own settings', async () => {
    await setUpMail()
    const admin = await console().open(PATH, { token: tokens.admin })
    const defaults = admin.getByRole('form', { name: 'Default notification settings' })
    await defaults.getByLabel('When to notify: Low risk').selectOption('In the daily digest')
    await defaults.getByLabel('Quiet hours', { exact: true }).check()
    await defaults.getByLabel('From').fill('21:30')
    await defaults.getByLabel('Time zone').fill('Europe/Berlin')
    await defaults.getByRole('button', { name: 'Save settings' }).click()
    await admin.getByText('Notification settings saved').waitFor()

    const page = await console().open(PATH, { token: tokens.operator })
    const own = page.getByRole('form', { name: 'Your notification settings' })
    await own.getByText('You get no messages by Mail until you link it above.').waitFor()
    expect(await own.getByLabel('From').inputValue()).toBe('21:30')
    expect(await own.getByLabel('From').isDisabled()).toBe(true)
    await own.getByLabel('Settings', { exact: true }).selectOption('Use my own settings')
    await own.getByRole('group', { name: 'High risk' }).getByLabel('Slack').uncheck()
    await own.getByLabel('When to notify: Medium risk').selectOption('Never')
    expect(await own.getByRole('group', { name: 'Medium risk' }).getByLabel('Mail').isDisabled()).toBe(true)
    await own.getByLabel('Quiet hours', { exact: true }).uncheck()
    await own.getByLabel('Time of the daily digest').fill('07:45')
    expect(await accessibilityViolations(page)).toEqual([])
    await own.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Notification settings saved').waitFor()
    expect(await readMine(tokens.operator)).toMatchObject({
      settings: {
        high: { via: ['telegram', 'mail'], when: 'now' },
        medium: { when: 'never' },
        low: { when: 'digest' },
        quiet_hours: null,
        digest_at: '07:45',
        time_zone: 'Europe/Berlin',
      },
      project_settings: { quiet_hours: { from: '21:30', to: '07:00' } },
    })
    await page.reload()
    await own.getByLabel('Settings', { exact: true }).selectOption('Use the defaults of the project')
    await own.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Notification settings saved').waitFor()
    expect(await readMine(tokens.operator)).toMatchObject({ settings: null })
  })

  test('notifications: a wrong time zone is refused with a reason', async () => {
    const page = await console().open(PATH, { token: tokens.admin, expected: /400/ })
    const defaults = page.getByRole('form', { name: 'Default notification settings' })
    await defaults.getByLabel('Time zone').fill('Mars/Olympus')
    await defaults.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText(/time_zone/).waitFor()
  })

  test('notifications: an operator sees no setup, a viewer hears who is notified, a key has no account', async () => {
    const operator = await console().open(PATH, { token: tokens.operator })
    await operator.getByText('Your role is operator. Ask an admin to set up Slack, Telegram or mail.').waitFor()
    expect(await operator.getByRole('button', { name: /^Set up/ }).count()).toBe(0)
    const viewer = await console().open(PATH, { token: tokens.viewer })
    await viewer.getByText('Only members who can decide get notifications.').waitFor()
    const key = await console().open(PATH)
    await key.getByText('Sign in with an account to get notifications.').waitFor()
    await rowOf(key, SERVICES, 'Mail').waitFor()
  })

  test('notifications: the page fits a phone and a desktop in both themes', async () => {
    for (const width of [390, 1440]) {
      const page = await console().open(PATH, { token: tokens.owner, viewport: { width, height: 844 } })
      await page.getByRole('form', { name: 'Default notification settings' }).waitFor()
      await page.getByRole('form', { name: 'Your notification settings' }).waitFor()
      expect(await page.evaluate(LAYOUT_SHIFT), `${width} pixels`).toBeLessThan(0.01)
      expect(await violationsInBothThemes(page), `${width} pixels`).toEqual([])
      expect(await page.evaluate(HAS_HORIZONTAL_SCROLL), `${width} pixels`).toBe(false)
    }
  })

  test('notifications: an admin removes a service after a confirmation', async () => {
    await setUpMail()
    const page = await console().open(PATH, { token: tokens.admin })
    await page.getByRole('button', { name: 'Remove Mail' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
    await rowOf(page, SERVICES, 'Mail').getByText('Not set up').waitFor()
    expect((await callApi(console().url, tokens.admin, 'GET', '/v1/notifiers')).body.data).toEqual([])
  })
})
