import type { TaskType } from '../contract/wedge-manifest.ts'
import type { Config } from '../config/config.ts'

export interface TaskConstraints {
  max_runtime_s: number
  max_cost_usd: number
  approval_required: boolean
}

/** The server's ceiling, then the task type's, then the caller's; each may only lower what came before. */
export function clampConstraints(
  config: Pick<Config, 'maxRuntimeS' | 'maxCostUsd'>,
  { harness }: Pick<TaskType, 'harness'>,
  asked: {
    max_runtime_s?: number | undefined
    max_cost_usd?: number | undefined
    approval_required?: boolean | undefined
  },
): TaskConstraints {
  return {
    max_runtime_s: lowest(config.maxRuntimeS, harness.max_runtime_s, asked.max_runtime_s),
    max_cost_usd: lowest(config.maxCostUsd, harness.max_cost_usd, asked.max_cost_usd),
    approval_required: asked.approval_required === true,
  }
}

function lowest(ceiling: number, ...others: (number | undefined)[]): number {
  return Math.min(ceiling, ...others.filter((other) => other !== undefined))
}
