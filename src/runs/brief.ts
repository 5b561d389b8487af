import type { Json, JsonObject } from '../base/json.ts'
import type { Brief, HistoryMessage } from '../base/protocol.ts'
import { historyOf } from '../clients/history.ts'
import { briefConnections } from '../connections/grants.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { groundingFor } from '../knowledge/grounding.ts'
import { toolsFor } from '../tasks/tools.ts'
import { instructionsFor, skillsFor } from '../wedges/task-type.ts'
import type { Run } from './run.ts'

/** Everything that the agent is told. No credential of anybody is in it but the run's own tokens. */
export async function briefFor(ctx: Ctx, run: Run, socket: string | null): Promise<Brief> {
  const { task, wedge, type, constraints } = run
  const input = JSON.parse(task.input) as Json
  const grounding = await groundingFor(ctx.db, wedge, run.projectId, { ...task, input })
  const { shape, steps, temperature, strict_output } = type.harness
  return {
    v: 1,
    task: { id: task.id, wedge: task.wedge, task_type: task.task_type, input, constraints: { ...constraints } },
    instructions: instructionsText(run, grounding.left_out),
    skills: skillsFor(wedge, type),
    knowledge: grounding.knowledge,
    history: await history(ctx, run),
    output_schema: outputSchema(run),
    strict_output,
    tools: toolsFor(wedge.manifest, JSON.parse(task.tools) as string[]),
    connections: briefConnections(run.grant),
    workflows: wedge.manifest.workflows,
    case: null,
    gate_patterns: run.gatePatterns,
    shape,
    steps,
    temperature: temperature ?? null,
    model: { wire: run.model.model.wire, name: run.model.model.name },
    service: { socket, base_url: 'http://service', task_token: run.taskToken, gate_token: run.gateToken },
  }
}

/** The task's own schema goes before its type's. */
export function outputSchema({ task, type }: Pick<Run, 'task' | 'type'>): JsonObject | null {
  return task.output_schema ? (JSON.parse(task.output_schema) as JsonObject) : (type.output_schema ?? null)
}

function instructionsText({ wedge, type, taskType }: Run, leftOut: string[]): string {
  const parts = [
    `You do the work '${taskType}' of '${wedge.title}'.`,
    type.description,
    ...instructionsFor(wedge, type).map(({ content }) => content),
    leftOut.length > 0 ? `Knowledge that did not fit and is left out: ${leftOut.join(', ')}.` : undefined,
  ]
  return parts.filter(Boolean).join('\n\n')
}

async function history(ctx: Ctx, { task }: Run): Promise<HistoryMessage[]> {
  return task.thread_id ? historyOf(ctx.db, task.thread_id) : []
}
