import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll } from 'vitest'
import { SDK_ROOT } from '../../sdk-packages.ts'
import { scriptedAgentFolder } from './scripted-agent.ts'

/**
 * A folder with a custom agent that runs the script of its task and has the libraries of OpenAI and Anthropic:
 * `const { openai, anthropic, fetch } = require('./sdks.cjs').connect(brief)`. They reach the service over its socket.
 */
export function sdkAgentFolder(): ReturnType<typeof scriptedAgentFolder> {
  const settings = scriptedAgentFolder()
  beforeAll(async () => {
    await build({
      stdin: { contents: SDKS, resolveDir: SDK_ROOT },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outfile: join(settings.SVC_AGENT_DIR, 'sdks.cjs'),
      logLevel: 'error',
    })
  })
  return settings
}

const SDKS = `
import http from 'node:http'
import { Readable } from 'node:stream'
import OpenAI from 'openai'
import Anthropic from '@anthropic-ai/sdk'

export function connect({ service }) {
  const fetch = (url, init) => fetchOverSocket(service.socket, new URL(url), init)
  const base = service.base_url + '/v1/internal/llm'
  const apiKey = service.task_token
  return {
    fetch,
    openai: new OpenAI({ apiKey, baseURL: base + '/openai/v1', fetch }),
    anthropic: new Anthropic({ apiKey, baseURL: base + '/anthropic', fetch }),
  }
}

function fetchOverSocket(socketPath, { pathname, search }, { method = 'GET', headers, body }) {
  return new Promise((resolve, reject) => {
    const options = { socketPath, method, path: pathname + search, headers: Object.fromEntries(new Headers(headers)) }
    const request = http.request(options, (response) => {
      resolve(new Response(Readable.toWeb(response), { status: response.statusCode, headers: response.headers }))
    })
    request.on('error', reject)
    request.end(body)
  })
}
`
