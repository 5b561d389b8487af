import type { Ctx } from '../../src/platform/ctx/ctx.ts'
import type { TestApp } from '../app.ts'

/** The same service with a clock that is some minutes ahead; the clock of the app stands still. */
export function contextLater({ ctx }: TestApp, minutes: number): Ctx {
  const { clock } = ctx.world
  const now = () => clock.now() + minutes * 60_000
  return { ...ctx, world: { ...ctx.world, clock: { now, after: (ms, call) => clock.after(ms, call) } } }
}

/** The lines of an export, as a reader of a file would yield them. */
export async function* exportLines(lines: string | string[]): AsyncGenerator<string> {
  yield* typeof lines === 'string' ? lines.split('\n') : lines
}
