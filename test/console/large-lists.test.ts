import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { IS_MATRIX } from '../matrix.ts'
import { consoleFixture, waitForStatus } from './console-browser.ts'

const built = fileURLToPath(new URL('../../dist/console', import.meta.url))

/** Durations are printed and not asserted, because they depend on the machine. */
const print = (text: string) => process.stdout.write(`  ${text}\n`)

/** Records when the heading appears, and every long task of the browser. */
const RECORD_TIMING = `
  window.longTasks = []
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => window.longTasks.push(Math.round(duration))))
    .observe({ type: 'longtask', buffered: true })
  new MutationObserver((_, observer) => {
    if (!document.querySelector('main h1')) return
    performance.mark('usable')
    observer.disconnect()
  }).observe(document, { childList: true, subtree: true })
`

/** The measurements of one scroll to the end. */
interface ScrollResult {
  /** Distinct rows that were rendered. */
  seen: number
  /** The largest number of rows in the document at the same time. */
  maxRows: number
  frames: number
  /** Frames without a visible row. */
  blank: number
  longestMs: number
  longTasks: number[]
}

const ROWS = `document.querySelector('[aria-label="Tasks, rows"]')`

/** Scrolls one screen per frame until all rows were rendered and the end is reached. */
const scrollToEnd = (all: number) => `new Promise((resolve) => {
  const list = ${ROWS}
  const seen = new Set()
  const result = { seen: 0, maxRows: 0, frames: 0, blank: 0, longestMs: 0, longTasks: [] }
  const observer = new PerformanceObserver((all) => all.getEntries().forEach(({ duration }) => result.longTasks.push(Math.round(duration))))
  observer.observe({ type: 'longtask' })
  let before = performance.now()
  const frame = (now) => {
    const rows = [...list.querySelectorAll('a')]
    rows.forEach((row) => seen.add(row.pathname))
    const { top, bottom } = list.getBoundingClientRect()
    const isVisible = rows.some((row) => row.getBoundingClientRect().bottom > top && row.getBoundingClientRect().top < bottom)
    result.maxRows = Math.max(result.maxRows, rows.length)
    result.longestMs = Math.max(result.longestMs, Math.round(now - before))
    result.frames += 1
    result.blank += isVisible ? 0 : 1
    before = now
    const end = list.scrollTop + list.clientHeight >= list.scrollHeight - 1
    if (end && seen.size >= ${all}) return resolve({ ...result, seen: seen.size })
    list.scrollBy(0, list.clientHeight)
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
})`

/** Scrolling 10,000 rows takes half a minute. */
const TASKS = IS_MATRIX ? 10_000 : 3_000

describe('console with much data', () => {
  const console = consoleFixture()
  const finished = async () => {
    const { body } = await console().call('POST', '/v1/tasks', {
      wedge: 'refund-desk',
      task_type: 'check_eligibility',
      input: { order_id: 'S-1', amount_usd: 12, reason: 'wrong item' },
    })
    await waitForStatus(console(), body.id, 'succeeded')
    return body.id as string
  }

  test(`task list: ${TASKS} tasks scroll with only the visible rows in the document`, async () => {
    const { db } = console().app.ctx
    const row = await db
      .selectFrom('tasks')
      .selectAll()
      .where('id', '=', await finished())
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: TASKS }, (_, i) => ({ ...row, id: `task_${String(i).padStart(26, '0')}` }))
    while (rows.length > 0) await db.insertInto('tasks').values(rows.splice(0, 500)).execute()

    const page = await console().open('/tasks')
    const list = page.getByRole('region', { name: 'Tasks, rows' })
    await list.getByRole('link').first().waitFor()
    const shown = (): Promise<string[]> => page.evaluate(`[...${ROWS}.querySelectorAll('a')].map((a) => a.href)`)
    const result = await page.evaluate<ScrollResult>(scrollToEnd(TASKS + 1))
    print(
      `${TASKS} tasks: ${result.frames} frames, the longest ${result.longestMs} ms; ${result.longTasks.length} long tasks, ` +
        `the longest ${Math.max(0, ...result.longTasks)} ms; at most ${result.maxRows} rows at once, ${result.blank} frames without any`,
    )
    expect(result.seen).toBe(TASKS + 1)
    expect(result.maxRows).toBeLessThan(100)
    expect(result.blank).toBe(0)
    // Newest first, so the last row is the oldest task.
    expect((await shown()).at(-1)).toMatch(/task_0{26}$/)

    await page.evaluate(`${ROWS}.scrollTo(0, 0)`)
    const newTask = await finished()
    const newButton = page.getByRole('button', { name: /1 new/ })
    await newButton.waitFor()
    expect((await shown()).some((href) => href.includes(newTask))).toBe(false)
    await newButton.click()
    await page.locator(`a[href*="${newTask}"]`).waitFor()
  })

  test('task page: a task with 20,000 events stays responsive', async () => {
    const { db } = console().app.ctx
    const id = await finished()
    const last = await db
      .selectFrom('events')
      .selectAll()
      .where('task_id', '=', id)
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow()
    const manyEvents = Array.from({ length: 20_000 }, (_, i) => ({
      ...last,
      seq: last.seq + i,
      ...(i % 4 === 0
        ? { type: 'progress', data: JSON.stringify({ text: `note ${i}` }) }
        : { type: 'token.delta', data: JSON.stringify({ text: `word ${i} ` }) }),
    }))
    const end = { ...last, seq: last.seq + manyEvents.length }
    await db.deleteFrom('events').where('task_id', '=', id).where('seq', '=', last.seq).execute()
    while (manyEvents.length > 0) await db.insertInto('events').values(manyEvents.splice(0, 1_000)).execute()
    await db.insertInto('events').values(end).execute()
    await db.updateTable('tasks').set({ last_event_id: end.seq }).where('id', '=', id).execute()

    const page = await console().newPage()
    await page.addInitScript(RECORD_TIMING)
    await page.goto(`${console().url}/tasks/${id}`)
    const log = page.getByRole('log')
    await log.getByText('word 1').first().waitFor()
    expect(await page.locator('[data-index]').count()).toBeLessThan(100)
    await page.getByRole('button', { name: 'All events' }).click()
    await page.getByRole('region', { name: 'All events' }).getByRole('button').first().waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'All events' }).textContent()).toContain('20,00')
    const longTasks: number[] = await page.evaluate('window.longTasks')
    print(`20,000 events: ${longTasks.length} long tasks, the longest ${Math.max(0, ...longTasks)} ms`)
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
  })

  test('main pages: shortcuts work as soon as the heading is shown', async () => {
    const page = await console().newPage()
    await page.addInitScript(RECORD_TIMING)
    for (const path of ['/', '/approvals', '/tasks']) {
      await page.goto(console().url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const after: number = await page.evaluate(`performance.getEntriesByName('usable')[0].startTime`)
      print(`${path} was usable after ${Math.round(after)} ms`)
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
      await page.keyboard.press('Escape')
    }
  })
})

describe('built console', () => {
  const scriptBytes = (html: string) =>
    [...readFileSync(join(built, html), 'utf8').matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)]
      .map(([, name]) => statSync(join(built, `${name}.gz`)).size)
      .reduce((sum, size) => sum + size, 0)

  test('build: all scripts are less than 400 KB, and each page is a separate file', () => {
    const scripts = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.js.gz'))
    const sizes = scripts.map((name) => statSync(join(built, 'assets', name)).size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(400_000)
    const pages = [
      'home',
      'approvals',
      'task',
      'run',
      'wedge',
      'connections',
      'channels',
      'webhooks',
      'schedules',
      'audit',
    ]
    expect(pages.filter((page) => !scripts.some((name) => name.startsWith(`${page}-page-`)))).toEqual([])
  })

  test('build: the console first loads less than 150 KB of script, the portal less than 100 KB', () => {
    expect(scriptBytes('index.html')).toBeGreaterThan(0)
    expect(scriptBytes('index.html')).toBeLessThan(150_000)
    expect(scriptBytes('portal.html')).toBeLessThan(100_000)
  })

  test('build: the HTML has no inline script or style and no external source', () => {
    for (const html of ['index.html', 'portal.html']) {
      const text = readFileSync(join(built, html), 'utf8')
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|(?:src|href)="(?!\/)/)
    }
    expect(readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.map'))).toEqual([])
  })
})
