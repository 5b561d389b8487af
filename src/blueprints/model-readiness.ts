import type { Ctx } from '../ctx/ctx.ts'
import { chooseModel } from '../models/choose-model.ts'
import { missingModelKeyWarning } from '../models/provider-keys.ts'
import { findProjectAllowance } from '../wedges/rows.ts'
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
  if (!needsModel(ctx, blueprint)) return { items: [], warnings: [] }
  const { provider, name } = chooseModel(ctx.config, (await findProjectAllowance(ctx.db, projectId)).tier)
  const item = { item: 'model', kind: 'model', fix: null } as const
  if (provider === 'rehearsal') return { items: [{ ...item, ok: false, detail: NO_MODEL }], warnings: [] }
  const missing = missingModelKeyWarning(ctx.world, provider)
  return {
    items: [{ ...item, ok: true, detail: `the model is ${provider}/${name}` }],
    warnings: missing === null ? [] : [missing],
  }
}

/** A workflow is code only, and a custom agent may need no model. */
function needsModel(ctx: Ctx, { wedge }: Blueprint): boolean {
  const types = Object.values(ctx.wedges.get(wedge)?.manifest.task_types ?? {})
  return ctx.config.agentCommand === null && types.some(({ harness }) => harness.shape !== 'workflow' && !harness.agent)
}
