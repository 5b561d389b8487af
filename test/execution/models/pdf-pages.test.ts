import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { countPdfPages } from '../../../src/execution/models/pdf-pages.ts'
import { pdfWithPages } from '../../work/files/add-file.ts'

const pages = '2 0 obj <</Type/Pages/Kids [3 0 R 4 0 R]/Count 2>>'
const stream = (dictionary: string, content: Buffer) =>
  Buffer.concat([Buffer.from(`9 0 obj <<${dictionary}>>\nstream\r\n`), content, Buffer.from('\nendstream endobj\n')])
const pdf = (...parts: (string | Buffer)[]) =>
  Buffer.concat([Buffer.from('%PDF-1.7\n'), ...parts.map((part) => Buffer.from(part))])

test('pages are counted in plain objects and in compressed ones', () => {
  expect(countPdfPages(pdfWithPages(1))).toBe(1)
  expect(countPdfPages(pdfWithPages(250))).toBe(250)
  expect(countPdfPages(pdf(stream('/Type/ObjStm/Filter/FlateDecode', deflateSync(Buffer.from(pages)))))).toBe(2)
  // What a stream of text or of an image contains does not count.
  expect(countPdfPages(pdf(pages, stream('', Buffer.from('/Kids [5 0 R 6 0 R 7 0 R]'))))).toBe(2)
})

test.each<[string, Buffer]>([
  ['has no page tree', pdf('1 0 obj <</Type/Catalog>>')],
  ['is encrypted', pdf(pages, 'trailer <</Encrypt 8 0 R>>')],
  ['lists a page twice', pdf('2 0 obj <</Kids [3 0 R 3  0 R]>>')],
  ['has its list of pages elsewhere', pdf(pages, '5 0 obj <</Kids 6 0 R>>')],
  ['escapes a name', pdf(pages, '5 0 obj <</K#69ds [6 0 R]>>')],
  ['has a broken list of objects', pdf(pages, stream('/Type /ObjStm/Filter/FlateDecode', Buffer.from('broken')))],
  ['has a stream without an end', pdf(pages, '5 0 obj <<>> stream\nxyz')],
  ['is not a PDF', Buffer.from('hello')],
])('the pages of a file that %s cannot be told', (_, content) => {
  expect(countPdfPages(content)).toBeNull()
})

test.each<[string, Buffer[]]>([
  ['that grow without limit', Array.from({ length: 3 }, () => deflateSync(Buffer.alloc(15 * 1024 * 1024, ' ')))],
  ['of any number', Array.from({ length: 2001 }, () => deflateSync(Buffer.from(' ')))],
])('the pages of a file with lists of objects %s cannot be told', (_, lists) => {
  const streams = lists.map((list) => stream('/Type/ObjStm/Filter/FlateDecode', list))
  expect(countPdfPages(pdf(pages, ...streams))).toBeNull()
})

test.each([
  ['a long number', `${pages}\n5 0 obj <</Kids [${'1'.repeat(4_000_000)}]>>`, 2],
  ['lists without an end', '/Kids['.repeat(1_000_000), null],
  ['numbers', `${pages}\n5 0 obj <</Kids [${'1 '.repeat(2_000_000)}]>>`, 2],
])('the pages of a file of megabytes of %s are counted in one pass', (_, text, count) => {
  expect(countPdfPages(pdf(text))).toBe(count)
})
