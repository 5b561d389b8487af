import { z } from 'zod'
import type { Ctx } from '../ctx/ctx.ts'
import { jsonObject } from '../http/validate.ts'
import { chooseModel } from '../models/choose-model.ts'
import type { SandboxDriver } from '../sandbox/driver.ts'
import { VERSION } from './version.ts'

export const HealthView = z.object({ status: z.literal('ok') })
export const UnhealthyView = z.object({ status: z.string(), error: z.string() })

/** The deployment: its wedges, store, sandbox and model, and the problems of wedges. */
export const MetaView = z.object({
  version: z.string(),
  wedges: z.array(z.object({ wedge: z.string(), title: z.string(), task_types: z.array(z.string()) })),
  problems: z.array(z.object({ wedge: z.string(), problem: z.string() })),
  store: z.object({ kind: z.string() }),
  sandbox: z.object({ kind: z.string(), isolation: jsonObject }),
  model: z.object({ provider: z.string(), name: z.string() }),
  replica: z.string(),
})

export function toMetaView(ctx: Ctx, { kind, isolation }: Pick<SandboxDriver, 'kind' | 'isolation'>) {
  const { provider, name } = chooseModel(ctx.config, 'default')
  return {
    version: VERSION,
    wedges: ctx.wedges.all().map(({ slug, title, manifest }) => ({
      wedge: slug,
      title,
      task_types: Object.keys(manifest.task_types),
    })),
    problems: ctx.wedges.problems(),
    store: { kind: ctx.store.kind },
    sandbox: { kind, isolation },
    model: { provider, name },
    replica: ctx.replica,
  }
}
