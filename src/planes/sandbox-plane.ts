import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bearerToken } from '../accounts/authenticate.ts'
import { unauthorized } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { type PipePlane, createPipePlane } from '../http/pipe-plane.ts'
import { bindRoute, createHttpServer } from '../http/server.ts'
import type { TaskRun } from '../runs/task-run.ts'
import type { Runner } from '../runs/runner.ts'
import { refusedReads, type SandboxRoute, sandboxRoutes, workflowRoutes } from '../runs/sandbox-routes.ts'
import type { WorkflowRunner } from '../workflows/workflow-runner.ts'

/** What an agent can do. The gate takes the gate token, everything else the task token. */
export const sandboxPlaneRoutes = (workflows: WorkflowRunner): SandboxRoute[] => [
  ...Object.values(sandboxRoutes),
  ...refusedReads,
  ...Object.values(workflowRoutes(workflows)),
]

/** The ways in: a server that no port leads to, only the sockets of cells, and the pipe of the bundled harness. */
export interface SandboxPlane {
  http: FastifyInstance
  pipe: PipePlane<TaskRun>
}

export function openSandboxPlane(ctx: Ctx, runner: Runner, workflows: WorkflowRunner): SandboxPlane {
  const http = createHttpServer(ctx)
  const routes = sandboxPlaneRoutes(workflows)
  for (const route of routes)
    bindRoute(http, ctx, route, async (request) => authenticateRun(runner, request, tokenKind(route)))
  const opens = (route: SandboxRoute, run: TaskRun, token: string) =>
    runner.isRunActive(run) && isTokenFor(route, run, token)
  return { http, pipe: createPipePlane(ctx, routes, opens) }
}

const tokenKind = (route: SandboxRoute) => (route === sandboxRoutes.checkGate ? 'gate' : 'task')

/** A token is good through the socket of its own run and nowhere else. */
function authenticateRun(runner: Runner, request: FastifyRequest, kind: 'task' | 'gate'): TaskRun {
  const run = runner.findRunByToken(bearerToken(request), kind, request.raw.socket)
  if (!run) throw unauthorized()
  return run
}

/** Who asks by lines is known by the line; it shows that it may all the same. */
function isTokenFor(route: SandboxRoute, run: TaskRun, token: string): boolean {
  return token === (tokenKind(route) === 'gate' ? run.gateToken : run.taskToken)
}
