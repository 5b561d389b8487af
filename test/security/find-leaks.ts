import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../src/server/app.ts'

/** Secrets by name. No output of the service may contain one of them, in any encoding. */
export type Canaries = Record<string, string>

/** Texts to search, by the name of their source. */
export type SearchedTexts = Map<string, string | Buffer>

/** Returns one sentence for each text that contains a secret. */
export function findLeaks(canaries: Canaries, texts: SearchedTexts): string[] {
  const forms = Object.entries(canaries).flatMap(([name, secret]) =>
    Object.entries(encodings(secret)).map(([form, text]) => ({ name, form, text })),
  )
  return [...texts].flatMap(([source, content]) =>
    forms.filter(({ text }) => content.includes(text)).map(({ name, form }) => `${source} shows ${name} as ${form}`),
  )
}

function encodings(secret: string): Record<string, string> {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  return {
    'plain text': secret,
    'url text': encodeURIComponent(secret),
    'form text': new URLSearchParams([['', secret]]).toString().slice(1),
    'json text': JSON.stringify(secret).slice(1, -1),
    hex,
    'upper-case hex': hex.toUpperCase(),
    ...Object.fromEntries([0, 1, 2].flatMap((before) => base64(bytes, before))),
  }
}

/** The base64 text of the bytes after `before` other bytes, without the characters that depend on neighbouring bytes. */
function base64(bytes: Buffer, before: number): [string, string][] {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replaceAll('=', '')
  const core = encoded.slice(before === 0 ? 0 : before + 1, -1)
  return [
    [`base64 at ${before}`, core],
    [`base64url at ${before}`, core.replaceAll('+', '-').replaceAll('/', '_')],
  ]
}

/** Reads every row of every table. */
export async function readRowTexts({ ctx }: Pick<App, 'ctx'>): Promise<SearchedTexts> {
  const texts: SearchedTexts = new Map()
  for (const { name } of await ctx.db.introspection.getTables()) {
    const rows = await ctx.db
      .selectFrom(name as 'tasks')
      .selectAll()
      .execute()
    texts.set(`table ${name}`, JSON.stringify(rows))
  }
  return texts
}

/** Reads every file below a folder. */
export function readFileTexts(folder: string): SearchedTexts {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(files.map((file) => join(file.parentPath, file.name)).map((path) => [path, readFileSync(path)]))
}
