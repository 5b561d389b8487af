import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { ChainEntry, Checkpoint } from '../contract/audit-chain.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { isoNow } from '../ctx/world.ts'
import { disconnectSignal, StreamResponse } from '../http/route.ts'
import { readEntryPages } from './chain-pages.ts'
import { auditPublicKey, signExportEnd } from './signing.ts'
import { toChainHead, checkHeadSeal, findOutOfRangeRow, wholeChainRange } from './verify.ts'
import { findChainBounds } from './chain-rows.ts'

/**
 * The chain as JSON lines, each with its `kind`: first `chain` with the head and the public key, then `entry` lines in
 * their order with a `checkpoint` after the entry it tells of, and last `end` with the head, signed now unless somebody
 * changed the head. So the file alone shows whether it is whole: cut behind a checkpoint, it has no end.
 */
export function exportAuditChain(ctx: Ctx, chain: string): StreamResponse {
  const headers = {
    'content-type': 'application/jsonl; charset=utf-8',
    'content-disposition': `attachment; filename="audit-${chain}.jsonl"`,
    'cache-control': 'no-store',
  }
  return new StreamResponse(headers, (out) => writeExport(ctx, chain, out), 'destroy')
}

async function writeExport(ctx: Ctx, chain: string, out: ServerResponse): Promise<void> {
  const gone = disconnectSignal(out)
  for await (const text of exportLines(ctx, chain)) {
    if (gone.aborted) return
    if (!out.write(text)) await waitForDrain(out, gone)
  }
  out.end()
}

async function* exportLines(ctx: Ctx, chain: string): AsyncGenerator<string> {
  const ends = await findChainBounds(ctx.db, chain)
  const head = toChainHead(ends)
  const keys = [auditPublicKey(ctx).toString('base64')]
  const exported_at = isoNow(ctx)
  yield toLine({ kind: 'chain', chain, head, exported_at, keys })
  for await (const { entries, checkpoints } of readEntryPages(ctx.db, wholeChainRange(chain, ends))) {
    yield interleaveCheckpoints(entries, checkpoints)
  }
  // Then the file has no signed end, by which its reader knows.
  if (!head || checkHeadSeal(ctx, chain, ends).problem !== null || findOutOfRangeRow(ends)) return
  // Also that there is no entry is signed: else an export from which all was taken would look like this one.
  yield toLine({ kind: 'end', ...signExportEnd(ctx, chain, head, exported_at) })
}

function interleaveCheckpoints(entries: readonly ChainEntry[], checkpoints: readonly Checkpoint[]): string {
  const waiting = [...checkpoints]
  let text = ''
  for (const entry of entries) {
    text += toEntryLine(entry)
    while (waiting[0] && waiting[0].seq <= entry.seq) text += toLine({ kind: 'checkpoint', ...waiting.shift() })
  }
  for (const beyond of waiting) text += toLine({ kind: 'checkpoint', ...beyond })
  return text
}

/** `data` is JSON text already and goes out as it is, also when somebody has made it something else. */
function toEntryLine({ data, ...entry }: ChainEntry): string {
  return escapeLine(`${JSON.stringify({ kind: 'entry', ...entry }).slice(0, -1)},"data":${data}}`)
}

const toLine = (value: object) => escapeLine(JSON.stringify(value))

/** JSON lets these two stand in a string, and many readers of lines take them for the end of one. */
const escapeLine = (json: string) => `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`

async function waitForDrain(out: ServerResponse, gone: AbortSignal): Promise<void> {
  await once(out, 'drain', { signal: gone }).catch(() => {})
}
