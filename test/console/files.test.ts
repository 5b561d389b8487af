import { describe, expect, test } from 'vitest'
import { parseCsv } from '../../console/src/ui/csv.ts'
import { previewKind } from '../../console/src/ui/preview-kind.ts'
import { accessibilityViolations, consoleFixture, waitForStatus } from './console-browser.ts'

describe('files in the console', () => {
  const console = consoleFixture()

  test('run page: chosen files are uploaded, given to the task and shown on its page', async () => {
    const page = await console().open('/run?wedge=letters&task_type=write')
    await page.locator('input[type=file]').setInputFiles([
      { name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Notes\n\n- **Ring** twice') },
      { name: 'order.json', mimeType: 'application/json', buffer: Buffer.from('{"order":"A-1001"}') },
      { name: 'wrong.txt', mimeType: 'text/plain', buffer: Buffer.from('A mistake.') },
    ])
    const attached = page.getByRole('list', { name: 'Attached files' })
    await attached.getByText('wrong.txt').waitFor()
    await expect.poll(() => attached.getByRole('button').count()).toBe(3)
    await attached.getByRole('button', { name: 'Remove wrong.txt' }).click()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.waitForURL('**/tasks/task_*')
    const files = page.getByRole('list', { name: 'Files', exact: true })
    await expect.poll(() => files.getByRole('listitem').count()).toBe(2)
    await files.getByRole('button', { name: 'Preview notes.md' }).click()
    await page.getByRole('dialog').locator('strong').getByText('Ring').waitFor()
    expect(await accessibilityViolations(page)).toEqual([])
    await page.keyboard.press('Escape')
    await files.getByRole('button', { name: 'Preview order.json' }).click()
    await page.getByRole('dialog').getByText('"A-1001"').waitFor()
    await page.keyboard.press('Escape')
    const saved = page.waitForEvent('download')
    await files.getByRole('button', { name: 'Download order.json' }).click()
    expect((await saved).suggestedFilename()).toBe('order.json')
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const { body } = await console().call('GET', `/v1/tasks/${id}`)
    expect(body.files.map(({ name }: { name: string }) => name)).toEqual(['notes.md', 'order.json'])
  })

  test('task page: the files that a run made can be previewed', async () => {
    const { body } = await console().call('POST', '/v1/tasks', { wedge: 'quotes', task_type: 'quote' })
    await waitForStatus(console(), body.id, 'succeeded')
    const page = await console().open(`/tasks/${body.id}`)
    await page.getByRole('button', { name: /^Preview .*quote\.txt/ }).click()
    await page.getByRole('dialog').getByText('84 USD').waitFor()
  })
})

test('a file with scripts is never shown, whatever its name says', () => {
  const kindOf = (name: string, content_type: string, size = 10) => previewKind({ name, content_type, size })
  expect(kindOf('logo.svg', 'image/svg+xml')).toBe(null)
  expect(kindOf('page.html', 'text/html')).toBe(null)
  expect(kindOf('photo.png', 'text/html')).toBe(null)
  expect(kindOf('photo.png', 'image/png')).toBe('image')
  expect(kindOf('a.bin', 'application/pdf; charset=binary')).toBe('pdf')
  expect(kindOf('list.csv', 'application/octet-stream')).toBe('csv')
  expect(kindOf('list.csv', 'text/csv', 5_000_000)).toBe(null)
})

test.each([
  [
    'a,b\n1,2\n',
    [
      ['a', 'b'],
      ['1', '2'],
    ],
  ],
  [
    'a;b\r\n"x; y";2',
    [
      ['a', 'b'],
      ['x; y', '2'],
    ],
  ],
  [
    'a,b\n"line\nbreak","say ""hi"""',
    [
      ['a', 'b'],
      ['line\nbreak', 'say "hi"'],
    ],
  ],
  ['', []],
])('CSV text %j is read as rows', (text, rows) => {
  expect(parseCsv(text, 100)).toEqual(rows)
})

test('CSV text is read up to the number of rows that is shown', () => {
  expect(parseCsv('a\n1\n2\n3\n', 2)).toEqual([['a'], ['1']])
})
