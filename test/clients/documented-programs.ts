import { expect } from 'vitest'
import { runSvc } from '../programs/cli/run-svc.ts'
import { blocks, page, ROOT } from '../docs/pages.ts'

export const CLIENT_GUIDE = 'docs/clients.md'

const DOCUMENTED_URL = 'http://127.0.0.1:8787'

/** The code of a page for a language, by the program that it belongs to. Blocks for callers continue each other. */
export function documentedPrograms(path: string, language: 'ts' | 'python') {
  const all = blocks(page(path), language)
  const isSandbox = (code: string) => /openSandbox\(|openSandbox<|Sandbox\(\)/.test(code)
  const isWebhook = (code: string) => /function receiveWebhook|def receive_webhook/.test(code)
  const callers = all.filter((code) => !isSandbox(code) && !isWebhook(code))
  return {
    caller: (url: string) => callers.join('\n').replaceAll(DOCUMENTED_URL, url),
    sandbox: all.find(isSandbox) ?? '',
    webhook: all.find(isWebhook) ?? '',
  }
}

/** The types that the documented programs import. */
export async function refundDeskTypes(language: 'typescript' | 'python'): Promise<string> {
  const { code, stdout } = await runSvc(['wedge', 'types', 'refund-desk', '--language', language], { cwd: ROOT })
  expect(code).toBe(0)
  return stdout
}
