import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import pino from 'pino'
import { onTestFinished } from 'vitest'
import { type IdPrefix, createId } from '../../../src/platform/base/ids.ts'
import type { Json, JsonObject } from '../../../src/platform/base/json.ts'
import { LazyAbort } from '../../../src/platform/base/lazy-abort.ts'
import type { PipeResponsePart, ModelProvider } from '../../../src/platform/contract/agent-protocol.ts'
import type { Wedge } from '../../../src/platform/contract/wedge/wedge-manifest.ts'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { ChangeHints } from '../../../src/platform/ctx/change-hints.ts'
import { createCounts } from '../../../src/platform/ctx/counts.ts'
import type { Ctx } from '../../../src/platform/ctx/ctx.ts'
import { createRandomPool } from '../../../src/platform/ctx/system-world.ts'
import { LogFollowers } from '../../../src/platform/ctx/log-followers.ts'
import { receivePlaneLine, createPlaneClient, type PlaneClient } from '../../../src/programs/harness/plane-client.ts'
import { jsonObject } from '../../../src/platform/http/validate.ts'
import { type PipePlane, createPipePlane } from '../../../src/platform/http/pipe-plane.ts'
import { type RequestHead, type Route, defineRoute } from '../../../src/platform/http/route.ts'
import { bindRoute } from '../../../src/platform/http/bind-route.ts'
import { HttpServer } from '../../../src/platform/http/server.ts'
import { chooseModels } from '../../../src/execution/models/choose-model.ts'
import { postToModel } from '../../../src/execution/models/model-endpoints.ts'
import { type ModelRun, newModelState } from '../../../src/execution/models/model-run.ts'
import { openSqliteStore } from '../../../src/platform/store/sqlite/sqlite-store.ts'
import { TestClock } from '../../test-clock.ts'

type ProxyResponse = {
  status: number
  text: string
  body: JsonObject
  headers: http.IncomingHttpHeaders
  whole: boolean
}

export interface ModelProxy {
  ctx: Ctx
  run: ModelRun
  clock: SteppedClock
  port: number
  /** The same route over the pipe. */
  callByPipe: PipePlane<null>
  /** Ends the run. */
  abort: () => void
  /** Everything that the service logged. */
  logged: () => string
  /** Calls the model as the sandbox does and reads the whole response. */
  call: (body?: JsonObject, more?: ProxyRequest) => Promise<ProxyResponse>
  charges: () => Promise<JsonObject[]>
  costMicros: () => Promise<number>
  setStatus: (status: string) => Promise<unknown>
}

type ProxyRequest = {
  wire?: ModelProvider
  path?: string
  headers?: Record<string, string>
  /** Gets the response so far with each chunk; true disconnects. */
  onChunk?: (chunk: string) => boolean | undefined
  /** Never reads the response. */
  neverReads?: boolean
}

/** A running task and the model route of its sandbox, with a real store and server, until the end of the test. */
export async function openModelProxy(env: Record<string, string>, more: Partial<ModelRun> = {}): Promise<ModelProxy> {
  const dir = mkdtempSync(join(tmpdir(), 'models-'))
  const store = await openSqliteStore(dir, 'normal')
  const clock = new SteppedClock(1_800_000_000_000)
  const random = createRandomPool()
  let logged = ''
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk)
      done()
    },
  })
  const config = loadConfig({ ...env, SVC_DATA_DIR: dir })
  // The part of the context that the models folder uses.
  const ctx = {
    config,
    store,
    db: store.db,
    world: {
      clock,
      random,
      newId: (prefix: IdPrefix) => createId(prefix, Date.now(), random),
      log: pino({ level: 'debug' }, sink),
      env: (name: string) => env[name],
    },
    changeHints: new ChangeHints(),
    logFollowers: new LogFollowers(),
    counts: createCounts(),
  } as unknown as Ctx
  await insertTask(ctx)
  const over = new LazyAbort()
  const [model, ...fallbacks] = chooseModels(config, 'free')
  const run: ModelRun = {
    taskId: 'task_1',
    epoch: 1,
    projectId: 'prj_1',
    wedge: wedgeWithRehearsals({}),
    taskType: 'triage',
    input: { order: 7 },
    model,
    fallbacks,
    files: [],
    maxCostMicros: 1_000_000,
    over,
    flushLog: async () => {},
    ...newModelState(),
    ...more,
  }
  const app = new HttpServer(ctx)
  const route = modelRoute(ctx, run)
  bindRoute(app, ctx, route, { authenticate: async () => null })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  onTestFinished(async () => {
    await app.close()
    await store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  return {
    ctx,
    run,
    clock,
    port,
    callByPipe: createPipePlane(ctx, [route], (_route, _scope, token) => token === 'svc_tsk_1'),
    abort: () => over.abort('the test is over'),
    logged: () => logged,
    call: (body = helloRequest, ask = {}) => callProxy(port, run, body, ask),
    charges: async () => {
      const rows = await store.db.selectFrom('events').selectAll().orderBy('seq').execute()
      return rows.filter(({ type }) => type === 'cost.charged').map(({ data }) => JSON.parse(data))
    },
    costMicros: async () => (await store.db.selectFrom('tasks').selectAll().executeTakeFirstOrThrow()).cost_micros,
    setStatus: (status) => store.transact((db) => db.updateTable('tasks').set({ status }).execute()),
  }
}

export const helloRequest: JsonObject = {
  model: 'whatever-the-sandbox-says',
  max_tokens: 1000,
  stream: true,
  messages: [{ role: 'user', content: 'hello' }],
}

export function wedgeWithRehearsals(rehearsals: Record<string, Json>): Wedge {
  const manifest = { wedge: 'refunds', task_types: { triage: {} } } as unknown as Wedge['manifest']
  const code = { digest: '', files: {} }
  return {
    slug: 'refunds',
    title: 'Refunds',
    dir: '/',
    manifest,
    source: {},
    skills: [],
    skillFolders: [],
    knowledge: [],
    rehearsals,
    examples: {},
    agents: {},
    code,
  }
}

/** Time moves only by `leap`. With `hurry`, waits of less than 90 seconds end at once and are recorded in `waits`. */
class SteppedClock extends TestClock {
  hurry = false
  waits: number[] = []

  override after(ms: number, call: () => void): () => void {
    if (!this.hurry || ms >= 90_000) return super.after(ms, call)
    this.waits.push(ms)
    setImmediate(call)
    return () => {}
  }

  /** Advances the time in steps until the promise is settled. */
  async until<T>(promise: Promise<T>, step: number): Promise<T> {
    const state = { settled: false }
    const settle = () => {
      state.settled = true
    }
    promise.then(settle, settle)
    while (!state.settled) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      this.jump(step)
    }
    return promise
  }
}

function modelRoute(ctx: Ctx, run: ModelRun): Route<null, RequestHead> {
  return defineRoute('POST', '/v1/internal/llm/:wire/*', {
    summary: 'A model call',
    body: jsonObject,
    responses: { 200: 'text/event-stream' },
    async handle({ params, body, request }) {
      const post = { provider: params['wire'] ?? '', path: params['*'] ?? '', body, headers: request.headers }
      return postToModel(ctx, run, post)
    },
  })
}

/** The proxy as the harness inside a cell reaches it: over the pipe. */
export function planeClientOf(proxy: ModelProxy): PlaneClient {
  const service = { socket: null, base_url: '', task_token: 'svc_tsk_1', gate_token: 'svc_gat_1' }
  const plane = createPlaneClient(service, new LazyAbort(), ({ ask, ...question }) => {
    const tell = (word: PipeResponsePart) => {
      receivePlaneLine(plane, JSON.parse(JSON.stringify({ answer: ask, ...word })))
      return true
    }
    void proxy.callByPipe(null, question, { send: tell, whenDrained: () => {} })
  })
  return plane
}

const PATHS = { anthropic: 'v1/messages', openai: 'v1/chat/completions' }

function callProxy(port: number, run: ModelRun, body: JsonObject, ask: ProxyRequest): Promise<ProxyResponse> {
  const wire = ask.wire ?? run.model.wire
  const path = `/v1/internal/llm/${wire}/${ask.path ?? PATHS[wire]}`
  const headers = { 'content-type': 'application/json', authorization: 'Bearer svc_tsk_1', ...ask.headers }
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent: false })
    request.on('error', reject)
    request.on('response', (response) => {
      if (ask.neverReads) return
      let text = ''
      const done = (whole: boolean) =>
        resolve({ status: response.statusCode ?? 0, text, body: parsed(text), headers: response.headers, whole })
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
        if (ask.onChunk?.(text)) request.destroy()
      })
      response.on('error', () => done(false))
      response.on('end', () => done(true))
    })
    request.end(JSON.stringify(body))
  })
}

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

async function insertTask(ctx: Ctx): Promise<void> {
  const created_at = new Date(0).toISOString()
  await ctx.store.transact(async (db) => {
    await db.insertInto('organisations').values({ id: 'org_1', name: 'o', created_at, founding: null }).execute()
    const project = { id: 'prj_1', org_id: 'org_1', slug: 'default', name: 'p', tier: 'free', wedges: null, created_at }
    await db.insertInto('projects').values(project).execute()
    const nothing = { client_id: null, thread_id: null, channel_id: null, case_id: null, schedule_id: null }
    const task = { wedge: 'refunds', task_type: 'triage', status: 'running', input: '{}', actor: 'null' }
    const rest = { constraints: '{}', tools: '[]', output_schema: null, output: null, error: null, retry_of: null }
    const counters = { cost_micros: 0, last_event_id: 1, counted_events: 0, epoch: 1 }
    const times = { created_at, started_at: created_at, finished_at: null }
    const ids = { id: 'task_1', project_id: 'prj_1', replica: 'replica' }
    await db
      .insertInto('tasks')
      .values({ ...ids, ...task, ...nothing, ...rest, ...counters, ...times })
      .execute()
  })
}
