import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bearerOf } from '../accounts/authenticate.ts'
import { unauthorized } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { type LineDoor, lineDoor } from '../http/lines.ts'
import { bind, httpServer } from '../http/server.ts'
import type { Run } from '../runs/run.ts'
import type { Runner } from '../runs/runner.ts'
import { refusedReads, type SandboxRoute, sandboxRoutes, workflowRoutes } from '../runs/sandbox-routes.ts'
import type { WorkflowCells } from '../workflows/cells.ts'

/** What an agent can do. The gate takes the gate token, everything else the task token. */
export const sandboxPlane = (workflows: WorkflowCells): SandboxRoute[] => [
  ...Object.values(sandboxRoutes),
  ...refusedReads,
  ...Object.values(workflowRoutes(workflows)),
]

/** The ways in: a server that no port leads to, only the sockets of cells, and the pipe of the bundled harness. */
export interface SandboxPlane {
  http: FastifyInstance
  lines: LineDoor<Run>
}

export function openSandboxPlane(ctx: Ctx, runner: Runner, workflows: WorkflowCells): SandboxPlane {
  const http = httpServer(ctx)
  const routes = sandboxPlane(workflows)
  for (const route of routes) bind(http, ctx, route, async (request) => runOf(runner, request, tokenKind(route)))
  const opens = (route: SandboxRoute, run: Run, token: string) => runner.admits(run) && isFor(route, run, token)
  return { http, lines: lineDoor(ctx, routes, opens) }
}

const tokenKind = (route: SandboxRoute) => (route === sandboxRoutes.checkGate ? 'gate' : 'task')

/** A token is good through the socket of its own run and nowhere else. */
function runOf(runner: Runner, request: FastifyRequest, kind: 'task' | 'gate'): Run {
  const run = runner.runOf(bearerOf(request), kind, request.raw.socket)
  if (!run) throw unauthorized()
  return run
}

/** Who asks by lines is known by the line; it shows that it may all the same. */
function isFor(route: SandboxRoute, run: Run, token: string): boolean {
  return token === (tokenKind(route) === 'gate' ? run.gateToken : run.taskToken)
}
