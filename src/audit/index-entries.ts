import { setImmediate } from 'node:timers/promises'
import { type Ctx, inTx } from '../platform/ctx/ctx.ts'
import {
  type BlockEntry,
  ENTRIES_PER_BLOCK,
  findNextBlock,
  insertAuditBlocks,
  listBlockEntries,
  listChainsToIndex,
  termOf,
  updateNextBlock,
} from './index-rows.ts'

/** About 3 ms on SQLite. Other requests get their turn after each step. */
const BLOCKS_PER_STEP = 4

/** Adds the complete blocks of every chain to the index of actions and subjects. All replicas can run this. */
export async function indexAuditEntries(ctx: Ctx): Promise<void> {
  for (const { chain } of await listChainsToIndex(ctx.db, { size: ENTRIES_PER_BLOCK })) {
    while (await indexNextBlocks(ctx, chain)) await setImmediate()
  }
}

/** False if no complete block is left, or if another replica is at work. */
function indexNextBlocks(ctx: Ctx, chain: string): Promise<boolean> {
  return inTx(ctx, async ({ db }) => {
    const from = await findNextBlock(db, chain)
    const entries = await listBlockEntries(db, chain, from, from + BLOCKS_PER_STEP)
    const last = entries.at(-1)
    // The last entry of a block has the highest number. Entries are never inserted before it.
    const to = last === undefined ? from : Math.floor((last.seq + 1) / ENTRIES_PER_BLOCK)
    if (to === from || !(await updateNextBlock(db, chain, from, to))) return false
    await insertAuditBlocks(db, listTerms(chain, entries, to))
    return to === from + BLOCKS_PER_STEP
  })
}

function listTerms(chain: string, entries: readonly BlockEntry[], to: number): [string, string, number][] {
  const terms = new Map<string, [string, string, number]>()
  for (const { seq, action, subject } of entries) {
    const block = Math.floor(seq / ENTRIES_PER_BLOCK)
    if (block >= to) continue
    for (const term of [termOf('action', action), termOf('subject', subject)])
      terms.set(`${block} ${term}`, [chain, term, block])
  }
  return [...terms.values()]
}
