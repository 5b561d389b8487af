import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXAMPLE_MODELS } from '../../../src/platform/contract/example-models.ts'
import { priceOfModel } from '../../../src/execution/models/model-prices.ts'
import { page, ROOT } from '../../docs/pages.ts'
import { SDK_ROOT } from '../../sdk-packages.ts'

const EXAMPLES: string[] = Object.values(EXAMPLE_MODELS)

test.each(['messages', 'beta/messages'])(
  '%s: no example model is one that the library of Anthropic calls deprecated',
  (name) => {
    const file = join(SDK_ROOT, `node_modules/@anthropic-ai/sdk/resources/${name}/messages.mjs`)
    const [, list = ''] = /const DEPRECATED_MODELS = \{([^}]*)\}/.exec(readFileSync(file, 'utf8')) ?? []
    const deprecated = [...list.matchAll(/'([^']+)':/g)].map(([, model]) => model)
    expect(deprecated).not.toEqual([])
    expect(deprecated.filter((model) => EXAMPLES.includes(model ?? ''))).toEqual([])
  },
)

test('the documentation, the examples, the console and svc init name no other model', () => {
  const folders = [
    'docs',
    'wedges',
    'blueprints',
    'presets',
    'deploy',
    'console/src',
    'src/programs/cli',
    'clients/typescript',
    'clients/python',
  ]
  const files = ['README.md', ...folders.flatMap(filesIn)]
  const named = files.flatMap((file) => (page(file).match(MODEL_NAME) ?? []).map((model) => `${file}: ${model}`))
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((line) => !EXAMPLES.includes(line.split(': ')[1] ?? ''))).toEqual([])
})

const MODEL_NAME = /\b(?:claude-(?:opus|sonnet|haiku|fable|mythos)-\d|gpt-\d)[\w-]*(?:\.\d[\w-]*)?/g

const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(md|json|yaml|tsx?|mjs|py)$/.test(name) && !/node_modules|\bdist\b/.test(name))
    .map((name) => join(folder, name))

test.each(EXAMPLES)('%s has a list price', (name) => {
  const provider = name.startsWith('claude') ? 'anthropic' : 'openai'
  expect(priceOfModel({ provider, name }, {}).priced).toBe(true)
})
