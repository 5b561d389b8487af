import type { GuideOptions } from './run-guide.ts'

export type GuideVariant = Omit<GuideOptions, 'installPackages'>

/** The guides whose packages are in the package.json of this folder. */
export const NPM_GUIDES: GuideVariant[] = [
  { guide: 'openai-agents-js', wire: 'responses' },
  { guide: 'openai-agents-js', wire: 'chat', isChanged: true },
  { guide: 'langgraph-js', wire: 'messages' },
  { guide: 'langgraph-js', wire: 'chat' },
  { guide: 'langgraph-js', wire: 'responses', isChanged: true },
  { guide: 'vercel-ai-sdk', wire: 'responses' },
  { guide: 'vercel-ai-sdk', wire: 'messages' },
  { guide: 'vercel-ai-sdk', wire: 'chat', isChanged: true },
  { guide: 'strands', wire: 'responses' },
  { guide: 'strands', wire: 'chat', isChanged: true },
  { guide: 'openai-js', wire: 'responses' },
  { guide: 'anthropic-js', wire: 'messages' },
]

/** A framework, and the library of each kind of provider: what `npm test` runs of them. */
export const REPRESENTATIVE_GUIDES: GuideVariant[] = [
  { guide: 'vercel-ai-sdk', wire: 'responses' },
  { guide: 'openai-js', wire: 'responses' },
  { guide: 'anthropic-js', wire: 'messages' },
]

/** The guides whose packages are too large for `npm test`; those of the Claude Agent SDK must not be passed on either. */
export const LARGE_GUIDES: GuideVariant[] = [
  { guide: 'claude-agent-sdk', wire: 'messages' },
  { guide: 'mastra', wire: 'responses' },
  { guide: 'mastra', wire: 'messages' },
]
