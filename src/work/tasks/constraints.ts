import type { Config } from '../../platform/config/config.ts'
import type { TaskType } from '../../platform/contract/wedge/wedge-manifest.ts'

export interface TaskConstraints {
  max_runtime_s: number
  max_cost_usd: number
  approval_required: boolean
}

/** The lowest of the server's limit, the task type's limit and the requested limit. */
export function clampConstraints(
  config: Pick<Config, 'maxRuntimeS' | 'maxCostUsd'>,
  { harness }: Pick<TaskType, 'harness'>,
  requested: {
    max_runtime_s?: number | undefined
    max_cost_usd?: number | undefined
    approval_required?: boolean | undefined
  },
): TaskConstraints {
  return {
    max_runtime_s: lowest(config.maxRuntimeS, harness.max_runtime_s, requested.max_runtime_s),
    max_cost_usd: lowest(config.maxCostUsd, harness.max_cost_usd, requested.max_cost_usd),
    approval_required: requested.approval_required === true,
  }
}

function lowest(limit: number, ...others: (number | undefined)[]): number {
  return Math.min(limit, ...others.filter((other) => other !== undefined))
}
