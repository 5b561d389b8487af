import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { chooseModel } from '../models/choose-model.ts'
import { missingModelKeyWarning } from '../models/provider-keys.ts'
import { findProjectAllowance } from '../wedges/rows.ts'
import type { Blueprint } from './blueprint.ts'

/** What keeps its tasks from being done and no call can mend: the model is the environment's. It stops no activation. */
export async function modelWarnings(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<string[]> {
  const wedge = ctx.wedges.get(blueprint.wedge)
  // An agent of somebody's own may need no model.
  const types = wedge && ctx.config.agentCommand === null ? modelTaskTypes(wedge) : []
  if (!wedge || types.length === 0) return []
  const { provider } = chooseModel(ctx.config, (await findProjectAllowance(ctx.db, projectId)).tier)
  if (provider === 'rehearsal') return rehearsalWarnings(wedge, types)
  const missing = missingModelKeyWarning(ctx.world, provider)
  return missing === null ? [] : [missing]
}

/** The task types that ask a model: a workflow is code alone. */
const modelTaskTypes = ({ manifest }: Wedge): string[] =>
  Object.entries(manifest.task_types).flatMap(([name, { harness }]) => (harness.shape === 'workflow' ? [] : [name]))

function rehearsalWarnings({ rehearsals }: Wedge, types: string[]): string[] {
  const silent = types.filter((name) => !Object.hasOwn(rehearsals, name))
  return [
    ...(silent.length < types.length ? ['SVC_MODEL is not set: without a model tasks are rehearsed, not done'] : []),
    ...silent.map((name) => `SVC_MODEL is not set: task type '${name}' has no rehearsal and will fail`),
  ]
}
