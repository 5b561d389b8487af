import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import type { TestApp } from '../../app.ts'
import type { ApiResponse } from '../../http.ts'

export interface ShownForm {
  message: string
  // Tests assert the schema instead of typing it.
  requestedSchema: { properties: Record<string, object>; required?: string[] | undefined }
}

export type PersonAnswer =
  | { action: 'accept'; content: Record<string, string | number | boolean> }
  | { action: 'decline' }

/** The protocol revisions that the service supports, and how a client is told to use one. */
export const REVISIONS = [
  ['2026-07-28', { mode: { pin: '2026-07-28' } }],
  ['2025-11-25', { mode: 'legacy' }],
] as const

interface SdkClientOptions {
  key?: string
  revision?: (typeof REVISIONS)[number][1]
  /** Without it, the client does not offer forms. */
  answer?: (form: ShownForm) => Promise<PersonAnswer> | PersonAnswer
  /** The replica that gets the answers to forms, as a load balancer may choose. */
  answersTo?: string
}

/** The MCP client library as a judge: it checks every message against its schemas, and results against output schemas. */
export async function sdkClient(
  app: TestApp,
  { key = app.key, revision = { mode: 'legacy' }, answer, answersTo = app.url }: SdkClientOptions = {},
) {
  const forms: ShownForm[] = []
  const client = new Client(
    { name: 'judge', version: '1' },
    { capabilities: answer ? { elicitation: { form: {} } } : {}, versionNegotiation: revision },
  )
  if (answer)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      const form = params as ShownForm
      forms.push(form)
      return answer(form)
    })
  const headers = { authorization: `Bearer ${key}` }
  const transport = new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), {
    requestInit: { headers },
    fetch: (url, init) => fetch(isAnswer(init?.body) ? `${answersTo}/mcp` : url, init),
  })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return {
    client,
    transport,
    forms,
    tool: async (name: string, args: Record<string, unknown> = {}) => {
      const result = await client.callTool({ name, arguments: args })
      return result as { isError?: boolean; content: { text: string }[]; structuredContent: ApiResponse['body'] }
    },
  }
}

const isAnswer = (body: unknown) => typeof body === 'string' && 'result' in (JSON.parse(body) as object)
