import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openWedgeLibrary, type FolderLibrary } from '../../src/wedges/library.ts'
import { tempFolder, minimalManifest, writeWedgeFiles } from './wedge-folder.ts'

function quietLog() {
  const errors: string[] = []
  const keep = (...args: unknown[]) => errors.push(String(args.at(-1)))
  return { errors, info: () => {}, error: keep }
}

async function open(root: string, log = quietLog()): Promise<FolderLibrary> {
  const shelf = await openWedgeLibrary(root, log)
  onTestFinished(() => shelf.stop())
  return shelf
}

test('the wedges of the project itself can be read', async () => {
  const log = quietLog()
  const shelf = await open(join(import.meta.dirname, '../../wedges'), log)
  expect(log.errors).toEqual([])
  expect(shelf.problems()).toEqual([])
  expect(shelf.all().map(({ slug }) => slug)).toEqual(['inbox-triage', 'invoice-chaser', 'refund-desk'])
})

test('a folder that was just placed is found at once, without registration', async () => {
  const root = await tempFolder()
  const shelf = await open(root)
  await writeWedgeFiles(root, 'desk', { 'wedge.json': minimalManifest('desk') })
  expect(shelf.get('desk')).toBeUndefined()
  expect((await shelf.find('desk'))?.slug).toBe('desk')
  expect(await shelf.find('../desk')).toBeUndefined()
  expect(await shelf.find('absent')).toBeUndefined()
})

test('a malformed manifest is told once per change and unknown to everything else', async () => {
  const root = await tempFolder()
  const log = quietLog()
  await writeWedgeFiles(root, 'desk', { 'wedge.json': '{' })
  const shelf = await open(root, log)
  await shelf.refresh()
  expect(shelf.get('desk')).toBeUndefined()
  expect(shelf.all()).toEqual([])
  expect(shelf.problems()).toEqual([{ wedge: 'desk', problem: expect.stringContaining('malformed json') }])
  expect(log.errors).toEqual([expect.stringMatching(/^wedge 'desk': wedge.json: malformed json/)])
  await writeWedgeFiles(root, 'desk', { 'wedge.json': minimalManifest('desk') })
  expect(await shelf.find('desk')).toBeDefined()
  expect(shelf.problems()).toEqual([])
})

test('a changed wedge is a new object, an unchanged one stays the same, and a removed one is gone', async () => {
  const root = await tempFolder()
  await writeWedgeFiles(root, 'a', { 'wedge.json': minimalManifest('a'), 'knowledge/terms.md': 'thirty days' })
  await writeWedgeFiles(root, 'b', { 'wedge.json': minimalManifest('b') })
  await writeWedgeFiles(root, 'no-wedge', { 'notes.md': '' })
  const shelf = await open(root)
  const [a, b] = shelf.all()
  await writeFile(join(root, 'a/knowledge/terms.md'), 'sixty days')
  await shelf.refresh()
  expect(shelf.get('b')).toBe(b)
  expect(shelf.get('a')).not.toBe(a)
  expect(shelf.get('a')?.knowledge[0]?.content).toBe('sixty days')
  expect(a?.knowledge[0]?.content).toBe('thirty days')
  await rm(join(root, 'a'), { recursive: true })
  await shelf.refresh()
  expect(shelf.all()).toEqual([b])
  expect(shelf.problems()).toEqual([])
})

test('code below a folder of workflows is part of the wedge as it was read', async () => {
  const root = await tempFolder()
  const source = minimalManifest('a', { workflows: [{ name: 'main' }] })
  await writeWedgeFiles(root, 'a', { 'wedge.json': source, 'workflows/main.mjs': '1', 'workflows/lib/n.mjs': 'old' })
  const shelf = await open(root)
  const before = shelf.get('a')
  await writeFile(join(root, 'a/workflows/lib/n.mjs'), 'newer')
  await shelf.refresh()
  expect(before?.code.files).toEqual({ 'main.mjs': '1', 'lib/n.mjs': 'old' })
  expect(shelf.get('a')?.code.files['lib/n.mjs']).toBe('newer')
  expect(shelf.get('a')?.code.digest).not.toBe(before?.code.digest)
})

test('what changes in the folder is noticed without being asked', async () => {
  const root = await tempFolder()
  await writeWedgeFiles(root, 'desk', { 'wedge.json': minimalManifest('desk'), 'skills/a.md': 'old' })
  const shelf = await open(root)
  shelf.start()
  await writeWedgeFiles(root, 'desk', { 'skills/a.md': 'newer' })
  await vi.waitUntil(() => shelf.get('desk')?.skills[0]?.content === 'newer', { timeout: 10_000 })
  await writeWedgeFiles(root, 'late', { 'wedge.json': minimalManifest('late') })
  await vi.waitUntil(() => shelf.get('late'), { timeout: 10_000 })
})

test('callers share a look, and each sees what was there when it called', async () => {
  const root = await tempFolder()
  const shelf = await open(root)
  const first = shelf.refresh()
  await writeWedgeFiles(root, 'desk', { 'wedge.json': minimalManifest('desk') })
  const found = await Promise.all(Array.from({ length: 20 }, () => shelf.find('desk')))
  await first
  expect(new Set(found).size).toBe(1)
  expect(found[0]?.slug).toBe('desk')
})

test('a folder that does not exist is said once and holds no wedges', async () => {
  const log = quietLog()
  const root = join(await tempFolder(), 'absent')
  const shelf = await open(root, log)
  await shelf.refresh()
  expect(shelf.all()).toEqual([])
  expect(log.errors).toEqual([`the wedges folder ${root} does not exist`])
})
