import { expect, test, vi } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { warnAboutMissingModelKeys } from '../../src/models/provider-keys.ts'
import { createSystemWorld } from '../../src/ctx/system-world.ts'

function warned(env: Record<string, string>): unknown[] {
  const world = { ...createSystemWorld('silent'), env: (name: string) => env[name] }
  const warn = vi.spyOn(world.log, 'warn')
  warnAboutMissingModelKeys({ config: loadConfig(env), world })
  return warn.mock.calls.flat()
}

test('a model whose provider has no key is told of at the start', () => {
  expect(warned({ SVC_MODEL: 'anthropic/claude-x' })).toEqual([expect.stringMatching(/^ANTHROPIC_API_KEY is not set/)])
  expect(warned({ SVC_MODEL: 'openai/gpt-x' })).toEqual([expect.stringMatching(/^OPENAI_API_KEY is not set/)])
})

test.each([
  ['there is no model', {}],
  ['the key is set', { SVC_MODEL: 'anthropic/claude-x', ANTHROPIC_API_KEY: 'k' }],
  ["somebody's own gateway is set", { SVC_MODEL: 'openai/gpt-x', OPENAI_BASE_URL: 'http://127.0.0.1:1' }],
])('nothing is told where %s', (_, env) => {
  expect(warned(env)).toEqual([])
})
