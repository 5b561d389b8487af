import { beforeAll, describe, test } from 'vitest'
import { installPythonPackages, linkPythonPackages } from './python-packages.ts'
import { expectRefund, type GuideOptions, runGuide } from './run-guide.ts'

type Variant = Omit<GuideOptions, 'guide' | 'installPackages'>

describe.each<[string, Variant[]]>([
  ['python', [{ wire: 'chat' }]],
  ['openai-python', [{ wire: 'responses' }]],
  ['anthropic-python', [{ wire: 'messages' }]],
  ['openai-agents-python', [{ wire: 'responses' }, { wire: 'chat', isChanged: true }]],
  ['langgraph-python', [{ wire: 'responses' }, { wire: 'chat', isChanged: true }]],
])('the guide %s', (guide, variants) => {
  let missing: string | null = null
  beforeAll(async () => {
    missing = await installPythonPackages(guide)
  })

  test.for(variants)(
    'does the refund desk with one approval, by the API $wire, and the log shows it',
    async (variant, { skip }) => {
      if (missing !== null) skip(missing)
      expectRefund(await runGuide({ guide, ...variant, installPackages: linkPythonPackages }))
    },
  )
})
