import { beforeAll, describe, expect, test } from 'vitest'
import { installPythonPackages, linkPythonPackages } from './python-packages.ts'
import { type GuideOptions, REFUND_OUTPUT, runGuide } from './run-guide.ts'

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

  test.for(variants)('does the refund desk with one approval over the $wire API', async (variant, { skip }) => {
    if (missing !== null) skip(missing)
    const run = await runGuide({ guide, ...variant, installPackages: linkPythonPackages })
    expect(run.task).toMatchObject({ status: 'succeeded', output: REFUND_OUTPUT })
    expect(run.approvals).toMatchObject([{ action: 'book_refund', status: 'approved' }])
    expect(run.ledger).toMatchObject([{ key: 'A-1', value: { status: 'booked', amount_usd: 80 } }])
    const tools = ['workflow__check_eligibility', 'workflow__book_refund', 'records_put']
    expect(run.dataOf('tool.called')).toMatchObject([...tools, 'finish'].map((tool) => ({ tool })))
    expect(run.dataOf('tool.result')).toMatchObject(tools.map((tool) => ({ tool, ok: true })))
    expect(JSON.stringify([run.task, run.dataOf('tool.result'), run.app.logged])).not.toMatch(/sk-canary|svc_tsk_/)
  })
})
