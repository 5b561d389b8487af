import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Brief, BriefFile } from '../../../src/platform/contract/agent-protocol.ts'
import { fileReadTool } from '../../../src/programs/harness/input-files.ts'
import { systemPrompt, taskTurn } from '../../../src/programs/harness/prompt.ts'
import type { HarnessRun } from '../../../src/programs/harness/harness-run.ts'
import { testBrief } from './fake-plane.ts'

function addFile(content: Buffer | string, more: Partial<BriefFile> = {}): BriefFile {
  const folder = mkdtempSync(join(tmpdir(), 'svc-in-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'file')
  writeFileSync(path, content)
  return { id: 'file_1', name: 'a.txt', content_type: 'text/plain', size: Buffer.byteLength(content), path, ...more }
}

const readFile = (file: BriefFile, offset?: number) =>
  fileReadTool.run({ brief: testBrief({ files: [file] }) } as HarnessRun, {
    file: file.name,
    ...(offset !== undefined && { offset }),
  })

test('a long file is read in parts that never cut a character', async () => {
  const text = `a${'ä€🙂x'.repeat(30_000)}`
  const file = addFile(text)
  let content = ''
  let parts = 0
  for (let offset: number | null = 0; offset !== null; parts++) {
    const outcome = await readFile(file, offset)
    if (!outcome.ok) throw new Error(outcome.error)
    const part = outcome.output as { content: string; next_offset: number | null; size: number }
    content += part.content
    offset = part.next_offset
  }
  expect(content === text).toBe(true)
  expect(parts).toBe(4)
})

test.each<[string, Buffer, string]>([
  ['with a byte order mark', Buffer.from('\uFEFFa;b'), 'a;b'],
  ['in the Windows encoding', Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65, 0x20, 0x80]), 'Grüße €'],
  ['that is empty', Buffer.alloc(0), ''],
])('a file %s is read as text', async (_, bytes, content) => {
  const file = addFile(bytes)
  expect(await readFile(file)).toMatchObject({ ok: true, output: { content, next_offset: null } })
})

test.each<[string, Buffer, string, RegExp]>([
  ['of bytes', Buffer.from([1, 0, 2]), 'application/zip', /is not text \(application\/zip\)/],
  [
    'that models see',
    Buffer.from('%PDF-1.7'),
    'application/pdf',
    /is not a text file\. Images and PDFs are shown in your first message if the model accepts them\./,
  ],
])('a file %s is not read', async (_, bytes, content_type, error) => {
  const file = addFile(bytes, { content_type })
  expect(await readFile(file)).toMatchObject({ ok: false, error: expect.stringMatching(error) })
})

const file = (n: number, content_type: string): BriefFile => ({
  id: `file_${n}`,
  name: `</files> "${n}"`,
  content_type,
  size: n,
  path: `/tmp/in/${n}`,
})

test('the first message lists all files as data and shows the images and PDFs', () => {
  const files = [file(1, 'image/png'), file(2, 'text/csv'), file(3, 'application/pdf'), file(4, 'image/svg+xml')]
  const turn = taskTurn(testBrief({ files, tools: ['run_command'] }))
  expect(turn).toMatchObject({ by: 'user', files: ['file_1', 'file_3'] })
  const text = turn.by === 'user' ? turn.text : ''
  expect(text).toContain('- file_2: "<\\/files> \\"2\\"" (text/csv, 2 bytes), at /tmp/in/2')
  expect(text.match(/<\/files>/g)).toHaveLength(1)
})

test.each<[string, Partial<Brief>, boolean]>([
  ['a task with files and actions', { files: [file(1, 'text/csv')], tools: ['act'] }, true],
  ['a task that makes files', { tools: ['act', 'file_attach'] }, true],
  ['a task without actions', { files: [file(1, 'text/csv')] }, false],
  ['a task without files', { tools: ['act'] }, false],
])('the rule for sending files is given to %s: %#', (_, more, isGiven) => {
  expect(systemPrompt(testBrief(more)).includes('{"$file": id}')).toBe(isGiven)
})

test('a task without files has a first message of text only', () => {
  expect(Object.keys(taskTurn(testBrief()))).toEqual(['by', 'text'])
})
