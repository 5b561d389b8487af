import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { ChainEntry, Checkpoint } from '../base/audit-chain.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { goneSignal, StreamAnswer } from '../http/route.ts'
import { entryPages } from './pages.ts'
import { publicKey, signEnd } from './signing.ts'
import { headOf, sealAt, strayIn, wholeChain } from './verify.ts'
import { endsOf } from './walk-rows.ts'

/**
 * The chain as JSON lines, each with its `kind`: first `chain` with the head and the public key, then `entry` lines in
 * their order with a `checkpoint` after the entry it tells of, and last `end` with the head, signed now unless somebody
 * changed the head. So the file alone shows whether it is whole: cut behind a checkpoint, it has no end.
 */
export function exportChain(ctx: Ctx, chain: string): StreamAnswer {
  const headers = {
    'content-type': 'application/jsonl; charset=utf-8',
    'content-disposition': `attachment; filename="audit-${chain}.jsonl"`,
    'cache-control': 'no-store',
  }
  return new StreamAnswer(headers, (out) => writeExport(ctx, chain, out), 'destroy')
}

async function writeExport(ctx: Ctx, chain: string, out: ServerResponse): Promise<void> {
  const gone = goneSignal(out)
  for await (const text of exportedLines(ctx, chain)) {
    if (gone.aborted) return
    if (!out.write(text)) await drained(out, gone)
  }
  out.end()
}

async function* exportedLines(ctx: Ctx, chain: string): AsyncGenerator<string> {
  const ends = await endsOf(ctx.db, chain)
  const head = headOf(ends)
  const keys = [publicKey(ctx).toString('base64')]
  const exported_at = isoNow(ctx)
  yield line({ kind: 'chain', chain, head, exported_at, keys })
  for await (const { entries, checkpoints } of entryPages(ctx.db, wholeChain(chain, ends))) {
    yield interleaved(entries, checkpoints)
  }
  // Then the file has no signed end, by which its reader knows.
  if (!head || sealAt(ctx, chain, ends).problem !== null || strayIn(ends)) return
  // Also that there is no entry is signed: else an export from which all was taken would look like this one.
  yield line({ kind: 'end', ...signEnd(ctx, chain, head, exported_at) })
}

function interleaved(entries: readonly ChainEntry[], checkpoints: readonly Checkpoint[]): string {
  const waiting = [...checkpoints]
  let text = ''
  for (const entry of entries) {
    text += entryLine(entry)
    while (waiting[0] && waiting[0].seq <= entry.seq) text += line({ kind: 'checkpoint', ...waiting.shift() })
  }
  for (const beyond of waiting) text += line({ kind: 'checkpoint', ...beyond })
  return text
}

/** `data` is JSON text already and goes out as it is, also when somebody has made it something else. */
function entryLine({ data, ...entry }: ChainEntry): string {
  return asLine(`${JSON.stringify({ kind: 'entry', ...entry }).slice(0, -1)},"data":${data}}`)
}

const line = (value: object) => asLine(JSON.stringify(value))

/** JSON lets these two stand in a string, and many readers of lines take them for the end of one. */
const asLine = (json: string) => `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`

async function drained(out: ServerResponse, gone: AbortSignal): Promise<void> {
  await once(out, 'drain', { signal: gone }).catch(() => {})
}
