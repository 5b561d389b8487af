import type { Writable } from 'node:stream'
import { z } from 'zod'
import { countRunBytes, runStorageFull } from '../accounts/storage-usage.ts'
import { toActionTool } from '../approvals/action-text.ts'
import { askApproval, waitForApproval } from '../approvals/ask-approval.ts'
import { requestKey } from '../approvals/gated-request.ts'
import { appendAuditEntry } from '../audit/append.ts'
import type { Json } from '../base/json.ts'
import { badRequest, notFound, Problem, problemOrThrow, tooManyRequests } from '../base/problem.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import { matchApprovals } from '../contract/declared-approvals.ts'
import { readCaseForAgent, changeCaseByAgent } from '../cases/agent-access.ts'
import { CaseChange } from '../cases/change-case.ts'
import { prepareAction } from '../connections/send-action.ts'
import { requireExecutor } from '../connections/executors/executor-table.ts'
import { pickConnection } from '../connections/grants.ts'
import { readThroughConnection } from '../connections/read-through.ts'
import { type Ctx, inTx, inDurableTx, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { appendEvents } from '../events/append-events.ts'
import { jsonValue, jsonObject, validateFields } from '../http/validate.ts'
import { pageQueryById } from '../http/page.ts'
import {
  HttpResponse,
  type RequestHead,
  nameRoutes,
  noContentResponse,
  type PathParams,
  type Route,
  type RouteSpec,
  defineRoute,
  StreamResponse,
} from '../http/route.ts'
import { reportKnowledgeGap } from '../knowledge/intake.ts'
import { forwardModelCall } from '../models/forward-call.ts'
import { agentRecords } from '../records/agent-records.ts'
import type { WorkflowRunner } from '../workflows/workflow-runner.ts'
import {
  noteRevision,
  performApprovedAction,
  pickApprovedConnection,
  revisionOrThrow,
} from './perform-approved-action.ts'
import { noteAnswer } from './run-state.ts'
import type { TaskRun } from './task-run.ts'
import { GateDecisionView, WorkflowResultView } from './view.ts'

/** A route of the sandbox plane, which has everything that an agent can do. Its scope is the run of the token. */
export type SandboxRoute = Route<TaskRun, RequestHead>

export function sandboxRoute<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: SandboxRoute['method'],
  path: string,
  spec: RouteSpec<TaskRun, Query, Body, Subject, RequestHead>,
): SandboxRoute {
  return defineRoute(method, path, spec)
}

const JSON_RESPONSE = { 200: jsonObject }

/** People approve actions by these names, so a name must not contain hidden or direction-changing characters. */
const plainName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^(?:[^\p{C}\s]| )*$/u, 'must not contain control characters, line breaks or invisible marks')

const CapabilityParams = z.object({ capability: plainName })

const capabilityOf = (params: PathParams): string => validateFields(CapabilityParams, params, 'parameter').capability

/** Asks for the approval of an action. A run that continues takes the approval that it waited for in another process. */
async function askForAction(
  ctx: Ctx,
  run: TaskRun,
  capability: string,
  body: { connection?: string | undefined; payload?: Json | undefined },
) {
  const key = requestKey('action', capability, [body.connection ?? null, body.payload ?? {}])
  const earlier = run.takeEarlierApproval(key)
  if (earlier) {
    const connection = pickApprovedConnection(ctx, run, earlier)
    const approval = await run.workingTime.whileWaiting(() => waitForApproval(ctx, run, earlier))
    return { approval, connection }
  }
  const connection = pickConnection(run.grant, capability, body.connection)
  requireExecutor(ctx, connection.kind, 'act')
  await run.flushLog()
  const action = { capability, payload: body.payload ?? {}, runSignal: run.over.signal }
  const { payload, tool } = await run.workingTime.whileWorking(() => prepareAction(ctx, connection, action))
  const asked = { payload, connection, tool: tool && toActionTool(tool) }
  const request = { key, action: capability, path: 'action', risk: 'high', ...asked } as const
  return { approval: await run.workingTime.whileWaiting(() => askApproval(ctx, run, request)), connection }
}

const ReadRequest = z.object({
  connection: z.string().optional(),
  path: z.string().optional(),
  method: z.string().regex(/^GET$/i, 'must be GET: reads are GET only').optional(),
  arguments: jsonValue.optional(),
})

async function executeRead(ctx: Ctx, run: TaskRun, params: PathParams, read: z.infer<typeof ReadRequest>) {
  const capability = capabilityOf(params)
  const connection = pickConnection(run.grant, capability, read.connection)
  if (run.readCount >= ctx.config.readMaxPerTask)
    throw tooManyRequests(`more than ${ctx.config.readMaxPerTask} reads in one task`, 60)
  run.readCount++
  const request = { capability, path: read.path ?? null, arguments: read.arguments ?? {} }
  const result = await run.workingTime
    .whileWorking(() => readThroughConnection(ctx, connection, request))
    .catch(problemOrThrow)
  // A failed read may have reached the other side, so it is audited too.
  const outcome = result instanceof Problem ? { status: null, error: result.message } : { status: result.status }
  const entry = { capability, ...outcome }
  const writeAudit = (tx: Tx) =>
    appendAuditEntry(tx, run.projectId, actorOf(run), 'read.executed', connection.id, entry)
  await inDurableTx(ctx, writeAudit, run.over.signal)
  if (result instanceof Problem) throw result
  return result
}

/** Other methods get an explanation instead of a 404, which would look like a missing route. */
export const refusedReads = (['PUT', 'PATCH', 'DELETE'] as const).map((method) =>
  sandboxRoute(method, '/v1/internal/reads/:capability', {
    summary: 'Refused: reads are GET only',
    responses: {},
    async handle() {
      throw badRequest('reads are GET only: use an action to change something')
    },
  }),
)

const recordScopeOf = (run: TaskRun) => ({ projectId: run.projectId, wedge: run.wedge.slug, actor: actorOf(run) })

const actorOf = (run: TaskRun): Actor => ({ kind: 'task', id: run.taskId })

/** Runs a workflow of the wedge. The harness checks its name at the tool gate before it calls this route. */
export const workflowRoutes = (workflows: WorkflowRunner) =>
  nameRoutes({
    callWorkflow: sandboxRoute('POST', '/v1/internal/workflows/:name', {
      summary: 'Call a workflow',
      body: z.object({ args: jsonValue.optional() }),
      responses: { 200: WorkflowResultView },
      async handle({ scope: run, params, body }) {
        const { args = {} } = body
        const { wedge, projectId, over, workingTime } = run
        const call = () => workflows.call(wedge, projectId, params.name ?? '', args, over.signal)
        return { result: await workingTime.whileWorking(call) }
      },
    }),
  })

/** Limited because people have to answer the questions. */
const MAX_GAPS_PER_TASK = 50

export const sandboxRoutes = nameRoutes({
  /** The tool gate. Waits for the decision of a person unless a policy rule decides; 403 ends the run. */
  checkGate: sandboxRoute('POST', '/v1/internal/gate', {
    summary: 'Ask for approval of a tool call',
    body: z.object({ tool: plainName, input: jsonValue.optional() }),
    responses: { 200: GateDecisionView },
    async handle({ ctx, scope: run, body }) {
      const { tool, input: payload = null } = body
      if (!matchesGate(run, tool)) return { decision: 'allowed' }
      await run.flushLog()
      const key = requestKey('tool', tool, payload)
      const request = { key, action: tool, payload, path: 'tool', risk: riskOf(run, tool), connection: null } as const
      const approval = await run.workingTime.whileWaiting(() => askApproval(ctx, run, request)).catch(noteRevision(run))
      noteAnswer(run, approval.id)
      return { decision: approval.status }
    },
  }),

  /** An action with an outside effect: approved first, then sent once, exactly as approved. */
  performAction: sandboxRoute('POST', '/v1/internal/actions/:capability', {
    summary: 'Perform an action through a connection',
    body: z.object({ connection: z.string().optional(), payload: jsonValue.optional() }),
    responses: JSON_RESPONSE,
    async handle({ ctx, scope: run, params, body }) {
      const act = async () => {
        const { approval, connection } = await askForAction(ctx, run, capabilityOf(params), body)
        return performApprovedAction(ctx, run, approval, connection)
      }
      const response = await act().catch(revisionOrThrow)
      noteAnswer(run, response.approval_id)
      return response
    },
  }),

  readWithGet: sandboxRoute('GET', '/v1/internal/reads/:capability', {
    summary: 'Read through a connection',
    query: ReadRequest.omit({ arguments: true }),
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope: run, params, query }) => executeRead(ctx, run, params, query),
  }),

  readWithPost: sandboxRoute('POST', '/v1/internal/reads/:capability', {
    summary: 'Read through a connection',
    body: ReadRequest,
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope: run, params, body }) => executeRead(ctx, run, params, body),
  }),

  callModel: sandboxRoute('POST', '/v1/internal/llm/:wire/*', {
    summary: "Call the model in its provider's format",
    body: jsonObject,
    responses: { 200: 'text/event-stream' },
    async handle({ ctx, scope: run, params, body, request }) {
      const wire = params.wire
      if (wire !== 'anthropic' && wire !== 'openai') throw notFound('model wire')
      const { model, workingTime } = run
      const call = () =>
        forwardModelCall(ctx, model, wire satisfies ModelProvider, params['*'] ?? '', body, request.headers)
      const response = await workingTime.whileWorking(call)
      if (!(response instanceof StreamResponse)) return response
      return new StreamResponse(response.headers, (out: Writable) =>
        workingTime.whileWorking(() => response.write(out)),
      )
    },
  }),

  listAgentRecords: sandboxRoute('GET', '/v1/internal/records/:collection', {
    summary: "List records of the task's wedge",
    query: z.object({ where: z.string().optional(), ...pageQueryById('rec') }),
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope, params, query }) =>
      agentRecords.list(ctx, recordScopeOf(scope), params.collection ?? '', query),
  }),

  getAgentRecord: sandboxRoute('GET', '/v1/internal/records/:collection/:key', {
    summary: 'Read a record',
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope, params }) =>
      agentRecords.get(ctx, recordScopeOf(scope), params.collection ?? '', params.key ?? ''),
  }),

  saveAgentRecord: sandboxRoute('POST', '/v1/internal/records/:collection/:key', {
    summary: 'Create or replace a record',
    body: z.object({ value: jsonValue, version: z.number().int().optional() }),
    responses: { 200: jsonObject, 201: jsonObject },
    async handle({ ctx, scope, params, body }) {
      if (!countRunBytes(ctx.config, scope, Buffer.byteLength(JSON.stringify(body.value))))
        throw runStorageFull(ctx.config)
      const { record, isNew } = await agentRecords.put(
        ctx,
        recordScopeOf(scope),
        params.collection ?? '',
        params.key ?? '',
        body,
      )
      return new HttpResponse(isNew ? 201 : 200, record)
    },
  }),

  deleteAgentRecord: sandboxRoute('DELETE', '/v1/internal/records/:collection/:key', {
    summary: 'Delete a record',
    responses: { 204: z.null() },
    async handle({ ctx, scope, params }) {
      await agentRecords.delete(ctx, recordScopeOf(scope), params.collection ?? '', params.key ?? '')
      return noContentResponse()
    },
  }),

  getAgentCase: sandboxRoute('GET', '/v1/internal/case', {
    summary: "Read the task's case",
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope }) => readCaseForAgent(ctx, scope.task.case_id),
  }),

  updateAgentCase: sandboxRoute('PUT', '/v1/internal/case', {
    summary: "Update the task's case",
    body: CaseChange,
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope, body }) => changeCaseByAgent(ctx, scope.task.case_id, body, actorOf(scope)),
  }),

  reportKnowledgeGap: sandboxRoute('POST', '/v1/internal/knowledge/gap', {
    summary: 'Report missing knowledge',
    body: z.object({ question: z.string().min(1).max(2000), why: z.string().max(2000).optional() }),
    responses: JSON_RESPONSE,
    async handle({ ctx, scope: run, body }) {
      if (body.question.trim() === '') throw badRequest("field 'question' must not be blank")
      if (run.gapCount >= MAX_GAPS_PER_TASK)
        throw tooManyRequests(`more than ${MAX_GAPS_PER_TASK} gaps in one task`, 60)
      run.gapCount++
      await run.flushLog()
      return inTx(ctx, async (tx) => {
        const { projectId, taskId, wedge } = run
        const gap = await reportKnowledgeGap(tx, { projectId, taskId, wedge: wedge.slug, ...body })
        await appendEvents(tx, run, [{ type: 'progress', data: { text: `Missing knowledge: ${body.question}` } }])
        const entry = { wedge: wedge.slug, asked: gap.asked }
        await appendAuditEntry(tx, projectId, actorOf(run), 'intake.asked', gap.question_id, entry)
        return { ok: true, question_id: gap.question_id }
      })
    },
  }),
})

/** The risk that the wedge declares for the tool. */
const riskOf = (run: TaskRun, tool: string) => matchApprovals(run.wedge.manifest, tool)[0]?.risk ?? 'medium'

function matchesGate(run: TaskRun, tool: string): boolean {
  const name = tool.toLowerCase()
  return run.gatePatterns.some((pattern) => name.includes(pattern))
}
