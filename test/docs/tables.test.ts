import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { EXIT_CODE_MEANINGS } from '../../src/cli/shell/failure.ts'
import { WEBHOOK_EVENTS } from '../../src/events/webhook-events.ts'
import { MCP_TOOLS } from '../../src/mcp/tools.ts'
import { TOOL_NAMES } from '../../src/contract/tool-names.ts'
import { page, pages, ROOT } from './pages.ts'

const source = (path: string): string => readFileSync(join(ROOT, 'src', path), 'utf8')

/** The first column of the tables below a heading, without its marks. */
function rowsBelow(path: string, heading: string): string[] {
  const [, section = ''] = page(path).split(`\n## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/^\| `([^`]+)`/gm)].map(([, word = '']) => word)
}

test('the page on events lists the types that exist', () => {
  const [, table = ''] = /interface EventData \{([\s\S]*?)\n\}/.exec(source('events/event-types.ts')) ?? []
  const types = [...table.matchAll(/^ {2}'?([a-z.]+)'?: \{/gm)].map(([, type]) => type)
  expect(types).toHaveLength(13)
  expect(rowsBelow('docs/events.md', 'The thirteen types')).toEqual(types)
})

test('the page on webhooks lists the notices that exist', () => {
  expect(rowsBelow('docs/webhooks.md', 'Notices')).toEqual([...WEBHOOK_EVENTS])
})

test('the page on MCP lists the tools that exist, with their roles', () => {
  const rows = [...page('docs/mcp.md').matchAll(/^\| `(\w+)` \| (\w+) \|/gm)].map(([, name, role]) => ({ name, role }))
  expect(rows).toEqual(MCP_TOOLS.map(({ definition: described, role }) => ({ name: described.name, role })))
})

test('the page on the command line lists the commands and exit codes that exist', () => {
  const shown = [...page('docs/command-line.md').matchAll(/^\| `([a-z][^`]*)` \|/gm)].map(([, usage = '']) => usage)
  expect(shown.map((usage) => usage.replaceAll('\\|', '|'))).toEqual(
    COMMANDS.map(({ name, usage }) => `${name} ${usage}`.trim()),
  )
  const codes = [...page('docs/command-line.md').matchAll(/^\| `(\d+)` \| (.+) \|$/gm)]
  expect(codes.map(([, code, words]) => [Number(code), words])).toEqual(EXIT_CODE_MEANINGS)
})

test('the page on wedges lists the tools that a model can call', () => {
  const shown = rowsBelow('docs/making-a-wedge.md', '5. What the agent can call')
  expect(shown).toEqual([...TOOL_NAMES])
})

test('the agent protocol shows every route of the sandbox plane', () => {
  const routes = [...source('runs/sandbox-routes.ts').matchAll(/sandboxRoute\('([A-Z]+)', '(\/v1\/internal[^']*)'/g)]
  expect(routes.length).toBeGreaterThan(10)
  const shown = rowsBelow('docs/agent-protocol.md', 'The sandbox plane').map((call) => call.replace(/\?.*/, ''))
  const isShown = (method = '', path = '') => {
    const pattern = new RegExp(`^${method} ${path.replace(/:\w+/g, '[^/]+').replace('*', '.+')}$`)
    return shown.some((call) => pattern.test(call))
  }
  expect(routes.filter(([, method, path]) => !isShown(method, path)).map(([all]) => all)).toEqual([])
})

test('every JSON on the pages is JSON', () => {
  for (const path of pages()) {
    for (const [, json = ''] of page(path).matchAll(/^```json\n([\s\S]*?)^```$/gm)) {
      expect(() => JSON.parse(json), `${path}: ${json.slice(0, 80)}`).not.toThrow()
    }
  }
})
