import { type Ctx, inTx, type Tx } from './ctx.ts'

export const ROWS_PER_BATCH = 1_000

/** Each batch is a transaction of its own, so that other writers never wait long. */
export async function deleteInBatches(ctx: Ctx, deleteSome: (tx: Tx) => Promise<number>): Promise<void> {
  while ((await inTx(ctx, deleteSome)) === ROWS_PER_BATCH);
}
