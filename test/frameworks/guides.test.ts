import { beforeAll, describe, expect, test } from 'vitest'
import { installNpmPackages, linkNpmPackages } from './npm-packages.ts'
import { type GuideOptions, REFUND_OUTPUT, runGuide } from './run-guide.ts'

beforeAll(installNpmPackages)

describe.each<Omit<GuideOptions, 'installPackages'>>([
  { guide: 'openai-agents-js', wire: 'responses' },
  { guide: 'openai-agents-js', wire: 'chat', isChanged: true },
])('the guide $guide, with a model of the $wire API', (options) => {
  test('does the refund desk with one approval, and the log shows it', async () => {
    const run = await runGuide({ ...options, installPackages: linkNpmPackages })
    expect(run.task).toMatchObject({ status: 'succeeded', output: REFUND_OUTPUT })
    console.log(
      run.dataOf('tool.called'),
      run.dataOf('tool.result'),
      run.ledger,
      run.approvals,
      run.requests.length,
      run.task,
      run.app.logged.slice(-10),
    )
  })
})
