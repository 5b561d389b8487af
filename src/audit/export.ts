import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { ChainEntry, Checkpoint } from '../platform/contract/audit/audit-chain.ts'
import type { Ctx } from '../platform/ctx/ctx.ts'
import { isoNow } from '../platform/ctx/world.ts'
import { disconnectSignal, StreamResponse } from '../platform/http/route.ts'
import { readEntryPages } from './chain-pages.ts'
import { auditPublicKey, signExportEnd } from './signing.ts'
import { toChainHead, checkHeadSeal, findOutOfRangeRow, wholeChainRange } from './verify.ts'
import { findChainBounds } from './chain-rows.ts'

/**
 * The chain as JSON lines, each with its `kind`: first `chain` with the head and the public key, then `entry` lines in
 * order with each `checkpoint` after its entry, and last `end` with the signed head. An export of a changed or truncated
 * chain has no valid `end`, so the file alone shows whether it is complete.
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
  const disconnected = disconnectSignal(out)
  for await (const text of exportLines(ctx, chain)) {
    if (disconnected.aborted) return
    if (!out.write(text)) await waitForDrain(out, disconnected)
  }
  out.end()
}

async function* exportLines(ctx: Ctx, chain: string): AsyncGenerator<string> {
  const bounds = await findChainBounds(ctx.db, chain)
  const head = toChainHead(bounds)
  const keys = [auditPublicKey(ctx).toString('base64')]
  const exported_at = isoNow(ctx)
  yield toLine({ kind: 'chain', chain, head, exported_at, keys })
  for await (const { entries, checkpoints } of readEntryPages(ctx.db, wholeChainRange(chain, bounds))) {
    yield interleaveCheckpoints(entries, checkpoints)
  }
  // A chain that was changed gets no signed end.
  if (!head || checkHeadSeal(ctx, chain, bounds).problem !== null || findOutOfRangeRow(bounds)) return
  // An empty chain is signed too: otherwise an export with all entries removed would look the same.
  yield toLine({ kind: 'end', ...signExportEnd(ctx, chain, head, exported_at) })
}

function interleaveCheckpoints(entries: readonly ChainEntry[], checkpoints: readonly Checkpoint[]): string {
  const pending = [...checkpoints]
  let text = ''
  for (const entry of entries) {
    text += toEntryLine(entry)
    while (pending[0] && pending[0].seq <= entry.seq) text += toLine({ kind: 'checkpoint', ...pending.shift() })
  }
  for (const checkpoint of pending) text += toLine({ kind: 'checkpoint', ...checkpoint })
  return text
}

/** `data` is stored as JSON text and is exported unchanged, even if it was changed in the database. */
function toEntryLine({ data, ...entry }: ChainEntry): string {
  return escapeLine(`${JSON.stringify({ kind: 'entry', ...entry }).slice(0, -1)},"data":${data}}`)
}

const toLine = (value: object) => escapeLine(JSON.stringify(value))

/** JSON allows these two characters in strings, but many line readers treat them as line bounds. */
const escapeLine = (json: string) => `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`

async function waitForDrain(out: ServerResponse, disconnected: AbortSignal): Promise<void> {
  await once(out, 'drain', { signal: disconnected }).catch(() => {})
}
