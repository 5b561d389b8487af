import type { SettingsEnv } from '../contract/settings.ts'
import { parseHttpUrl } from './read-setting.ts'
import { removeTrailingSlashes } from '../base/text.ts'

/** The collector for traces of finished tasks, from the settings that OpenTelemetry defines. */
export interface OtlpConfig {
  url: string
  serviceName: string
  /** Additional resource attributes. */
  resource: Record<string, string>
  /** The trace of a task is not sent if its caller does not record the trace that it continues. */
  followsCaller: boolean
}

/** Null without an endpoint. The headers may hold a secret and are read when they are sent. */
export function readOtlpConfig(env: SettingsEnv): OtlpConfig | null {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const off = env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none'
  if (off || (!base && !own)) return null
  refuseGrpc(env)
  return {
    url: own ? endpointUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own) : tracesUrl(base ?? ''),
    serviceName: env.OTEL_SERVICE_NAME || 'agent-work-service',
    resource: parseKeyValueList(env.OTEL_RESOURCE_ATTRIBUTES),
    followsCaller: readSampler(env.OTEL_TRACES_SAMPLER) === 'parentbased_always_on',
  }
}

/** Parses `name=value,name=value` with URL-encoded values; ignores everything that is not such a pair. */
export function parseKeyValueList(text: string | undefined): Record<string, string> {
  const found: Record<string, string> = {}
  for (const part of (text ?? '').split(',')) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(0, at)).trim()
    if (name) found[name] = tryDecode(part.slice(at + 1).trim())
  }
  return found
}

const SAMPLERS = ['parentbased_always_on', 'always_on'] as const

function readSampler(text: string | undefined): (typeof SAMPLERS)[number] {
  if (!text) return SAMPLERS[0]
  const sampler = SAMPLERS.find((name) => name === text)
  if (!sampler) throw new Error(`OTEL_TRACES_SAMPLER must be ${SAMPLERS.join(' or ')}`)
  return sampler
}

const tracesUrl = (base: string) =>
  `${removeTrailingSlashes(endpointUrl('OTEL_EXPORTER_OTLP_ENDPOINT', base))}/v1/traces`

function endpointUrl(name: string, text: string): string {
  const url = parseHttpUrl(name, text)
  if (url.username || url.password) {
    throw new Error(`${name} must not contain a user or password: use OTEL_EXPORTER_OTLP_HEADERS`)
  }
  return text
}

/** Collectors accept JSON and protobuf on the same port; gRPC has another port and is not supported. */
function refuseGrpc(env: SettingsEnv): void {
  for (const name of ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] as const) {
    if (env[name] === 'grpc') throw new Error(`${name} must be http/json: grpc is not supported`)
  }
}

function tryDecode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
