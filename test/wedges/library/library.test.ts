import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type FolderLibrary, openWedgeLibrary } from '../../../src/wedges/library/library.ts'
import { minimalManifest, tempFolder, writeWedgeFiles } from './wedge-folder.ts'

function recordingLog() {
  const errors: string[] = []
  const addError = (...args: unknown[]) => errors.push(String(args.at(-1)))
  return { errors, info: () => {}, error: addError }
}

async function openLibrary(root: string, log = recordingLog()): Promise<FolderLibrary> {
  const library = await openWedgeLibrary(root, log)
  onTestFinished(() => library.stop())
  return library
}

test('the example wedges of this repository load without problems', async () => {
  const log = recordingLog()
  const library = await openLibrary(join(import.meta.dirname, '../../../wedges'), log)
  expect(log.errors).toEqual([])
  expect(library.problems()).toEqual([])
  expect(library.all().map(({ slug }) => slug)).toEqual(['inbox-triage', 'invoice-chaser', 'refund-desk'])
})

test('a new wedge folder is found at once, without registration', async () => {
  const root = await tempFolder()
  const library = await openLibrary(root)
  await writeWedgeFiles(root, 'support', { 'wedge.json': minimalManifest('support') })
  expect(library.get('support')).toBeUndefined()
  expect((await library.find('support'))?.slug).toBe('support')
  expect(await library.find('../support')).toBeUndefined()
  expect(await library.find('absent')).toBeUndefined()
})

test('a wedge with a malformed manifest is not available, and the problem is logged once per change', async () => {
  const root = await tempFolder()
  const log = recordingLog()
  await writeWedgeFiles(root, 'support', { 'wedge.json': '{' })
  const library = await openLibrary(root, log)
  await library.refresh()
  expect(library.get('support')).toBeUndefined()
  expect(library.all()).toEqual([])
  expect(library.problems()).toEqual([
    { wedge: 'support', file: 'wedge.json', line: 1, message: expect.stringContaining('malformed json') },
  ])
  expect(log.errors).toEqual([expect.stringMatching(/^wedge 'support': wedge.json: malformed json/)])
  await writeWedgeFiles(root, 'support', { 'wedge.json': minimalManifest('support') })
  expect(await library.find('support')).toBeDefined()
  expect(library.problems()).toEqual([])
})

test('a changed wedge becomes a new object, an unchanged one stays the same, and a removed one disappears', async () => {
  const root = await tempFolder()
  await writeWedgeFiles(root, 'a', { 'wedge.json': minimalManifest('a'), 'knowledge/terms.md': 'thirty days' })
  await writeWedgeFiles(root, 'b', { 'wedge.json': minimalManifest('b') })
  await writeWedgeFiles(root, 'no-wedge', { 'notes.md': '' })
  const library = await openLibrary(root)
  const [a, b] = library.all()
  await writeFile(join(root, 'a/knowledge/terms.md'), 'sixty days')
  await library.refresh()
  expect(library.get('b')).toBe(b)
  expect(library.get('a')).not.toBe(a)
  expect(library.get('a')?.knowledge[0]?.content).toBe('sixty days')
  expect(a?.knowledge[0]?.content).toBe('thirty days')
  await rm(join(root, 'a'), { recursive: true })
  await library.refresh()
  expect(library.all()).toEqual([b])
  expect(library.problems()).toEqual([])
})

test('a wedge keeps the workflow code that was read with it', async () => {
  const root = await tempFolder()
  const source = minimalManifest('a', { workflows: [{ name: 'main' }] })
  await writeWedgeFiles(root, 'a', { 'wedge.json': source, 'workflows/main.mjs': '1', 'workflows/lib/n.mjs': 'old' })
  const library = await openLibrary(root)
  const before = library.get('a')
  await writeFile(join(root, 'a/workflows/lib/n.mjs'), 'newer')
  await library.refresh()
  expect(before?.code.files).toEqual({ 'main.mjs': '1', 'lib/n.mjs': 'old' })
  expect(library.get('a')?.code.files['lib/n.mjs']).toBe('newer')
  expect(library.get('a')?.code.digest).not.toBe(before?.code.digest)
})

test('changes in the wedges folder are noticed without a request', async () => {
  const root = await tempFolder()
  await writeWedgeFiles(root, 'support', { 'wedge.json': minimalManifest('support'), 'skills/a.md': 'old' })
  const library = await openLibrary(root)
  library.start()
  await writeWedgeFiles(root, 'support', { 'skills/a.md': 'newer' })
  await vi.waitUntil(() => library.get('support')?.skills[0]?.content === 'newer', { timeout: 180_000 })
  await writeWedgeFiles(root, 'late', { 'wedge.json': minimalManifest('late') })
  await vi.waitUntil(() => library.get('late'), { timeout: 180_000 })
})

test('concurrent callers share a scan, and each sees the files that existed when it called', async () => {
  const root = await tempFolder()
  const library = await openLibrary(root)
  const first = library.refresh()
  await writeWedgeFiles(root, 'support', { 'wedge.json': minimalManifest('support') })
  const found = await Promise.all(Array.from({ length: 20 }, () => library.find('support')))
  await first
  expect(new Set(found).size).toBe(1)
  expect(found[0]?.slug).toBe('support')
})

test('a missing wedges folder is logged once and has no wedges', async () => {
  const log = recordingLog()
  const root = join(await tempFolder(), 'absent')
  const library = await openLibrary(root, log)
  await library.refresh()
  expect(library.all()).toEqual([])
  expect(log.errors).toEqual([`the wedges folder ${root} does not exist`])
})
