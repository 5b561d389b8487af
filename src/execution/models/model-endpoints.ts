import type { IncomingHttpHeaders } from 'node:http'
import type { Writable } from 'node:stream'
import type { JsonObject } from '../../platform/base/json.ts'
import { notFound, Problem } from '../../platform/base/problem.ts'
import type { ModelProvider } from '../../platform/contract/agent-protocol.ts'
import { type ModelApi, PROVIDER_FORMATS } from '../../platform/contract/providers/provider-formats.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import type { HttpResponse, StreamResponse } from '../../platform/http/route.ts'
import { countTokens } from './count-tokens.ts'
import { forwardModelCall } from './forward-call.ts'
import { type ModelRun, setRefusedCall } from './model-run.ts'
import { toProviderRefusal } from './refuse-fields.ts'

/** What an agent can send to the proxy: the path below the provider, and a body. */
export interface ModelPost {
  provider: string
  path: string
  body: JsonObject
  headers: IncomingHttpHeaders
}

/** Answers a POST of an agent: a model call in one of the APIs, or a count of tokens. Other paths do not exist. */
export async function postToModel(ctx: Ctx, run: ModelRun, post: ModelPost): Promise<PostResponse> {
  try {
    const provider = requireProvider(run, post.provider)
    return await answerPost(ctx, run, provider, post).catch((error: unknown) => {
      throw error instanceof Problem && error.status === 400 ? toProviderRefusal(provider, error) : error
    })
  } catch (error) {
    if (error instanceof Problem && [400, 404].includes(error.status)) setRefusedCall(run, error.message)
    throw error
  }
}

type PostResponse = HttpResponse | StreamResponse<Writable> | JsonObject

async function answerPost(
  ctx: Ctx,
  run: ModelRun,
  provider: ModelProvider,
  { path, body, headers }: ModelPost,
): Promise<PostResponse> {
  const apis = apisOf(provider)
  const endpoint = withoutSlash(path)
  const api = apis.find((name) => PROVIDER_FORMATS[name].paths.includes(endpoint))
  if (api) return forwardModelCall(ctx, run, api, body, headers)
  if (apis.includes('anthropic') && COUNT_PATHS.includes(endpoint)) return countTokens(ctx, run, body, headers)
  throw notFound('model route')
}

const COUNT_PATHS = PROVIDER_FORMATS.anthropic.paths.map((path) => `${path}/count_tokens`)

const isModelApi = (name: string): name is ModelApi => Object.hasOwn(PROVIDER_FORMATS, name)
const API_NAMES = Object.keys(PROVIDER_FORMATS).filter(isModelApi)

const apisOf = (provider: ModelProvider): ModelApi[] =>
  API_NAMES.filter((name) => PROVIDER_FORMATS[name].provider === provider)

/** Answers a GET of an agent: the list of models in the format of the provider, or one of them. */
export function listModels(run: ModelRun, provider: string, path: string): JsonObject {
  const format = requireProvider(run, provider)
  const { name } = run.model
  const endpoint = withoutSlash(path).replace(/^v1\//, '')
  if (format === 'anthropic' && endpoint === REACHABILITY_PATH) return {}
  if (endpoint === `models/${name}`) return toModelEntry(format, name)
  if (endpoint !== 'models') throw notFound('model route')
  // Every call goes to the model of the run, so it is the only one.
  const data = [toModelEntry(format, name)]
  return format === 'openai' ? { object: 'list', data } : { data, has_more: false, first_id: name, last_id: name }
}

/** The Claude Agent SDK sends a HEAD request here before its first call. */
const REACHABILITY_PATH = 'api/hello'

function toModelEntry(provider: ModelProvider, id: string): JsonObject {
  if (provider === 'openai') return { id, object: 'model', created: 0, owned_by: 'agent-work-service' }
  return { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' }
}

/** A rehearsal can be played in the format of every provider. */
function requireProvider({ model }: ModelRun, provider: string): ModelProvider {
  if (provider !== 'anthropic' && provider !== 'openai') throw notFound('model wire')
  if (model.provider === 'rehearsal' || model.wire === provider) return provider
  const used = `this run uses ${model.provider}/${model.name} (SVC_MODEL)`
  throw new Problem(404, `no such model route: ${used}, so only the API of ${model.provider} is available`)
}

const withoutSlash = (path: string) => path.replace(/^\//, '')
