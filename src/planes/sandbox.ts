import type { FastifyInstance, FastifyRequest } from 'fastify'
import { bearerOf } from '../accounts/authenticate.ts'
import { unauthorized } from '../base/problem.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { bind, httpServer } from '../http/server.ts'
import type { Run } from '../runs/run.ts'
import type { Runner } from '../runs/runner.ts'
import * as sandbox from '../runs/sandbox-routes.ts'
import type { WorkflowCells } from '../workflows/cells.ts'

/** What an agent can do. The gate takes the gate token, everything else the task token. */
export const sandboxPlane = (workflows: WorkflowCells): sandbox.SandboxRoute[] => [
  sandbox.postGate,
  sandbox.postAction,
  sandbox.getRead,
  sandbox.postRead,
  sandbox.postModelCall,
  sandbox.listAgentRecords,
  sandbox.getAgentRecord,
  sandbox.putAgentRecord,
  sandbox.deleteAgentRecord,
  sandbox.getAgentCase,
  sandbox.putAgentCase,
  sandbox.workflowRoute(workflows),
  sandbox.postGap,
]

/**
 * A server of its own that no port leads to: only the sockets of cells. A token is good through the socket of its own
 * run and nowhere else.
 */
export function serveSandboxPlane(ctx: Ctx, runner: Runner, workflows: WorkflowCells): FastifyInstance {
  const app = httpServer(ctx)
  for (const route of sandboxPlane(workflows)) {
    const kind = route === sandbox.postGate ? 'gate' : 'task'
    bind(app, ctx, route, async (request) => runOf(runner, request, kind))
  }
  return app
}

function runOf(runner: Runner, request: FastifyRequest, kind: 'task' | 'gate'): Run {
  const run = runner.runOf(bearerOf(request), kind, request.raw.socket)
  if (!run) throw unauthorized()
  return run
}
