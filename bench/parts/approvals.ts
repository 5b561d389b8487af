import { median, percentile } from '../load/statistics.ts'
import { measureAlternating, costRow, goalRow, type PairedSamples, type ResultRow } from '../results.ts'
import type { Rig, Server } from '../rig.ts'

const WAITING = 200
const DECISIONS = 50
/** Until Node has compiled the hot code, the same work costs several times as much. */
const WARM_UP_ROUNDS = 12

/** The time from a decision to the end of a run in its cell, while many other runs wait for a decision. */
export async function measureDecision(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({ SVC_PARK_AFTER_S: '3600' })
  const bare = await rig.bare('warm', [process.execPath, rig.program('bare-worker')])
  const body = { wedge: 'bench', task_type: 'ask', input: { text: 'hello' } }
  const options = { waiting: WAITING, decisions: DECISIONS, body }
  const p99: PairedSamples = { service: [], bare: [] }
  const measure = async (server: Server, p99s: number[]) => {
    const result = await rig.load('decideApprovals', server, options)
    p99s.push(result.p99)
    return result.p50
  }
  for (let round = 0; round < WARM_UP_ROUNDS; round++) {
    await measure(service, [])
    await measure(bare, [])
  }
  const p50 = await measureAlternating(
    4,
    () => measure(service, p99.service),
    () => measure(bare, p99.bare),
  )
  const note = 'after it: a tool, a model turn and the output; bare: the same events'
  return [
    costRow(`decision to finished p50, ${WAITING} waiting`, 'ms', p50, 1.7, note),
    costRow('decision to finished p99', 'ms', p99, null),
  ]
}

const CALLS = 300

/** The duration of a call of a warm workflow, measured by the agent in its sandbox. */
export async function measureWorkflow(rig: Rig): Promise<ResultRow[]> {
  const service = await rig.service({
    SVC_AGENT_COMMAND: 'node /custom/workflow.mjs',
    SVC_AGENT_DIR: rig.folders.programs,
  })
  const bare = await rig.bare('warm', [process.execPath, rig.program('bare-worker')])
  const p99: number[] = []
  const measureService = async () => {
    const times = await timeWorkflowCalls(service)
    p99.push(percentile(times, 0.99))
    return median(times)
  }
  const body = { n: 1 }
  const options = { clients: 1, ms: 500, method: 'POST', path: '/v1/workflow', body, expect: 200 }
  const pairs = await measureAlternating(
    3,
    measureService,
    async () => (await rig.load('sendRequests', bare, options)).p50,
  )
  return [goalRow('workflow p50, warm', 'ms', pairs, { max: 5 }, `p99 ${median(p99).toFixed(2)} ms`)]
}

/** Runs one task whose agent calls the workflow, and reads the durations from its output. */
async function timeWorkflowCalls({ port, key }: Server): Promise<number[]> {
  const url = `http://127.0.0.1:${port}/v1/tasks`
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ wedge: 'bench', task_type: 'say', input: { calls: CALLS } })
  const { id } = (await (await fetch(url, { method: 'POST', headers, body })).json()) as { id: string }
  await (await fetch(`${url}/${id}/events`, { headers })).text()
  const task = (await (await fetch(`${url}/${id}`, { headers })).json()) as { output: { times: number[] } | null }
  if (!task.output) throw new Error(`the workflow agent failed: ${JSON.stringify(task)}`)
  return task.output.times
}
