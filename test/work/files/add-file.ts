import { storeFile } from '../../../src/work/files/store-file.ts'
import type { FileRow } from '../../../src/platform/store/tables.ts'
import type { TestApp } from '../../app.ts'

export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==',
  'base64',
)

/** A PDF with this many pages, as a list of plain objects. */
export function pdfWithPages(pages: number): Buffer {
  const kids = Array.from({ length: pages }, (_, n) => `${n + 3} 0 R`).join(' ')
  const list = Array.from({ length: pages }, (_, n) => `${n + 3} 0 obj <</Type/Page/Parent 2 0 R>> endobj`).join('\n')
  const head = `1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Count ${pages}/Kids [${kids}]>> endobj`
  return Buffer.from(`%PDF-1.4\n${head}\n${list}\ntrailer <</Root 1 0 R>>\n%%EOF\n`)
}

/** Stores a file of the team, or of a client. */
export async function addFile(
  { ctx, call }: Pick<TestApp, 'ctx'> & Partial<Pick<TestApp, 'call'>>,
  name: string,
  content: string | Buffer,
  { clientId = null, projectId }: { clientId?: string | null; projectId?: string } = {},
): Promise<FileRow> {
  const project = projectId ?? (await call?.('GET', '/v1/projects'))?.body.data[0].id
  const owner = { projectId: project, clientId, actor: { kind: 'key', id: 'key_test' } } as const
  return storeFile(ctx, owner, { name }, toAsync(Buffer.from(content)))
}

async function* toAsync(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
