import { z } from 'zod'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/validate.ts'
import { nameRoutes, defineRead } from '../http/route.ts'
import { chooseModel } from '../models/choose-model.ts'
import type { SandboxDriver } from '../sandbox/driver.ts'
import { VERSION } from './version.ts'

/** What this deployment is: its wedges, store, sandbox and model, and what is wrong with any of them. */
export const metaRoutes = (driver: Promise<Pick<SandboxDriver, 'kind' | 'isolation'>>) =>
  nameRoutes({
    getMeta: defineRead('/v1/meta', {
      summary: 'Read wedges, store, sandbox and model of this deployment',
      responses: {
        200: z.object({
          version: z.string(),
          wedges: z.array(z.object({ wedge: z.string(), title: z.string(), task_types: z.array(z.string()) })),
          problems: z.array(z.object({ wedge: z.string(), problem: z.string() })),
          store: z.object({ kind: z.string() }),
          sandbox: z.object({ kind: z.string(), isolation: jsonObject }),
          model: z.object({ provider: z.string(), name: z.string() }),
          replica: z.string(),
        }),
      },
      handle: async ({ ctx }) => {
        const { kind, isolation } = await driver
        return {
          version: VERSION,
          wedges: wedgesOf(ctx),
          problems: ctx.wedges.problems(),
          store: { kind: ctx.store.kind },
          sandbox: { kind, isolation },
          model: modelOf(ctx),
          replica: ctx.replica,
        }
      },
    }),
  })

function wedgesOf(ctx: Ctx) {
  return ctx.wedges.all().map(({ slug, title, manifest }) => ({
    wedge: slug,
    title,
    task_types: Object.keys(manifest.task_types),
  }))
}

function modelOf(ctx: Ctx) {
  const { provider, name } = chooseModel(ctx.config, 'default')
  return { provider, name }
}
