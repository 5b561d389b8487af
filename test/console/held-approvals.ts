import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Console } from './console-browser.ts'

/** Makes the page ask for a hold of a minute, so that a slow machine cannot miss the seconds of undo. */
export const holdForMinute = (page: Page): Promise<unknown> =>
  page.route(/\/approve$/, (route) => {
    const body = route.request().postDataJSON()
    expect(body.hold_s).toBe(5)
    return route.continue({ postData: JSON.stringify({ ...body, hold_s: 60 }) })
  })

/** Ends the hold of an approval or a vote as soon as the service has stored it. */
export async function approveWithoutHold(
  console: Pick<Console, 'app'>,
  taskId: string,
  approve: () => Promise<unknown>,
): Promise<void> {
  const isHeldOrMade = async () => {
    const approvals = console.app.ctx.db.selectFrom('approvals').select(['status', 'held_until'])
    const { status, held_until } = await approvals.where('task_id', '=', taskId).executeTakeFirstOrThrow()
    return held_until !== null || status !== 'pending'
  }
  // A slow machine must not miss the five seconds, so the questions begin before the approval.
  await Promise.all([expect.poll(isHeldOrMade).toBe(true), approve()])
  await passHold(console)
}

/** Ends the holds; the service makes the approvals in its next round. */
export const passHold = ({ app }: Pick<Console, 'app'>): Promise<unknown> =>
  app.ctx.store.transact((db) =>
    db
      .updateTable('approvals')
      .set({ held_until: new Date().toISOString() })
      .where('held_until', 'is not', null)
      .execute(),
  )
