import { bearerToken } from '../../identity/authentication/authenticate.ts'
import { badRequest, unauthorized } from '../../platform/base/problem.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { type PipePlane, createPipePlane } from '../../platform/http/pipe-plane.ts'
import { bindRoute } from '../../platform/http/bind-route.ts'
import type { HttpRequest } from '../../platform/http/http-request.ts'
import { HttpServer } from '../../platform/http/server.ts'
import { agentMcpRoutes } from '../mcp/agent-routes.ts'
import type { TaskRun } from '../../execution/runs/session/task-run.ts'
import type { Runner } from '../../execution/runs/session/runner.ts'
import { runFileRoutes } from '../../execution/runs/requests/file-routes.ts'
import { questionRoutes } from '../../execution/runs/requests/question-routes.ts'
import { agentRecordRoutes } from '../../execution/runs/requests/record-routes.ts'
import { agentSkillRoutes } from '../../execution/runs/requests/skill-routes.ts'
import {
  refusedReads,
  type SandboxRoute,
  sandboxRoutes,
  workflowRoutes,
} from '../../execution/runs/requests/sandbox-routes.ts'
import type { WorkflowRunner } from '../../execution/workflows/workflow-runner.ts'
import { VERSION } from './view.ts'

/** The routes for agents. The gate takes the gate token, every other route the task token. */
export const sandboxPlaneRoutes = (workflows: WorkflowRunner): SandboxRoute[] => [
  ...Object.values(sandboxRoutes),
  ...Object.values(agentRecordRoutes),
  ...Object.values(questionRoutes),
  ...Object.values(runFileRoutes),
  ...Object.values(agentSkillRoutes),
  ...refusedReads,
  ...Object.values(workflowRoutes(workflows)),
]

/** An HTTP server that is reachable only through the sockets of cells, and the pipe of the bundled harness. */
export interface SandboxPlane {
  http: HttpServer
  pipe: PipePlane<TaskRun>
}

export function openSandboxPlane(ctx: Ctx, runner: Runner, workflows: WorkflowRunner): SandboxPlane {
  const http = new HttpServer(ctx)
  const routes = sandboxPlaneRoutes(workflows)
  const isAuthorized = (route: SandboxRoute, run: TaskRun, token: string) =>
    runner.isRunActive(run) && isTokenFor(route, run, token)
  const pipe = createPipePlane(ctx, routes, isAuthorized)
  for (const route of [...routes, ...Object.values(agentMcpRoutes(pipe, VERSION))]) {
    bindRoute(http, ctx, route, { authenticate: async (request) => authenticateRun(runner, request, tokenKind(route)) })
  }
  return { http, pipe }
}

const tokenKind = (route: SandboxRoute) => (route === sandboxRoutes.checkGate ? 'gate' : 'task')

/** A token is valid only through the socket of its own run. */
function authenticateRun(runner: Runner, request: HttpRequest, kind: 'task' | 'gate'): TaskRun {
  const run = runner.findRunByToken(tokenOf(request), kind, request.raw.socket)
  if (!run) throw unauthorized()
  return run
}

/** Libraries for model providers send the token in one of two headers. */
function tokenOf(request: HttpRequest): string {
  const { authorization, 'x-api-key': apiKey } = request.headers
  if (typeof apiKey !== 'string') return bearerToken(request)
  if (authorization !== undefined && bearerToken(request) !== apiKey)
    throw badRequest("headers 'authorization' and 'x-api-key' must contain the same token")
  return apiKey
}

/** The pipe already identifies the run; the token is required all the same. */
function isTokenFor(route: SandboxRoute, run: TaskRun, token: string): boolean {
  return token === run.tokens[tokenKind(route)]
}
