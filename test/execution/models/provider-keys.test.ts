import { expect, test, vi } from 'vitest'
import { loadConfig } from '../../../src/platform/config/config.ts'
import { warnAboutMissingModelKeys } from '../../../src/execution/models/provider-keys.ts'
import { createSystemWorld } from '../../../src/platform/ctx/system-world.ts'

function warningsFor(env: Record<string, string>): unknown[] {
  const world = { ...createSystemWorld('silent'), env: (name: string) => env[name] }
  const warn = vi.spyOn(world.log, 'warn')
  warnAboutMissingModelKeys({ config: loadConfig(env), world })
  return warn.mock.calls.flat()
}

test('a missing key of a model provider is logged at start', () => {
  expect(warningsFor({ SVC_MODEL: 'anthropic/claude-x' })).toEqual([
    expect.stringMatching(/^ANTHROPIC_API_KEY is not set/),
  ])
  expect(warningsFor({ SVC_MODEL: 'openai/gpt-x' })).toEqual([expect.stringMatching(/^OPENAI_API_KEY is not set/)])
})

test.each([
  ['no model is set', {}],
  ['the key is set', { SVC_MODEL: 'anthropic/claude-x', ANTHROPIC_API_KEY: 'k' }],
  ['a custom base URL is set', { SVC_MODEL: 'openai/gpt-x', OPENAI_BASE_URL: 'http://127.0.0.1:1' }],
])('no warning is logged if %s', (_, env) => {
  expect(warningsFor(env)).toEqual([])
})
