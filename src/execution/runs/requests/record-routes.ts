import { z } from 'zod'
import { countRunBytes, runStorageFull } from '../../../identity/limits/storage-usage.ts'
import { readCaseForAgent, changeCaseByAgent } from '../../../work/cases/agent-access.ts'
import { CaseChange } from '../../../work/cases/change-case.ts'
import { pageQueryById } from '../../../platform/http/page.ts'
import { HttpResponse, nameRoutes, noContentResponse } from '../../../platform/http/route.ts'
import { jsonObject, jsonValue } from '../../../platform/http/validate.ts'
import { agentRecords } from '../../../work/records/agent-records.ts'
import { actorOf, sandboxRoute } from './sandbox-routes.ts'
import type { TaskRun } from '../session/task-run.ts'

const JSON_RESPONSE = { 200: jsonObject }

const recordScopeOf = ({ facts }: TaskRun) => ({
  projectId: facts.projectId,
  wedge: facts.wedge.slug,
  actor: actorOf(facts),
})

/** The records of the wedge and the case of the task, for its agent. */
export const agentRecordRoutes = nameRoutes({
  listAgentRecords: sandboxRoute('GET', '/v1/internal/records/:collection', {
    summary: "List records of the task's wedge",
    query: z.object({ where: z.string().optional(), ...pageQueryById('rec') }),
    longRead: true,
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
      if (!countRunBytes(ctx.config, scope.usage, Buffer.byteLength(JSON.stringify(body.value))))
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
    handle: ({ ctx, scope }) => readCaseForAgent(ctx, scope.facts.task.case_id),
  }),

  updateAgentCase: sandboxRoute('PUT', '/v1/internal/case', {
    summary: "Update the task's case",
    body: CaseChange,
    responses: JSON_RESPONSE,
    handle: ({ ctx, scope, body }) => changeCaseByAgent(ctx, scope.facts.task.case_id, body, actorOf(scope.facts)),
  }),
})
