import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endTasksOfEarlierProcess } from '../../../../src/execution/runs/replicas/dead-replicas.ts'
import { anyStore, writeFiles } from '../../../app.ts'
import {
  callsFor,
  type GatedApp,
  gatedWedgeFiles,
  requestedApprovalId,
  sharedGatedApp,
} from '../../../approvals/decisions/gated-app.ts'

/** An agent whose input lists the steps of each stage. A checkpoint names the stage with which it continues. */
const AGENT = `
  import http from 'node:http'
  const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n')
  let text = ''
  for await (const chunk of process.stdin) text += chunk
  const { task: { input }, service, resume } = JSON.parse(text)
  const answers = []
  const stage = resume?.checkpoint.stage ?? 0
  for (const step of input.stages[stage]) {
    if (step.say) say(step.say)
    if (step.post) answers.push(await post(step.post, step.body, step.gate))
  }
  say({ event: 'progress', data: { text: 'reached the end' } })
  if (resume || !input.hang) say({ output: { pending: resume?.pending ?? null, answers } })
  else setTimeout(() => {}, 60_000)
  function post(path, body, gate) {
    return new Promise((resolve, reject) => {
      const token = gate ? service.gate_token : service.task_token
      const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
      const request = http.request({ socketPath: service.socket, method: 'POST', path: '/v1/internal/' + path, headers, agent: false })
      request.on('error', reject)
      request.on('response', (response) => {
        let received = ''
        response.setEncoding('utf8').on('data', (chunk) => (received += chunk))
        response.on('end', () => resolve(JSON.parse(received)))
      })
      request.end(JSON.stringify(body))
    })
  }`

function agentFolder(): Record<string, string> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-custom-resume-'))
  writeFiles(dir, { 'agent.mjs': AGENT })
  return { SVC_AGENT_DIR: dir, SVC_AGENT_COMMAND: 'node agent.mjs' }
}

const checkpoint = (stage: number, text = '') => ({ say: { checkpoint: { stage, text } } })
const ASK = { post: 'ask', body: { question: 'Which size?', to: 'team' } }
const GATE = { post: 'gate', gate: true, body: { tool: 'book_room', input: { room: 1 } } }
const letter = (text: string) => ({
  post: 'actions/send_letter',
  body: { connection: 'crm', payload: { text } },
})
/** A rule approves it. */
const NOTE = { post: 'actions/send_note', body: { connection: 'crm', payload: { text: 'hello' } } }

/** Makes the replica of a task count as dead, and lets the service handle its tasks. */
async function killReplicaOf(app: GatedApp, id: string): Promise<void> {
  app.ctx.liveRuns.get(id)?.end('interrupted')
  await expect.poll(() => app.ctx.liveRuns.get(id)).toBeUndefined()
  await app.ctx.store.transact((db) =>
    db.updateTable('tasks').set({ replica: 'rep_dead' }).where('id', '=', id).execute(),
  )
  await endTasksOfEarlierProcess(app.ctx)
}

anyStore((store) => {
  describe('a custom agent', () => {
    const app = sharedGatedApp(store, {
      wedges: gatedWedgeFiles('gate', {
        policy: { auto_approve: [{ action: 'send_note' }] },
        task_types: { act: {}, tool: { harness: { resume: true } } },
      }),
      env: { ...agentFolder(), SVC_SANDBOX: 'process' },
    })
    const start = (taskType: string, input: object) =>
      app().createTask({ wedge: 'gate', task_type: taskType, input: { hang: true, ...input } })
    const untilReachedEnd = (id: string) => app().events(id, { until: ({ event }) => event === 'progress' })
    const isParked = async (id: string) => {
      await app().clock.advance(1_000)
      const [task] = await app().ctx.db.selectFrom('tasks').select('replica').where('id', '=', id).execute()
      return task?.replica === null
    }

    test('leaves its cell after a checkpoint, and continues with the checkpoint and the result of its request', async () => {
      const stages = [[checkpoint(1), letter('first')], [checkpoint(2), letter('second')], []]
      const { id } = await start('act', { stages })
      const approvals: string[] = []
      for (const n of [1, 2]) {
        approvals.push(await requestedApprovalId(app(), id, n))
        await expect.poll(() => isParked(id)).toBe(true)
        await app().call('POST', `/v1/approvals/${approvals.at(-1)}/approve`)
      }
      const { status, output } = await app().finished(id)
      const result = expect.objectContaining({ ok: true, payload: { text: 'second' } })
      const pending = { approval_id: approvals[1], action: 'send_letter', decision: 'approved', result }
      expect({ status, output }).toEqual({ status: 'succeeded', output: { pending, answers: [] } })
      expect(approvals.map((approval) => callsFor(app(), approval).length)).toEqual([1, 1])
    })

    test('keeps its cell without a checkpoint', async () => {
      const { id } = await start('act', { hang: false, stages: [[letter('only')]] })
      const approval = await requestedApprovalId(app(), id)
      for (let second = 0; second < 25; second++) expect(await isParked(id)).toBe(false)
      await app().call('POST', `/v1/approvals/${approval}/approve`)
      expect((await app().finished(id)).output).toMatchObject({ pending: null, answers: [{ ok: true }] })
    })

    test('gets the stored result of an action that it repeats, also after a checkpoint that was read late', async () => {
      const sentBefore = app().outside.received.length
      const { id } = await start('tool', { stages: [[checkpoint(1, 'x'.repeat(900_000)), NOTE], [NOTE]] })
      await untilReachedEnd(id)
      await killReplicaOf(app(), id)
      expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: { answers: [{ ok: true }] } })
      expect(app().outside.received.length - sentBefore).toBe(1)
    })

    test('is interrupted after an answer that it may have used, if it is not resumable', async () => {
      const { id } = await start('act', { stages: [[checkpoint(1), ASK], []] })
      const question = await requestedApprovalId(app(), id)
      await app().call('POST', `/v1/approvals/${question}/approve`, { edited: { answer: 'large' } })
      await untilReachedEnd(id)
      await killReplicaOf(app(), id)
      expect(await app().finished(id)).toMatchObject({ status: 'failed', error: { reason: 'interrupted' } })
    })

    test('asks again for a second call of a tool that was approved once', async () => {
      const { id } = await start('act', { stages: [[checkpoint(1), GATE], [GATE]] })
      const first = await requestedApprovalId(app(), id)
      await expect.poll(() => isParked(id)).toBe(true)
      await app().call('POST', `/v1/approvals/${first}/approve`)
      const second = await requestedApprovalId(app(), id, 2)
      expect(second).not.toBe(first)
      await app().call('POST', `/v1/approvals/${second}/approve`)
      const { output } = await app().finished(id)
      expect(output).toMatchObject({
        pending: { approval_id: first, decision: 'approved', result: null },
        answers: [{ decision: 'approved' }],
      })
    })

    test('keeps its cell while it has delivered a file', async () => {
      const artifact = { name: 'note.txt', content_type: 'text/plain', content_base64: 'aGk=' }
      const { id } = await start('act', { hang: false, stages: [[{ say: { artifact } }, checkpoint(1), ASK], []] })
      const question = await requestedApprovalId(app(), id)
      for (let second = 0; second < 25; second++) expect(await isParked(id)).toBe(false)
      await app().call('POST', `/v1/approvals/${question}/approve`, { edited: { answer: 'large' } })
      const { status } = await app().finished(id)
      const { artifacts } = (await app().call('GET', `/v1/tasks/${id}`)).body
      expect([status, artifacts.map(({ name }: { name: string }) => name)]).toEqual([
        'succeeded',
        ['output.json', 'note.txt'],
      ])
    })
  })
})
