import { describe, test } from 'vitest'
import { LARGE_GUIDES, NPM_GUIDES } from './guide-list.ts'
import { expectRefund, linkFolders, runGuide } from './run-guide.ts'

/** Not part of `npm test`: `scripts/release-guides.mjs` installs the packages, and says in which folder those of a guide are. */
const folders: Record<string, string> = JSON.parse(process.env['GUIDE_FOLDERS'] ?? '{}')
const variants = [...NPM_GUIDES, ...LARGE_GUIDES].filter(({ guide }) => guide in folders)

describe.each(variants)('the guide $guide, with a model of the $wire API', (options) => {
  test('does the refund desk with one approval, and the log shows it', async () => {
    const installPackages = (agentFolder: string) =>
      linkFolders(folders[options.guide] ?? '', ['node_modules'], agentFolder)
    expectRefund(await runGuide({ ...options, installPackages }))
  })
})
