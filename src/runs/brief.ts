import type { JsonObject } from '../base/json.ts'
import type { Brief, HistoryMessage, NamedText } from '../base/protocol.ts'
import { caseForAgent } from '../cases/agent.ts'
import { historyOf } from '../clients/history.ts'
import { briefConnections } from '../connections/grants.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { groundingFor } from '../knowledge/grounding.ts'
import { inputOf, outputSchemaOf, toolsOf } from '../tasks/record.ts'
import { toolsFor } from '../tasks/tools.ts'
import { instructionsFor, skillsFor } from '../wedges/task-type.ts'
import type { Run } from './run.ts'

/** Everything that the agent is told. No credential of anybody is in it but the run's own tokens. */
export async function briefFor(ctx: Ctx, run: Run, socket: string | null): Promise<Brief> {
  const { task, wedge, type, constraints } = run
  const input = inputOf(task)
  const { task_type, client_id } = task
  const grounding = await groundingFor(ctx.db, wedge, run.projectId, { task_type, client_id, input })
  const { shape, steps, temperature, strict_output } = type.harness
  return {
    v: 1,
    task: { id: task.id, wedge: task.wedge, task_type, input, constraints: { ...constraints } },
    instructions: instructionsText(run),
    skills: skillsFor(wedge, type),
    knowledge: [...grounding.knowledge, ...leftOut(grounding.left_out)],
    history: await history(ctx, run),
    output_schema: outputSchema(run),
    strict_output,
    tools: usableTools(run),
    connections: briefConnections(run.grant),
    workflows: wedge.manifest.workflows,
    case: task.case_id ? await caseOf(ctx, task.case_id) : null,
    gate_patterns: run.gatePatterns,
    shape,
    steps,
    temperature: temperature ?? null,
    model: { wire: run.model.model.wire, name: run.model.model.name },
    service: { socket, base_url: 'http://service', task_token: run.taskToken, gate_token: run.gateToken },
  }
}

/** What can do nothing in this run is not offered: the model would be paid for reading of it, and might try it. */
function usableTools({ task, wedge: { manifest } }: Run): string[] {
  const tools = new Set(toolsFor(manifest, toolsOf(task)))
  const without = (missing: boolean, names: string[]) => {
    if (missing) for (const name of names) tools.delete(name)
  }
  without(manifest.connections.length === 0, ['act', 'read'])
  without(manifest.workflows.length === 0, ['workflow'])
  without(task.case_id === null, ['case_get', 'case_update'])
  return [...tools]
}

/** The task's own schema goes before its type's. */
export function outputSchema({ task, type }: Pick<Run, 'task' | 'type'>): JsonObject | null {
  return outputSchemaOf(task) ?? type.output_schema ?? null
}

function instructionsText({ wedge, type, taskType }: Run): string {
  const parts = [
    `You do the work '${taskType}' of '${wedge.title}'.`,
    type.description,
    ...instructionsFor(wedge, type).map(({ content }) => content),
  ]
  return parts.filter(Boolean).join('\n\n')
}

/** As far as the agent may know it: no ids of projects or other tasks. */
async function caseOf(ctx: Ctx, id: string): Promise<JsonObject> {
  const { wedge, title, stage, status, data } = await caseForAgent(ctx, id)
  return { id, wedge, title, stage, status, data }
}

/** Names of items may be words of an agent or a customer: they are data like the items themselves. */
function leftOut(names: string[]): NamedText[] {
  return names.length > 0 ? [{ name: 'left out for lack of room', content: names.join('\n') }] : []
}

async function history(ctx: Ctx, { task }: Run): Promise<HistoryMessage[]> {
  return task.thread_id ? historyOf(ctx.db, task.thread_id) : []
}
