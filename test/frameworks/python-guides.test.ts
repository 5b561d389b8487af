import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { installPythonPackages, linkPythonPackages } from './python-packages.ts'
import { expectRefund, type GuideOptions, runGuide } from './run-guide.ts'
import { inMatrix, onlyInMatrix } from '../matrix.ts'

type Variant = Omit<GuideOptions, 'guide' | 'installPackages'>

const REPRESENTATIVE: [string, Variant[]][] = [['openai-agents-python', [{ wire: 'responses' }]]]
const GUIDES: [string, Variant[]][] = [
  ['python', [{ wire: 'chat' }]],
  ['openai-python', [{ wire: 'responses' }]],
  ['anthropic-python', [{ wire: 'messages' }]],
  ['openai-agents-python', [{ wire: 'responses' }, { wire: 'chat', isChanged: true }]],
  ['langgraph-python', [{ wire: 'responses' }, { wire: 'chat', isChanged: true }]],
]

describe.each(inMatrix(GUIDES, REPRESENTATIVE))('the guide %s', (guide, variants) => {
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

onlyInMatrix(() => {
  test('packages that cannot be installed are an error, except for guides whose packages may be missing', async () => {
    vi.stubEnv('PIP_NO_INDEX', '1')
    onTestFinished(() => void vi.unstubAllEnvs())
    const missing = 'agent-work-missing==1'
    expect(await installPythonPackages('langgraph-python', missing)).toMatch(
      /^pip cannot install agent-work-missing==1: /,
    )
    await expect(installPythonPackages('openai-python', missing)).rejects.toThrow('pip cannot install')
  })
})
