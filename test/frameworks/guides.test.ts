import { beforeAll, describe, test } from 'vitest'
import { installNpmPackages, linkNpmPackages } from './npm-packages.ts'
import { expectRefund, type GuideOptions, runGuide } from './run-guide.ts'

beforeAll(installNpmPackages)

describe.each<Omit<GuideOptions, 'installPackages'>>([
  { guide: 'openai-agents-js', wire: 'responses' },
  { guide: 'openai-agents-js', wire: 'chat', isChanged: true },
  { guide: 'langgraph-js', wire: 'messages' },
  { guide: 'langgraph-js', wire: 'chat' },
  { guide: 'langgraph-js', wire: 'responses', isChanged: true },
  { guide: 'vercel-ai-sdk', wire: 'responses' },
  { guide: 'vercel-ai-sdk', wire: 'messages' },
  { guide: 'vercel-ai-sdk', wire: 'chat', isChanged: true },
])('the guide $guide, with a model of the $wire API', (options) => {
  test('does the refund desk with one approval, and the log shows it', async () => {
    expectRefund(await runGuide({ ...options, installPackages: linkNpmPackages }))
  })
})
