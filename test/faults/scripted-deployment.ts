import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { writeFiles } from '../app.ts'
import { addConnections, GATED_ENV, gatedWedgeFiles } from '../approvals/gated-app.ts'
import { openFakeUpstream, type FakeUpstream } from '../fake-upstream.ts'
import type { StoreKind } from '../stores.ts'
import { createDeployment, type Deployment, type ServiceProcess } from './service-process.ts'

/**
 * An agent that does what the task's input says, step by step: `{act: action}` is a gated action through `crm`,
 * `{flood: n}` is so many long lines, `hang` goes on for ever (almost: nothing is left behind by a test that dies),
 * `stop` halts the process where it stands, and any other step is a line it says.
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

/** What a run can be told to do. `ping` passes by a rule, everything else waits for a person. */
export type AgentStep = 'hang' | 'stop' | { act: string } | { flood: number } | Record<string, unknown>

export const SCRIPTED_AGENT_FILES = { 'agent.mjs': SCRIPTED_AGENT }

/** A place whose agents do as they are told, and the outside that their actions reach. */
export interface ScriptedDeployment extends Deployment {
  outside: FakeUpstream
  /** The first service of the place, with its connections. */
  open(env?: Record<string, string>, under?: string[]): Promise<ServiceProcess>
}

export async function createScriptedDeployment(
  store: StoreKind,
  env: Record<string, string> = {},
): Promise<ScriptedDeployment> {
  const outside = await openFakeUpstream()
  onTestFinished(() => outside.close())
  const wedges = gatedWedgeFiles('gate', { policy: { auto_approve: [{ action: 'ping' }] } })
  const agent = { SVC_AGENT_COMMAND: 'exec node agent.mjs', SVC_AGENT_DIR: 'agent' }
  const place = await createDeployment(store, { wedges, env: { ...GATED_ENV, ...agent, ...env } })
  writeFiles(join(place.dir, 'agent'), SCRIPTED_AGENT_FILES)
  return {
    ...place,
    outside,
    async open(more, under) {
      const service = await place.start(more, under)
      await addConnections(service, outside.url)
      return service
    },
  }
}

export async function createScriptedTask(
  service: Pick<ServiceProcess, 'call'>,
  steps: AgentStep[],
  more: object = {},
): Promise<string> {
  const request = { wedge: 'gate', task_type: 'act', input: steps, ...more }
  const { status, body } = await service.call('POST', '/v1/tasks', request)
  expect(status).toBe(201)
  return body.id
}

/** Answers once the run has come so far: the approval's id when it asks, else nothing worth having. */
export async function waitForEvent(service: ServiceProcess, taskId: string, type: string): Promise<string> {
  const events = await service.events(taskId, ({ event }) => event === type)
  expect(events.at(-1)?.event).toBe(type)
  return events.at(-1)?.data.data.approval_id
}
