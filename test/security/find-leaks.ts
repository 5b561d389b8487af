import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../src/app.ts'

/** Secrets by name. Whatever the service shows, none of them may be in it, in no spelling. */
export type Canaries = Record<string, string>

/** Everywhere that was looked at, by a name that tells the reader where. */
export type SearchedTexts = Map<string, string | Buffer>

/** One sentence for each place that shows a secret. */
export function findLeaks(canaries: Canaries, places: SearchedTexts): string[] {
  const forms = Object.entries(canaries).flatMap(([name, secret]) =>
    Object.entries(spellings(secret)).map(([form, text]) => ({ name, form, text })),
  )
  return [...places].flatMap(([place, content]) =>
    forms.filter(({ text }) => content.includes(text)).map(({ name, form }) => `${place} shows ${name} as ${form}`),
  )
}

function spellings(secret: string): Record<string, string> {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  return {
    itself: secret,
    'url text': encodeURIComponent(secret),
    'form text': new URLSearchParams([['', secret]]).toString().slice(1),
    'json text': JSON.stringify(secret).slice(1, -1),
    hex,
    'large hex': hex.toUpperCase(),
    ...Object.fromEntries([0, 1, 2].flatMap((before) => base64(bytes, before))),
  }
}

/** What base64 makes of it behind so many other bytes, less the ends that depend on its neighbours. */
function base64(bytes: Buffer, before: number): [string, string][] {
  const whole = Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .replaceAll('=', '')
  const core = whole.slice(before === 0 ? 0 : before + 1, -1)
  return [
    [`base64 at ${before}`, core],
    [`base64url at ${before}`, core.replaceAll('+', '-').replaceAll('/', '_')],
  ]
}

/** Every row of every table, as the service would read it. */
export async function readRowTexts({ ctx }: App): Promise<SearchedTexts> {
  const places: SearchedTexts = new Map()
  for (const { name } of await ctx.db.introspection.getTables()) {
    const rows = await ctx.db
      .selectFrom(name as 'tasks')
      .selectAll()
      .execute()
    places.set(`table ${name}`, JSON.stringify(rows))
  }
  return places
}

/** The bytes of every file below a folder. */
export function readFileTexts(folder: string): SearchedTexts {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return new Map(files.map((file) => join(file.parentPath, file.name)).map((path) => [path, readFileSync(path)]))
}
