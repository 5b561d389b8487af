import type { JsonObject } from '../../../platform/base/json.ts'
import {
  type Brief,
  type BriefConnection,
  type BriefFile,
  type BriefSkillFolder,
  type BriefTool,
  type HistoryMessage,
  MAX_ARTIFACT_MB,
  type NamedText,
} from '../../../platform/contract/agent-protocol.ts'
import { readCaseForAgent } from '../../../work/cases/agent-access.ts'
import type { ReplyPath } from '../../../customers/channels/reply-path.ts'
import { readThreadHistory } from '../../../customers/threads/thread-history.ts'
import { toBriefConnections } from '../../../connections/actions/grants.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { artifactStorage } from '../../../work/files/artifact-objects.ts'
import { buildGrounding } from '../../../wedges/knowledge/grounding.ts'
import { parseTaskInput, parseTaskOutputSchema, parseTaskTools } from '../../../work/tasks/view.ts'
import type { ToolName } from '../../../platform/contract/tool-names.ts'
import { toolsOfTask } from '../../../work/tasks/tools.ts'
import {
  instructionsForTaskType,
  skillFoldersForTaskType,
  skillsForTaskType,
} from '../../../wedges/library/task-type.ts'
import type { ModelRun } from '../../models/model-run.ts'
import { createBriefResume } from '../resume/continue-custom-agent.ts'
import { hasFiles } from '../resume/park-run.ts'
import { findReplyOfRun } from '../requests/reply-calls.ts'
import type { EarlierRun } from '../resume/run-state.ts'
import type { RunFacts } from './run-facts.ts'
import type { RunTokens, TaskRun } from './task-run.ts'

/** The brief of a new run, or of an earlier process with new tokens and the present model. */
export async function createOrContinueBrief(
  ctx: Ctx,
  run: TaskRun,
  cell: BriefCell,
  earlier: EarlierRun | null,
): Promise<Brief> {
  if (!earlier) return createBrief(ctx, run, cell)
  const brief: Omit<Brief, 'service'> = JSON.parse(earlier.state.brief)
  // The wedge may have lost a tool meanwhile.
  const usable = listUsableTools(run.facts)
  const tools = brief.tools.filter((tool) => usable.includes(tool))
  const folders = brief.skill_folders && { skill_folders: briefSkillFolders(run.facts, cell) }
  const continued = {
    ...brief,
    ...folders,
    files: cell.files,
    tools,
    model: modelOf(run.model),
    service: serviceOf(run.tokens, cell),
  }
  if (run.facts.cellKind === 'custom') return { ...continued, resume: await createBriefResume(ctx, run, earlier) }
  const { entries, logged } = earlier
  return { ...continued, transcript: { entries, logged, lost_files: hasFiles(run.facts) } }
}

/** What the agent finds in its cell: the socket of the service, if there is one, its files and the folder of its skills. */
interface BriefCell {
  socket: string | null
  files: BriefFile[]
  skillsDir: string | null
}

/** Everything that the agent gets. The tokens of the run are the only credentials in it. */
async function createBrief(ctx: Ctx, run: TaskRun, cell: BriefCell): Promise<Brief> {
  const { facts } = run
  const { task, wedge, type, constraints } = facts
  const input = parseTaskInput(task)
  const { task_type, client_id } = task
  const grounding = await buildGrounding(ctx.db, wedge, facts.projectId, { task_type, client_id, input })
  const { shape, steps, temperature, strict_output } = type.harness
  const replyPath = await findReplyOfRun(ctx, facts)
  return {
    v: 1,
    task: { id: task.id, wedge: task.wedge, task_type, input, constraints: { ...constraints } },
    instructions: instructionsText(facts),
    ...briefSkills(facts, cell),
    knowledge: [...grounding.knowledge, ...leftOutKnowledge(grounding.left_out)],
    history: await threadHistory(ctx, facts),
    files: cell.files,
    output_schema: outputSchemaOfRun(run),
    strict_output,
    tools: listUsableTools(facts),
    connections: withReplyTool(await briefConnections(ctx, facts), replyPath),
    workflows: wedge.manifest.workflows,
    case: task.case_id ? await caseForBrief(ctx, task.case_id) : null,
    ...(replyPath && { reply: { capability: replyPath.capability } }),
    gate_patterns: facts.gatePatterns,
    shape,
    steps,
    temperature: temperature ?? null,
    model: modelOf(run.model),
    service: serviceOf(run.tokens, cell),
    artifact_max_mb: MAX_ARTIFACT_MB[artifactStorage(ctx)],
  }
}

const modelOf = ({ model }: ModelRun): Brief['model'] => ({ wire: model.wire, name: model.name })

const serviceOf = ({ task, gate }: RunTokens, { socket }: BriefCell): Brief['service'] => ({
  socket,
  base_url: 'http://service',
  task_token: task,
  gate_token: gate,
})

/** Tools that cannot work in this run are left out, because they cost tokens and the model might call them. */
function listUsableTools({ task, files, wedge, type }: RunFacts): string[] {
  const { manifest } = wedge
  const tools = new Set(toolsOfTask(manifest, parseTaskTools(task)))
  const without = (missing: boolean, names: ToolName[]) => {
    if (missing) for (const name of names) tools.delete(name)
  }
  without(manifest.connections.length === 0, ['act', 'read'])
  without(manifest.workflows.length === 0, ['workflow'])
  without(files.length === 0, ['file_read'])
  without(type.harness.shape !== 'agent' || skillFoldersForTaskType(wedge, type).length === 0, ['skill_read'])
  without(task.case_id === null, ['case_get', 'case_update'])
  return [...tools]
}

/** The instructions of a skill are in the brief at once if the agent has no tool to read them later. */
function briefSkills(facts: RunFacts, cell: BriefCell): Pick<Brief, 'skills' | 'skill_folders'> {
  const { wedge, type } = facts
  const skills = skillsForTaskType(wedge, type)
  const folders = skillFoldersForTaskType(wedge, type)
  if (folders.length === 0) return { skills }
  if (listUsableTools(facts).includes('skill_read')) return { skills, skill_folders: briefSkillFolders(facts, cell) }
  return { skills: [...skills, ...folders.map(({ name, content }) => ({ name, content }))] }
}

function briefSkillFolders({ wedge, type }: RunFacts, { skillsDir }: BriefCell): BriefSkillFolder[] {
  return skillFoldersForTaskType(wedge, type).map(({ name, description, files }) => ({
    name,
    description,
    files: files.map(({ path }) => path),
    path: skillsDir && `${skillsDir}/${name}`,
  }))
}

/** The connections with the tools that the task may use: without `act` no actions, without `read` no reads. */
async function briefConnections(ctx: Ctx, facts: RunFacts): Promise<BriefConnection[]> {
  const usable = listUsableTools(facts)
  const connections = await toBriefConnections(ctx, facts.grant)
  return connections.map(({ tools, ...connection }) => ({
    ...connection,
    ...(tools && { tools: tools.filter((tool) => usable.includes(tool.class === 'read' ? 'read' : 'act')) }),
  }))
}

/**
 * Offers the reply of the channel as a tool. A connection without tools by name keeps its general tools, so the reply then
 * has an entry of its own.
 */
function withReplyTool(connections: BriefConnection[], replyPath: ReplyPath | null): BriefConnection[] {
  if (!replyPath) return connections
  const [place = ''] = replyPath.capability.split(':')
  const { name, kind } = replyPath.sentThrough ?? { name: place, kind: 'custom' }
  const tool = { ...REPLY_TOOL, capability: replyPath.capability }
  const granted = connections.find((connection) => connection.name === name && connection.tools)
  if (!granted) return [...connections, { name, kind, tools: [tool] }]
  const others = granted.tools?.filter((one) => one.name !== tool.name) ?? []
  return connections.map((one) => (one === granted ? { ...granted, tools: [...others, tool] } : one))
}

const REPLY_TOOL = {
  name: 'reply',
  description: 'Replies to the client in this conversation, the way the message came.',
  input_schema: {
    type: 'object',
    properties: {
      text: { type: 'string' },
      files: { type: 'array', items: { type: 'string' }, description: 'Ids of files to send along.' },
    },
    required: ['text'],
    additionalProperties: false,
  },
  class: 'ask',
} as const satisfies Omit<BriefTool, 'capability'>

/** The schema that the agent knows. The schema of the task replaces the schema of its type. */
export function outputSchemaOfRun({ facts, stored }: Pick<TaskRun, 'facts' | 'stored'>): JsonObject | null {
  const { task, type } = facts
  return stored.brief ? stored.brief.output_schema : (parseTaskOutputSchema(task) ?? type.output_schema ?? null)
}

function instructionsText({ wedge, type, taskType }: RunFacts): string {
  const parts = [
    `You do the task type '${taskType}' of '${wedge.title}'.`,
    type.description,
    ...instructionsForTaskType(wedge, type).map(({ content }) => content),
  ]
  return parts.filter(Boolean).join('\n\n')
}

/** The fields of the case that the agent may see: no ids of projects or other tasks. */
async function caseForBrief(ctx: Ctx, id: string): Promise<JsonObject> {
  const { wedge, title, stage, status, data } = await readCaseForAgent(ctx, id)
  return { id, wedge, title, stage, status, data }
}

/** Names of knowledge items may come from an agent or a client, so they are passed on as data. */
function leftOutKnowledge(names: string[]): NamedText[] {
  return names.length > 0 ? [{ name: 'left out because of the size limit', content: names.join('\n') }] : []
}

async function threadHistory(ctx: Ctx, { task }: RunFacts): Promise<HistoryMessage[]> {
  return task.thread_id ? readThreadHistory(ctx.db, task.thread_id) : []
}
