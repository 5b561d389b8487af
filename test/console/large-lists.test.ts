import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { consoleFixture } from './console-browser.ts'

const built = fileURLToPath(new URL('../../dist/console', import.meta.url))

/** Said in the output and not judged: how long something takes is the machine's business too. */
const say = (text: string) => process.stdout.write(`  ${text}\n`)

/** Notes when the page's heading stands and every moment in which nothing could be answered. */
const WATCH = `
  window.held = []
  new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => window.held.push(Math.round(duration))))
    .observe({ type: 'longtask', buffered: true })
  new MutationObserver((_, watch) => {
    if (!document.querySelector('main h1')) return
    performance.mark('usable')
    watch.disconnect()
  }).observe(document, { childList: true, subtree: true })
`

/** What a reader saw on the way down. */
interface Scrolled {
  /** Different rows, in all. */
  seen: number
  /** Rows in the document at the same time. */
  most: number
  frames: number
  /** Frames that began in a part of the list where no row was drawn. */
  blank: number
  longest: number
  held: number[]
}

const ROWS = `document.querySelector('[aria-label="Tasks, rows"]')`

/** A screen a frame, until so many rows were seen and the end has come. */
const scrollToEnd = (all: number) => `new Promise((resolve) => {
  const list = ${ROWS}
  const seen = new Set()
  const told = { seen: 0, most: 0, frames: 0, blank: 0, longest: 0, held: [] }
  const watch = new PerformanceObserver((all) => all.getEntries().forEach(({ duration }) => told.held.push(Math.round(duration))))
  watch.observe({ type: 'longtask' })
  let before = performance.now()
  const frame = (now) => {
    const rows = [...list.querySelectorAll('a')]
    rows.forEach((row) => seen.add(row.pathname))
    const { top, bottom } = list.getBoundingClientRect()
    const drawn = rows.some((row) => row.getBoundingClientRect().bottom > top && row.getBoundingClientRect().top < bottom)
    told.most = Math.max(told.most, rows.length)
    told.longest = Math.max(told.longest, Math.round(now - before))
    told.frames += 1
    told.blank += drawn ? 0 : 1
    before = now
    const end = list.scrollTop + list.clientHeight >= list.scrollHeight - 1
    if (end && seen.size >= ${all}) return resolve({ ...told, seen: seen.size })
    list.scrollBy(0, list.clientHeight)
    requestAnimationFrame(frame)
  }
  requestAnimationFrame(frame)
})`

describe('the console with much to show', () => {
  const console = consoleFixture()
  const finished = async () => {
    const { body } = await console().call('POST', '/v1/tasks', {
      wedge: 'refund-desk',
      task_type: 'check_eligibility',
      input: { order_id: 'S-1', amount_usd: 12, reason: 'wrong item' },
    })
    await expect
      .poll(async () => (await console().call('GET', `/v1/tasks/${body.id}`)).body.status, { timeout: 30_000 })
      .toBe('succeeded')
    return body.id as string
  }

  test('scrolls through ten thousand tasks with only those in the document that can be seen', async () => {
    const { db } = console().app.ctx
    const row = await db
      .selectFrom('tasks')
      .selectAll()
      .where('id', '=', await finished())
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: 10_000 }, (_, i) => ({ ...row, id: `task_${String(i).padStart(26, '0')}` }))
    while (rows.length > 0) await db.insertInto('tasks').values(rows.splice(0, 500)).execute()

    const page = await console().open('/tasks')
    const list = page.getByRole('region', { name: 'Tasks, rows' })
    await list.getByRole('link').first().waitFor()
    const shown = (): Promise<string[]> => page.evaluate(`[...${ROWS}.querySelectorAll('a')].map((a) => a.href)`)
    const told = await page.evaluate<Scrolled>(scrollToEnd(10_001))
    say(
      `10,000 tasks: ${told.frames} frames, the longest ${told.longest} ms; ${told.held.length} long tasks, ` +
        `the longest ${Math.max(0, ...told.held)} ms; at most ${told.most} rows at once, ${told.blank} frames without any`,
    )
    expect(told.seen).toBe(10_001)
    expect(told.most).toBeLessThan(100)
    expect(told.blank).toBe(0)
    // Newest first: the row that stands last is the oldest of all.
    expect((await shown()).at(-1)).toMatch(/task_0{26}$/)

    await page.evaluate(`${ROWS}.scrollTo(0, 0)`)
    const fresh = await finished()
    const chip = page.getByRole('button', { name: /1 new/ })
    await chip.waitFor()
    expect((await shown()).some((href) => href.includes(fresh))).toBe(false)
    await chip.click()
    await page.locator(`a[href*="${fresh}"]`).waitFor()
  })

  test('opens a task with twenty thousand events and goes on answering', async () => {
    const { db } = console().app.ctx
    const id = await finished()
    const last = await db
      .selectFrom('events')
      .selectAll()
      .where('task_id', '=', id)
      .orderBy('seq', 'desc')
      .executeTakeFirstOrThrow()
    const much = Array.from({ length: 20_000 }, (_, i) => ({
      ...last,
      seq: last.seq + i,
      ...(i % 4 === 0
        ? { type: 'progress', data: JSON.stringify({ text: `note ${i}` }) }
        : { type: 'token.delta', data: JSON.stringify({ text: `word ${i} ` }) }),
    }))
    const end = { ...last, seq: last.seq + much.length }
    await db.deleteFrom('events').where('task_id', '=', id).where('seq', '=', last.seq).execute()
    while (much.length > 0) await db.insertInto('events').values(much.splice(0, 1_000)).execute()
    await db.insertInto('events').values(end).execute()
    await db.updateTable('tasks').set({ last_event_id: end.seq }).where('id', '=', id).execute()

    const page = await console().open('/docs')
    await page.addInitScript(WATCH)
    await page.goto(`${console().url}/tasks/${id}`)
    const log = page.getByRole('log')
    await log.getByText('word 1').first().waitFor()
    expect(await page.locator('[data-index]').count()).toBeLessThan(100)
    await page.getByRole('button', { name: 'All events' }).click()
    await page.getByRole('region', { name: 'All events' }).getByRole('button').first().waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'All events' }).textContent()).toContain('20,00')
    const held: number[] = await page.evaluate('window.held')
    say(`20,000 events: ${held.length} long tasks, the longest ${Math.max(0, ...held)} ms`)
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.getByRole('heading', { name: 'Tasks' }).waitFor()
  })

  test('can be used as soon as its heading stands', async () => {
    const page = await console().open('/docs')
    await page.addInitScript(WATCH)
    for (const path of ['/', '/approvals', '/tasks']) {
      await page.goto(console().url + path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      const after: number = await page.evaluate(`performance.getEntriesByName('usable')[0].startTime`)
      say(`${path} could be used after ${Math.round(after)} ms`)
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
      await page.keyboard.press('Escape')
    }
  })
})

describe('the built console', () => {
  const weigh = (html: string) =>
    [...readFileSync(join(built, html), 'utf8').matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)]
      .map(([, name]) => statSync(join(built, `${name}.br`)).size)
      .reduce((sum, size) => sum + size, 0)

  test('is less than 300 KB of script in all, and each page a file of its own', () => {
    const scripts = readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.js.br'))
    const sizes = scripts.map((name) => statSync(join(built, 'assets', name)).size)
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000)
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

  test('loads less than 150 KB of script first, and the portal less than 100', () => {
    expect(weigh('index.html')).toBeGreaterThan(0)
    expect(weigh('index.html')).toBeLessThan(150_000)
    expect(weigh('portal.html')).toBeLessThan(100_000)
  })

  test('has no script or style in its pages, and no source that points elsewhere', () => {
    for (const html of ['index.html', 'portal.html']) {
      const text = readFileSync(join(built, html), 'utf8')
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bstyle=|(?:src|href)="(?!\/)/)
    }
    expect(readdirSync(join(built, 'assets')).filter((name) => name.endsWith('.map'))).toEqual([])
  })
})
