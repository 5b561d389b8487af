// Stand-in until the owner of this folder overwrites this file with the real WorkflowCells (same name and signature).
import type { Json } from '../base/json.ts'
import { notFound } from '../base/problem.ts'
import type { Wedge } from '../base/wedge.ts'
import type { Ctx } from '../ctx/ctx.ts'
import type { Driver } from '../sandbox/driver.ts'

export class WorkflowCells {
  // oxlint-disable-next-line no-useless-constructor
  constructor(_ctx: Ctx, _driver: Driver, _agentDir: string) {}
  async call(_wedge: Wedge, _projectId: string, _name: string, _args: Json, _signal?: AbortSignal): Promise<Json> {
    throw notFound('workflow')
  }
  async close(): Promise<void> {}
}
