import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { COMMANDS } from '../../src/programs/cli/commands.ts'
import { EXIT_CODE_MEANINGS } from '../../src/programs/cli/shell/failure.ts'
import { loadConfig } from '../../src/platform/config/config.ts'
import { SECRET_SETTINGS } from '../../src/platform/contract/settings.ts'
import { EVENT_DATA } from '../../src/work/events/event-types.ts'
import { WEBHOOK_EVENTS } from '../../src/work/events/webhook-events.ts'
import { PROVIDER_FORMATS } from '../../src/platform/contract/providers/provider-formats.ts'
import { agentMcpRoutes } from '../../src/server/mcp/agent-routes.ts'
import { MCP_TOOLS } from '../../src/server/mcp/call-tool.ts'
import { sandboxPlaneRoutes } from '../../src/server/planes/sandbox-plane.ts'
import { refusedReads } from '../../src/execution/runs/requests/sandbox-routes.ts'
import { TOOL_NAMES } from '../../src/platform/contract/tool-names.ts'
import { page, pages, ROOT } from './pages.ts'

const source = (path: string): string => readFileSync(join(ROOT, 'src', path), 'utf8')

/** The first code span of each table row in a section. */
function firstColumn(path: string, heading: string): string[] {
  const [, rest = ''] = page(path).split(`\n## ${heading}\n`)
  const [section = ''] = rest.split('\n## ')
  return [...section.matchAll(/^\| `([^`]+)`/gm)].map(([, code = '']) => code)
}

test('docs/events.md lists every event type', () => {
  const types = Object.keys(EVENT_DATA)
  expect(types).toHaveLength(13)
  expect(firstColumn('docs/events.md', 'Event types')).toEqual(types)
})

test('docs/webhooks.md lists every webhook event', () => {
  expect(firstColumn('docs/webhooks.md', 'Event types')).toEqual([...WEBHOOK_EVENTS])
})

test('docs/mcp.md lists every MCP tool with its role', () => {
  const rows = [...page('docs/mcp.md').matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, role]) => ({ name, role }))
  expect(rows).toEqual(MCP_TOOLS.map(({ definition, role }) => ({ name: definition.name, role })))
})

test('docs/command-line.md lists every command and exit code', () => {
  const documented = [...page('docs/command-line.md').matchAll(/^\| `([a-z][^`]*)` \|/gm)].map(
    ([, usage = '']) => usage,
  )
  expect(documented.map((usage) => usage.replaceAll('\\|', '|'))).toEqual(
    COMMANDS.map(({ name, usage }) => `${name} ${usage}`.trim()),
  )
  const codes = [...page('docs/command-line.md').matchAll(/^\| `(\d+)` \| (.+) \|$/gm)]
  expect(codes.map(([, code, meaning]) => [Number(code), meaning])).toEqual(EXIT_CODE_MEANINGS)
})

test('docs/making-a-wedge.md lists every tool that a model can call', () => {
  expect(firstColumn('docs/making-a-wedge.md', '5. What the agent can call')).toEqual([...TOOL_NAMES])
})

describe('the sandbox plane in docs/agent-protocol.md', () => {
  // The handlers are not called.
  const routes = [...sandboxPlaneRoutes({} as never), ...Object.values(agentMcpRoutes({} as never, ''))].filter(
    (route) => !refusedReads.includes(route),
  )
  const heading = 'The sandbox plane'
  const [, section = ''] = page('docs/agent-protocol.md').split(`\n## ${heading}\n`)

  test('lists every route', () => {
    expect(routes.length).toBeGreaterThan(15)
    const documented = firstColumn('docs/agent-protocol.md', heading).map((call) => call.replace(/\?.*/, ''))
    const isDocumented = ({ method, path }: { method: string; path: string }) => {
      const pattern = new RegExp(`^${method} ${path.replace(/:\w+/g, '[^/]+').replace('*', '.+')}$`)
      return documented.some((call) => pattern.test(call))
    }
    expect(routes.filter((route) => !isDocumented(route)).map(({ method, path }) => `${method} ${path}`)).toEqual([])
    const known = routes.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, '[^/]+').replace('*', '.+')}`)
    const unknown = documented.filter((call) => !known.some((route) => new RegExp(`^${route}$`).test(call)))
    expect(unknown).toEqual([])
  })

  test('names every field of a request', () => {
    const fields = routes
      .filter(({ path }) => path !== '/v1/internal/mcp')
      .flatMap(({ query, body }) => [query, body])
      .flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []))
    expect(new Set(fields).size).toBeGreaterThan(12)
    const [table = ''] = section.split('\n## ')
    expect(fields.filter((field) => !new RegExp(`["\`?&]${field}["\`=]`).test(table))).toEqual([])
  })

  test('and every endpoint of the model proxy', () => {
    for (const { provider, paths } of Object.values(PROVIDER_FORMATS))
      for (const path of paths) expect(page('docs/models.md')).toContain(`\`${provider}/${path}\``)
  })
})

interface DocumentedSetting {
  name: string
  default: string
}

/** The settings in the tables of a page. One row may document several: `A`, `B` | `default of A`, `default of B`. */
function documentedSettings(path: string): DocumentedSetting[] {
  const rows = [...page(path).matchAll(/^\| (`[A-Z][^|]*) \| ([^|]+) \| .+ \|$/gm)]
  return rows.flatMap(([, names = '', defaults = '']) => {
    const values = defaults.split(', ').map((value) => value.replaceAll('`', ''))
    return [...names.matchAll(/`([^`]+)`/g)].map(([, name = ''], index) => ({
      name,
      default: values[index] ?? values[0] ?? '',
    }))
  })
}

test('docs/settings.md lists every setting that the code reads, and no other', () => {
  const sources = [
    'platform/config/config.ts',
    'platform/config/otlp-config.ts',
    'platform/config/s3-config.ts',
    'platform/contract/settings.ts',
  ]
  const names = sources.flatMap((path) => [
    ...source(path).matchAll(/\b(?:SVC|OTEL|ANTHROPIC|OPENAI|BROKER|DATABASE|AWS)_[A-Z][A-Z0-9_]*[A-Z]\b/g),
  ])
  const read = new Set(names.map(([name]) => name))
  // SVC_CALLED_AS is internal, only tests set SVC_LEASE_MS, and the service accepts only the default protocol of OpenTelemetry.
  for (const name of read) if (/^SVC_CALLED_AS$|^SVC_LEASE_MS$|_PROTOCOL$/.test(name)) read.delete(name)
  const documented = documentedSettings('docs/settings.md').map(({ name }) => name)
  expect(documented.filter((name) => name !== 'SVC_MODEL_<TIER>').toSorted()).toEqual([...read].toSorted())
})

test('docs/settings.md lists every setting that can be read from a file', () => {
  const [, section = ''] = page('docs/settings.md').split('\n## Secrets in files\n')
  const documented = [...section.matchAll(/`([A-Z_]+)_FILE`/g)].map(([, name = '']) => name)
  expect(documented.toSorted()).toEqual([...SECRET_SETTINGS].toSorted())
})

test('docs/settings.md shows the default of every setting', () => {
  const config: Record<string, unknown> = { ...loadConfig({}, '/') }
  for (const { name, default: value } of documentedSettings('docs/settings.md')) {
    const key = name
      .replace(/^SVC_/, '')
      .toLowerCase()
      .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    if (Object.hasOwn(config, key)) expect(`${name}: ${value}`).toBe(`${name}: ${defaultText(config[key])}`)
  }
})

function defaultText(value: unknown): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'unset'
  return String(value).replace(/^\//, '')
}

test('README.md repeats ten rows of docs/settings.md', () => {
  const all = new Map(documentedSettings('docs/settings.md').map((setting) => [setting.name, setting.default]))
  const [, section = ''] = page('README.md').split('\n## Settings\n')
  expect(section.split('\n## ')[0]?.match(/^\| `/gm)).toHaveLength(10)
  for (const { name, default: value } of documentedSettings('README.md'))
    expect(`${name}: ${value}`).toBe(`${name}: ${all.get(name)}`)
})

test('every JSON block in the documentation is valid JSON', () => {
  for (const path of pages()) {
    for (const [, json = ''] of page(path).matchAll(/^```json\n([\s\S]*?)^```$/gm)) {
      expect(() => JSON.parse(json), `${path}: ${json.slice(0, 80)}`).not.toThrow()
    }
  }
})
