import { test } from 'vitest'
import { expectRefund, linkFolders, runGuide } from './run-guide.ts'

/**
 * Not part of `npm test`: the package is large, and its licence does not allow to pass it on. `npm run
 * test:claude-agent-sdk` installs it outside of this folder and runs this file.
 */
const installed = process.env['CLAUDE_AGENT_SDK_FOLDER'] ?? ''

test('the guide claude-agent-sdk does the refund desk with one approval, and the log shows it', async () => {
  const installPackages = (agentFolder: string) => linkFolders(installed, ['node_modules'], agentFolder)
  expectRefund(await runGuide({ guide: 'claude-agent-sdk', wire: 'messages', installPackages }))
})
