import type { Writable } from 'node:stream'
import { z } from 'zod'
import { ask } from '../approvals/ask.ts'
import { performAction } from '../approvals/effects.ts'
import { approvedPayload } from '../approvals/record.ts'
import { audit } from '../audit/append.ts'
import type { Json } from '../base/json.ts'
import { badRequest, notFound, Problem, problemOnly, tooMany } from '../base/problem.ts'
import type { Wire } from '../base/protocol.ts'
import { caseForAgent, updateCaseByAgent } from '../cases/agent.ts'
import { CaseChange } from '../cases/move.ts'
import { keepSentMail } from '../clients/reply.ts'
import { sentMail } from '../clients/sent-mail.ts'
import { wholePayload } from '../connections/act.ts'
import { requireExecutor } from '../connections/executors/table.ts'
import { pickConnection } from '../connections/grants.ts'
import { readThrough } from '../connections/read-through.ts'
import { type Ctx, inTx, inTxAtLast, type Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { append } from '../events/append.ts'
import { json, jsonObject, judgeFields } from '../http/judge.ts'
import { pageById } from '../http/page.ts'
import {
  Answer,
  type Heading,
  nameRoutes,
  noContent,
  type Params,
  type Route,
  type RouteSpec,
  route,
  StreamAnswer,
} from '../http/route.ts'
import { reportGap } from '../knowledge/intake.ts'
import { forwardModelCall } from '../models/forward.ts'
import { agentRecords } from '../records/agent.ts'
import type { WorkflowCells } from '../workflows/cells.ts'
import type { Run } from './run.ts'

/** The sandbox plane: all that an agent can do. The scope of every route is the run that the token belongs to. */
export type SandboxRoute = Route<Run, Heading>

function sandboxRoute<Query extends z.ZodType, Body extends z.ZodType, Subject>(
  method: SandboxRoute['method'],
  path: string,
  spec: RouteSpec<Run, Query, Body, Subject, Heading>,
): SandboxRoute {
  return route(method, path, spec)
}

const JSON_ANSWER = { 200: jsonObject }

/** Persons decide by these names: nothing in one may hide, break its line or turn its direction. */
const plainName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^(?:[^\p{C}\s]| )*$/u, 'must not contain control characters, line breaks or invisible marks')

const Named = z.object({ capability: plainName })

const capabilityOf = (params: Params): string => judgeFields(Named, params, 'parameter').capability

/** A mail that a thread's task sent belongs to the thread too. */
async function keepMail(ctx: Ctx, run: Run, payload: Json): Promise<void> {
  const mail = sentMail(payload)
  if (run.task.thread_id && mail) await inTxAtLast(ctx, (tx) => keepSentMail(tx, run.task, mail))
}

const ReadAsked = z.object({
  connection: z.string().optional(),
  path: z.string().optional(),
  method: z.string().regex(/^GET$/i, 'must be GET: reads are GET only').optional(),
  arguments: json.optional(),
})

async function readOnce(ctx: Ctx, run: Run, params: Params, asked: z.infer<typeof ReadAsked>) {
  const capability = capabilityOf(params)
  const connection = pickConnection(run.grant, capability, asked.connection)
  if (run.reads >= ctx.config.readMaxPerTask)
    throw tooMany(`more than ${ctx.config.readMaxPerTask} reads in one task`, 60)
  run.reads++
  const request = { capability, path: asked.path ?? null, arguments: asked.arguments ?? {} }
  const result = await run.time.working(() => readThrough(ctx, connection, request)).catch(problemOnly)
  // One that failed on its way may have been seen by the other side: it is audited like any other.
  const told = result instanceof Problem ? { status: null, error: result.message } : { status: result.status }
  const entry = { capability, ...told }
  const tell = (tx: Tx) => audit(tx, run.projectId, actorOf(run), 'read.executed', connection.id, entry)
  await inTxAtLast(ctx, tell, run.over.signal)
  if (result instanceof Problem) throw result
  return result
}

/** A change that was meant as a read is told so: as a route that is not there it would look like a mistake of ours. */
export const refusedReads = (['PUT', 'PATCH', 'DELETE'] as const).map((method) =>
  sandboxRoute(method, '/v1/internal/reads/:capability', {
    summary: 'Refused: reads are GET only',
    answers: {},
    async handle() {
      throw badRequest('reads are GET only: use an action to change something')
    },
  }),
)

const place = (run: Run) => ({ projectId: run.projectId, wedge: run.wedge.slug, actor: actorOf(run) })

const actorOf = (run: Run): Actor => ({ kind: 'task', id: run.taskId })

/** Deterministic code of the wedge; its name passes the tool gate in the harness before it comes here. */
export const workflowRoutes = (cells: WorkflowCells) =>
  nameRoutes({
    callWorkflow: sandboxRoute('POST', '/v1/internal/workflows/:name', {
      summary: 'Call a workflow',
      body: z.object({ args: json.optional() }),
      answers: { 200: z.object({ result: json }) },
      async handle({ scope: run, params, body }) {
        const { args = {} } = body
        const { wedge, projectId, over, time } = run
        const call = () => cells.call(wedge, projectId, params.name ?? '', args, over.signal)
        return { result: await time.working(call) }
      },
    }),
  })

/** Persons are to answer them. */
const MOST_GAPS = 50

export const sandboxRoutes = nameRoutes({
  /** The tool gate: may this tool be called? Waits for a person unless a rule answers; 403 ends the run. */
  checkGate: sandboxRoute('POST', '/v1/internal/gate', {
    summary: 'Ask before a tool call',
    body: z.object({ tool: plainName, input: json.optional() }),
    answers: { 200: z.object({ decision: z.enum(['allowed', 'approved', 'auto_approved']) }) },
    async handle({ ctx, scope: run, body }) {
      const { tool, input: payload = null } = body
      if (!matchesGate(run, tool)) return { decision: 'allowed' }
      await run.flush()
      const request = { action: tool, payload, path: 'tool', risk: riskOf(run, tool), connection: null } as const
      const approval = await run.time.waiting(() => ask(ctx, run, request))
      return { decision: approval.status }
    },
  }),

  /** An action with an outside effect: decided first, then done once, exactly as decided. */
  performAction: sandboxRoute('POST', '/v1/internal/actions/:capability', {
    summary: 'Act through a connection',
    body: z.object({ connection: z.string().optional(), payload: json.optional() }),
    answers: JSON_ANSWER,
    async handle({ ctx, scope: run, params, body }) {
      const capability = capabilityOf(params)
      const connection = pickConnection(run.grant, capability, body.connection)
      requireExecutor(ctx, connection.kind, 'act')
      await run.flush()
      const asked = body.payload ?? {}
      const payload = await run.time.working(() => wholePayload(ctx, connection, asked, run.over.signal))
      const request = { action: capability, payload, path: 'action', risk: 'high', connection } as const
      const approval = await run.time.waiting(() => ask(ctx, run, request))
      const act = () => performAction(ctx, run, approval, connection)
      const { ok, status, result, error } = await run.time.working(act)
      // As it was sent: a person may have changed it, and what the agent does next must not say otherwise.
      const sent = approvedPayload(approval)
      const edited = approval.edited !== null
      if (ok && connection.kind === 'email') await keepMail(ctx, run, sent)
      return { ok, status, result, payload: sent, edited, approval_id: approval.id, ...(error !== null && { error }) }
    },
  }),

  readWithGet: sandboxRoute('GET', '/v1/internal/reads/:capability', {
    summary: 'Look through a connection',
    query: ReadAsked.omit({ arguments: true }),
    answers: JSON_ANSWER,
    handle: ({ ctx, scope: run, params, query }) => readOnce(ctx, run, params, query),
  }),

  readWithPost: sandboxRoute('POST', '/v1/internal/reads/:capability', {
    summary: 'Look through a connection',
    body: ReadAsked,
    answers: JSON_ANSWER,
    handle: ({ ctx, scope: run, params, body }) => readOnce(ctx, run, params, body),
  }),

  callModel: sandboxRoute('POST', '/v1/internal/llm/:wire/*', {
    summary: 'Call the model, in the words of its provider',
    body: jsonObject,
    answers: { 200: 'text/event-stream' },
    async handle({ ctx, scope: run, params, body, request }) {
      const wire = params.wire
      if (wire !== 'anthropic' && wire !== 'openai') throw notFound('model wire')
      const { model, time } = run
      const call = () => forwardModelCall(ctx, model, wire satisfies Wire, params['*'] ?? '', body, request.headers)
      const answer = await time.working(call)
      if (!(answer instanceof StreamAnswer)) return answer
      return new StreamAnswer(answer.headers, (out: Writable) => time.working(() => answer.write(out)))
    },
  }),

  listAgentRecords: sandboxRoute('GET', '/v1/internal/records/:collection', {
    summary: "List records of the task's wedge",
    query: z.object({ where: z.string().optional(), ...pageById('rec') }),
    answers: JSON_ANSWER,
    handle: ({ ctx, scope, params, query }) => agentRecords.list(ctx, place(scope), params.collection ?? '', query),
  }),

  getAgentRecord: sandboxRoute('GET', '/v1/internal/records/:collection/:key', {
    summary: 'Read a record',
    answers: JSON_ANSWER,
    handle: ({ ctx, scope, params }) => agentRecords.get(ctx, place(scope), params.collection ?? '', params.key ?? ''),
  }),

  saveAgentRecord: sandboxRoute('POST', '/v1/internal/records/:collection/:key', {
    summary: 'Write a record',
    body: z.object({ value: json, version: z.number().int().optional() }),
    answers: { 200: jsonObject, 201: jsonObject },
    async handle({ ctx, scope, params, body }) {
      const { record, isNew } = await agentRecords.put(
        ctx,
        place(scope),
        params.collection ?? '',
        params.key ?? '',
        body,
      )
      return new Answer(isNew ? 201 : 200, record)
    },
  }),

  deleteAgentRecord: sandboxRoute('DELETE', '/v1/internal/records/:collection/:key', {
    summary: 'Delete a record',
    answers: { 204: z.null() },
    async handle({ ctx, scope, params }) {
      await agentRecords.delete(ctx, place(scope), params.collection ?? '', params.key ?? '')
      return noContent()
    },
  }),

  getAgentCase: sandboxRoute('GET', '/v1/internal/case', {
    summary: "Read the task's case",
    answers: JSON_ANSWER,
    handle: ({ ctx, scope }) => caseForAgent(ctx, scope.task.case_id),
  }),

  updateAgentCase: sandboxRoute('PUT', '/v1/internal/case', {
    summary: "Move the task's case on",
    body: CaseChange,
    answers: JSON_ANSWER,
    handle: ({ ctx, scope, body }) => updateCaseByAgent(ctx, scope.task.case_id, body, actorOf(scope)),
  }),

  reportKnowledgeGap: sandboxRoute('POST', '/v1/internal/knowledge/gap', {
    summary: 'Report knowledge that is missing',
    body: z.object({ question: z.string().min(1).max(2000), why: z.string().max(2000).optional() }),
    answers: JSON_ANSWER,
    async handle({ ctx, scope: run, body }) {
      if (body.question.trim() === '') throw badRequest("field 'question' must say something")
      if (run.gaps >= MOST_GAPS) throw tooMany(`more than ${MOST_GAPS} gaps in one task`, 60)
      run.gaps++
      await run.flush()
      return inTx(ctx, async (tx) => {
        const { projectId, taskId, wedge } = run
        const gap = await reportGap(tx, { projectId, taskId, wedge: wedge.slug, ...body })
        await append(tx, run, [{ type: 'progress', data: { text: `Missing knowledge: ${body.question}` } }])
        const told = { wedge: wedge.slug, asked: gap.asked }
        await audit(tx, projectId, actorOf(run), 'intake.asked', gap.question_id, told)
        return { ok: true, question_id: gap.question_id }
      })
    },
  }),
})

/** The risk that the wedge states for the tool: by its whole name, else by the words that gate it. */
function riskOf(run: Run, tool: string): string {
  const name = tool.toLowerCase()
  const stated = run.wedge.manifest.approvals.map(({ action, risk }) => ({ action: action.toLowerCase(), risk }))
  const match = stated.find(({ action }) => action === name) ?? stated.find(({ action }) => name.includes(action))
  return match?.risk ?? 'medium'
}

function matchesGate(run: Run, tool: string): boolean {
  const name = tool.toLowerCase()
  return run.gatePatterns.some((pattern) => name.includes(pattern))
}
