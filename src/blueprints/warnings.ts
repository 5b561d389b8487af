import type { Wedge } from '../base/wedge.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { chooseModel } from '../models/choose.ts'
import { missingKey } from '../models/keys.ts'
import { allowanceOf } from '../wedges/rows.ts'
import type { Blueprint } from './blueprint.ts'

/** What keeps its tasks from being done and no call can mend: the model is the environment's. It stops no activation. */
export async function warningsOf(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<string[]> {
  const wedge = ctx.wedges.get(blueprint.wedge)
  // An agent of somebody's own may need no model.
  const types = wedge && ctx.config.agentCommand === null ? askingTypes(wedge) : []
  if (!wedge || types.length === 0) return []
  const { provider } = chooseModel(ctx.config, (await allowanceOf(ctx.db, projectId)).tier)
  if (provider === 'rehearsal') return rehearsed(wedge, types)
  const missing = missingKey(ctx.world, provider)
  return missing === null ? [] : [missing]
}

/** The task types that ask a model: a workflow is code alone. */
const askingTypes = ({ manifest }: Wedge): string[] =>
  Object.entries(manifest.task_types).flatMap(([name, { harness }]) => (harness.shape === 'workflow' ? [] : [name]))

function rehearsed({ rehearsals }: Wedge, types: string[]): string[] {
  const silent = types.filter((name) => !Object.hasOwn(rehearsals, name))
  return [
    ...(silent.length < types.length ? ['SVC_MODEL is not set: without a model tasks are rehearsed, not done'] : []),
    ...silent.map((name) => `SVC_MODEL is not set: task type '${name}' has no rehearsal and will fail`),
  ]
}
