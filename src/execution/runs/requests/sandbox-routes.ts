import type { Writable } from 'node:stream'
import { z } from 'zod'
import { askApproval, waitForApproval } from '../../../approvals/requests/ask-approval.ts'
import { requestKey } from '../../../approvals/policy/gated-request.ts'
import { appendAuditEntry } from '../../../audit/append.ts'
import { badRequest, tooManyRequests } from '../../../platform/base/problem.ts'
import { listReplySteps, matchApprovals } from '../../../platform/contract/wedge/declared-approvals.ts'
import { type Ctx, inDurableTx, inTx } from '../../../platform/ctx/ctx.ts'
import type { Actor } from '../../../platform/ctx/scope.ts'
import { appendEvents } from '../../../work/events/append-events.ts'
import type { NewEvent } from '../../../work/events/event-types.ts'
import { jsonValue, jsonObject, validateFields } from '../../../platform/http/validate.ts'
import {
  type RequestHead,
  nameRoutes,
  type PathParams,
  type Route,
  type RouteSpec,
  defineRoute,
  StreamResponse,
} from '../../../platform/http/route.ts'
import { visibleJsonValue } from '../../../platform/http/visible-keys.ts'
import { reportKnowledgeGap } from '../../../wedges/knowledge/intake.ts'
import { listModels, postToModel } from '../../models/model-endpoints.ts'
import type { WorkflowRunner } from '../../workflows/workflow-runner.ts'
import { askAndAct, executeRead } from './connection-calls.ts'
import { matchesGate } from './gate-patterns.ts'
import { recordRevision } from './perform-approved-action.ts'
import { findReplyOfRun } from './reply-calls.ts'
import { recordAnswer } from '../resume/run-state.ts'
import type { RunFacts } from '../session/run-facts.ts'
import type { TaskRun } from '../session/task-run.ts'
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

const ReadRequest = z.object({
  connection: z.string().optional(),
  path: z.string().optional(),
  method: z.string().regex(/^GET$/i, 'must be GET: reads are GET only').optional(),
  arguments: jsonValue.optional(),
})

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

export const actorOf = ({ taskId }: RunFacts): Actor => ({ kind: 'task', id: taskId })

/** Runs a workflow of the wedge. The harness checks its name at the tool gate before it calls this route. */
export const workflowRoutes = (workflows: WorkflowRunner) =>
  nameRoutes({
    callWorkflow: sandboxRoute('POST', '/v1/internal/workflows/:name', {
      summary: 'Call a workflow',
      body: z.object({ args: jsonValue.optional() }),
      responses: { 200: WorkflowResultView },
      async handle({ scope: run, params, body }) {
        const { args = {} } = body
        const { facts, ending, workingTime } = run
        const call = () => workflows.call(facts.wedge, facts.projectId, params.name ?? '', args, ending.over.signal)
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
    body: z.object({ tool: plainName, input: visibleJsonValue.optional() }),
    responses: { 200: GateDecisionView },
    async handle({ ctx, scope: run, body }) {
      const { tool, input: payload = null } = body
      const { facts, stored, log, ending, gate } = run
      if (!matchesGate(facts, tool)) return { decision: 'allowed' }
      const key = requestKey('tool', tool, payload)
      const earlier = stored.takeEarlierApproval(key)
      await log.flush()
      if (!earlier && (await isApprovedAsReply(ctx, facts, tool))) {
        const text = `The reply needs an approval before it goes out, so ${tool} needs none`
        const left: NewEvent = { type: 'progress', data: { text, state: 'approval_left_out' } }
        await inDurableTx(ctx, (tx) => appendEvents(tx, facts, [left]), ending.over.signal)
        return { decision: 'allowed' }
      }
      const request = { key, action: tool, payload, path: 'tool', risk: riskOf(facts, tool), connection: null } as const
      const asked = earlier ? waitForApproval(ctx, gate, earlier) : askApproval(ctx, gate, request)
      const approval = await asked.catch(recordRevision(run))
      recordAnswer(run, approval.id)
      return { decision: approval.status }
    },
  }),

  /** An action with an outside effect: approved first, then sent once, exactly as approved. */
  performAction: sandboxRoute('POST', '/v1/internal/actions/:capability', {
    summary: 'Perform an action through a connection',
    body: z.object({ connection: z.string().optional(), payload: visibleJsonValue.optional() }),
    responses: JSON_RESPONSE,
    async handle({ ctx, scope: run, params, body }) {
      return askAndAct(ctx, run, capabilityOf(params), body)
    },
  }),

  readWithGet: sandboxRoute('GET', '/v1/internal/reads/:capability', {
    summary: 'Read through a connection',
    query: ReadRequest.omit({ arguments: true }),
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope: run, params, query }) => executeRead(ctx, run, capabilityOf(params), query),
  }),

  readWithPost: sandboxRoute('POST', '/v1/internal/reads/:capability', {
    summary: 'Read through a connection',
    body: ReadRequest,
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope: run, params, body }) => executeRead(ctx, run, capabilityOf(params), body),
  }),

  callModel: sandboxRoute('POST', '/v1/internal/llm/:wire/*', {
    summary: "Call the model in its provider's format",
    body: jsonObject,
    responses: { 200: 'text/event-stream' },
    async handle({ ctx, scope: run, params, body, request }) {
      const { model, workingTime } = run
      const post = { provider: params.wire ?? '', path: params['*'] ?? '', body, headers: request.headers }
      const call = () => postToModel(ctx, model, post)
      const response = await workingTime.whileWorking(call)
      if (!(response instanceof StreamResponse)) return response
      return new StreamResponse(response.headers, (out: Writable) =>
        workingTime.whileWorking(() => response.write(out)),
      )
    },
  }),

  listModels: sandboxRoute('GET', '/v1/internal/llm/:wire/*', {
    summary: "List the model of the run in its provider's format",
    responses: JSON_RESPONSE,
    handle: async ({ scope: run, params }) => listModels(run.model, params.wire ?? '', params['*'] ?? ''),
  }),

  reportKnowledgeGap: sandboxRoute('POST', '/v1/internal/knowledge/gap', {
    summary: 'Report missing knowledge',
    body: z.object({ question: z.string().min(1).max(2000), why: z.string().max(2000).optional() }),
    responses: JSON_RESPONSE,
    async handle({ ctx, scope: run, body }) {
      if (body.question.trim() === '') throw badRequest("field 'question' must not be blank")
      const { facts, usage, log } = run
      if (usage.gapCount >= MAX_GAPS_PER_TASK)
        throw tooManyRequests(`more than ${MAX_GAPS_PER_TASK} gaps in one task`, 60)
      usage.gapCount++
      await log.flush()
      return inTx(ctx, async (tx) => {
        const { projectId, taskId, wedge } = facts
        const gap = await reportKnowledgeGap(tx, { projectId, taskId, wedge: wedge.slug, ...body })
        await appendEvents(tx, facts, [{ type: 'progress', data: { text: `Missing knowledge: ${body.question}` } }])
        const entry = { wedge: wedge.slug, asked: gap.asked }
        await appendAuditEntry(tx, projectId, actorOf(facts), 'intake.asked', gap.question_id, entry)
        return { ok: true, question_id: gap.question_id }
      })
    },
  }),
})

/** The client gets the text only as the reply, which a person or a rule approves as it is sent. */
const isApprovedAsReply = async (ctx: Ctx, facts: RunFacts, tool: string): Promise<boolean> =>
  listReplySteps(facts.wedge.manifest).includes(tool.toLowerCase()) && (await findReplyOfRun(ctx, facts)) !== null

/** The risk that the wedge declares for the tool. */
const riskOf = ({ wedge }: RunFacts, tool: string) => matchApprovals(wedge.manifest, tool)[0]?.risk ?? 'medium'
