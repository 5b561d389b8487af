import { parseHttpUrl } from './http-url.ts'

/** Where traces of finished tasks go, by the names that OpenTelemetry gave its settings. */
export interface OtlpConfig {
  url: string
  serviceName: string
  /** Further attributes of the resource. */
  resource: Record<string, string>
}

type Env = Record<string, string | undefined>

/** Null unless an endpoint is set. The headers may hold a secret and are read where they are sent. */
export function readOtlpConfig(env: Env): OtlpConfig | null {
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const off = env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none'
  if (off || (!base && !own)) return null
  refuseGrpc(env)
  return {
    url: own ? endpointUrl('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', own) : tracesUrl(base ?? ''),
    serviceName: env.OTEL_SERVICE_NAME || 'agent-work-service',
    resource: parseKeyValueList(env.OTEL_RESOURCE_ATTRIBUTES),
  }
}

/** `name=value,name=value`, with values as in a URL. What is not such a pair is left out. */
export function parseKeyValueList(text: string | undefined): Record<string, string> {
  const found: Record<string, string> = {}
  for (const part of (text ?? '').split(',')) {
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(0, at)).trim()
    if (name) found[name] = tryDecode(part.slice(at + 1).trim())
  }
  return found
}

const tracesUrl = (base: string) => `${endpointUrl('OTEL_EXPORTER_OTLP_ENDPOINT', base).replace(/\/+$/, '')}/v1/traces`

function endpointUrl(name: string, text: string): string {
  const url = parseHttpUrl(name, text)
  if (url.username || url.password) {
    throw new Error(`${name} must not carry a user or password: use OTEL_EXPORTER_OTLP_HEADERS`)
  }
  return text
}

/** Collectors take JSON where they take protobuf, on the same port; gRPC has another. */
function refuseGrpc(env: Env): void {
  for (const name of ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL']) {
    if (env[name] === 'grpc') throw new Error(`${name} must be http/json: grpc is not spoken here`)
  }
}

function tryDecode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
