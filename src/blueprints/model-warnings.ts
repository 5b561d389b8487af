import type { Wedge } from '../contract/wedge-manifest.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { chooseModel } from '../models/choose-model.ts'
import { missingModelKeyWarning } from '../models/provider-keys.ts'
import { findProjectAllowance } from '../wedges/rows.ts'
import type { Blueprint } from './blueprint.ts'

/** Warns if no model can run its tasks, because only the environment sets the model. It does not stop the activation. */
export async function modelWarnings(ctx: Ctx, projectId: string, blueprint: Blueprint): Promise<string[]> {
  const wedge = ctx.wedges.get(blueprint.wedge)
  // A custom agent may not need a model.
  const types = wedge && ctx.config.agentCommand === null ? modelTaskTypes(wedge) : []
  if (!wedge || types.length === 0) return []
  const { provider } = chooseModel(ctx.config, (await findProjectAllowance(ctx.db, projectId)).tier)
  if (provider === 'rehearsal') return rehearsalWarnings(wedge, types)
  const missing = missingModelKeyWarning(ctx.world, provider)
  return missing === null ? [] : [missing]
}

/** The task types that call a model. A workflow is code only. */
const modelTaskTypes = ({ manifest }: Wedge): string[] =>
  Object.entries(manifest.task_types).flatMap(([name, { harness }]) => (harness.shape === 'workflow' ? [] : [name]))

function rehearsalWarnings({ rehearsals }: Wedge, types: string[]): string[] {
  const unrecorded = types.filter((name) => !Object.hasOwn(rehearsals, name))
  return [
    ...(unrecorded.length < types.length
      ? ['Set SVC_MODEL before going live: tasks currently run a recorded script.']
      : []),
    ...unrecorded.map(
      (name) => `Set SVC_MODEL before going live: task type '${name}' has no recorded script and will fail.`,
    ),
  ]
}
