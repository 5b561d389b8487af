import type { TaskType } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { chooseModel } from '../../execution/models/choose-model.ts'
import { missingModelKeyWarning } from '../../execution/models/provider-keys.ts'
import { findProjectAllowance } from '../../wedges/library/rows.ts'
import type { Blueprint } from './blueprint.ts'
import type { ReadinessView } from './view.ts'

const NO_MODEL = 'no model is set, so its tasks would play recorded runs: set SVC_MODEL and restart the service'

/**
 * Whether a model can run the tasks of a blueprint. Only the environment sets the model, so no request fixes it. A
 * missing API key is only a warning, because some compatible servers need none.
 */
export async function checkModel(
  ctx: Ctx,
  projectId: string,
  blueprint: Blueprint,
): Promise<Pick<ReadinessView, 'items' | 'warnings'>> {
  const types = listTypesWithModel(ctx, blueprint)
  if (types.length === 0) return { items: [], warnings: [] }
  const { tier } = await findProjectAllowance(ctx.db, projectId)
  const models = types.map(({ harness }) => chooseModel(ctx.config, harness.tier, tier))
  const item = { item: 'model', kind: 'model', fix: null } as const
  if (models.some(({ provider }) => provider === 'rehearsal'))
    return { items: [{ ...item, ok: false, detail: NO_MODEL }], warnings: [] }
  const names = new Set(models.map(({ provider, name }) => `${provider}/${name}`))
  const missing = new Set(models.map(({ wire }) => missingModelKeyWarning(ctx.world, wire)))
  return {
    items: [{ ...item, ok: true, detail: `the model is ${[...names].join(', ')}` }],
    warnings: [...missing].filter((warning) => warning !== null),
  }
}

/** A workflow is code only, and a custom agent may need no model. */
function listTypesWithModel(ctx: Ctx, { wedge }: Blueprint): TaskType[] {
  if (ctx.config.agentCommand !== null) return []
  const types = Object.values(ctx.wedges.get(wedge)?.manifest.task_types ?? {})
  return types.filter(({ harness }) => harness.shape !== 'workflow' && !harness.agent)
}
