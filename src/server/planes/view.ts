import manifest from '../../../package.json' with { type: 'json' }
import { z } from 'zod'
import { createBroker } from '../../connections/broker/rest-client.ts'
import { problemText } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { jsonObject } from '../../platform/http/validate.ts'
import { chooseModel } from '../../execution/models/choose-model.ts'
import type { SandboxDriver } from '../../execution/sandbox/driver.ts'

export const HealthView = z.object({ status: z.literal('ok') }).meta({ id: 'Health' })
export const UnhealthyView = z.object({ status: z.string(), error: z.string() })

const SandboxLimitingView = z
  .object({ kind: z.enum(['cgroup', 'process', 'none']), reason: z.string().nullable() })
  .meta({
    description:
      'How the memory and the processes of a cell are limited together: by its `cgroup`, or (`process`) per process and ' +
      'by the service, which watches their sum. `reason` says why there is no cgroup.',
  })

/** The deployment: its wedges, store, sandbox, model, vault and broker, and the problems of wedges. */
export const MetaView = z
  .object({
    version: z.string(),
    wedges: z.array(z.object({ wedge: z.string(), title: z.string(), task_types: z.array(z.string()) })),
    problems: z.array(z.object({ wedge: z.string(), problem: z.string() })),
    store: z.object({ kind: z.string() }),
    role: z.enum(['all', 'api', 'runner']).meta({ description: 'What this replica does: SVC_ROLE.' }),
    sandbox: z
      .object({ kind: z.string(), isolation: jsonObject, limiting: SandboxLimitingView })
      .meta({ description: 'The sandbox of this replica; its kind is `none` if the replica executes no tasks.' }),
    model: z.object({ provider: z.string(), name: z.string() }),
    vault: z.object({
      ephemeral: z
        .boolean()
        .meta({ description: 'Without SVC_SECRET_KEY: stored secrets are lost at the next start.' }),
    }),
    broker: z.object({ configured: z.boolean() }),
    replica: z.string(),
  })
  .meta({ id: 'Meta' })

/** What the API shows of a sandbox driver. */
export type ShownSandbox = Pick<SandboxDriver, 'kind' | 'isolation' | 'limiting'>

/** `sandbox` is null on a replica that executes no tasks. */
export function toMetaView(ctx: Ctx, sandbox: ShownSandbox | null) {
  const { provider, name } = chooseModel(ctx.config, 'default')
  return {
    version: VERSION,
    wedges: ctx.wedges.all().map(({ slug, title, manifest }) => ({
      wedge: slug,
      title,
      task_types: Object.keys(manifest.task_types),
    })),
    problems: ctx.wedges.problems().map((problem) => ({ wedge: problem.wedge, problem: problemText(problem) })),
    store: { kind: ctx.store.kind },
    role: ctx.config.role,
    sandbox: {
      kind: sandbox?.kind ?? 'none',
      isolation: sandbox?.isolation ?? {},
      limiting: sandbox?.limiting ?? { kind: 'none' as const, reason: null },
    },
    model: { provider, name },
    vault: { ephemeral: ctx.vault.ephemeral },
    broker: { configured: createBroker(ctx) !== null },
    replica: ctx.replica,
  }
}

export const VERSION: string = manifest.version
