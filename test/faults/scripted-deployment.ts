import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { writeFiles } from '../app.ts'
import { addConnections, GATED_ENV, gatedWedgeFiles } from '../approvals/decisions/gated-app.ts'
import { openFakeUpstream, type FakeUpstream } from '../fake-upstream.ts'
import type { StoreKind } from '../stores.ts'
import { createDeployment, type Deployment, type ServiceProcess } from './service-process.ts'

/**
 * An agent that executes the steps of the task's input: `{act: action}` sends a gated action through `crm`,
 * `{flood: n}` writes n long lines, `hang` waits for two minutes (so that a dead test leaves no process behind),
 * `stop` suspends the process, and any other step is written as a line.
 */
const SCRIPTED_AGENT = `
  import http from 'node:http'
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  const { task: { input }, service } = JSON.parse(text)
  for (const step of [input].flat()) {
    if (step === 'hang') await new Promise((resolve) => setTimeout(resolve, 120_000))
    else if (step === 'stop') process.kill(process.pid, 'SIGSTOP')
    else if (step.act) await act(step.act)
    else if (step.flood) for (let i = 0; i < step.flood; i++) await say({ event: 'progress', data: { text: 'x'.repeat(800) } })
    else await say(step)
  }
  function say(line) {
    return new Promise((resolve) => process.stdout.write(JSON.stringify(line) + '\\n', resolve))
  }
  function act(action) {
    return new Promise((resolve, reject) => {
      const headers = { authorization: 'Bearer ' + service.task_token, 'content-type': 'application/json' }
      const path = '/v1/internal/actions/' + action
      const request = http.request({ socketPath: service.socket, method: 'POST', path, headers, agent: false })
      request.on('error', reject)
      request.on('response', (response) => response.resume().on('end', resolve))
      request.end(JSON.stringify({ connection: 'crm', payload: { text: action } }))
    })
  }`

/** One step of the scripted agent. The action `ping` is auto-approved; every other action waits for a decision. */
export type AgentStep = 'hang' | 'stop' | { act: string } | { flood: number } | Record<string, unknown>

export const SCRIPTED_AGENT_FILES = { 'agent.mjs': SCRIPTED_AGENT }

/** A deployment with the scripted agent, and the upstream server that its actions reach. */
export interface ScriptedDeployment extends Deployment {
  outside: FakeUpstream
  /** Starts the first service and adds the connections. */
  open(env?: Record<string, string>, wrapper?: string[]): Promise<ServiceProcess>
}

export async function createScriptedDeployment(
  store: StoreKind,
  env: Record<string, string> = {},
): Promise<ScriptedDeployment> {
  const outside = await openFakeUpstream()
  onTestFinished(() => outside.close())
  const wedges = gatedWedgeFiles('gate', { policy: { auto_approve: [{ action: 'ping' }] } })
  const agent = { SVC_AGENT_COMMAND: 'exec node agent.mjs', SVC_AGENT_DIR: 'agent' }
  const deployment = await createDeployment(store, { wedges, env: { ...GATED_ENV, ...agent, ...env } })
  writeFiles(join(deployment.dir, 'agent'), SCRIPTED_AGENT_FILES)
  return {
    ...deployment,
    outside,
    async open(extraEnv, wrapper) {
      const service = await deployment.start(extraEnv, wrapper)
      await addConnections(service, outside.url)
      return service
    },
  }
}

export async function createScriptedTask(
  service: Pick<ServiceProcess, 'call'>,
  steps: AgentStep[],
  extra: object = {},
): Promise<string> {
  const request = { wedge: 'gate', task_type: 'act', input: steps, ...extra }
  const { status, body } = await service.call('POST', '/v1/tasks', request)
  expect(status).toBe(201)
  return body.id
}

/** Waits for the first event of a type, and returns its approval id if it has one. */
export async function waitForEvent(service: ServiceProcess, taskId: string, type: string): Promise<string> {
  const events = await service.events(taskId, ({ event }) => event === type)
  expect(events.at(-1)?.event).toBe(type)
  return events.at(-1)?.data.data.approval_id
}
