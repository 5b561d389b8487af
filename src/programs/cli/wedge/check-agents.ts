import {
  findAgentFolder,
  findHiddenProgram,
  findMissingFile,
} from '../../../platform/contract/wedge/declared-agents.ts'
import type { WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import { addError, addWarning, type WedgeInspection, type WedgeJsonFile } from './findings.ts'

/**
 * Checks the programs that the task types name. A program outside of what a sandbox shows is a warning, because the service
 * may run on another machine, or without a sandbox.
 */
export async function checkAgents(
  inspection: WedgeInspection,
  json: WedgeJsonFile,
  manifest: WedgeManifest,
  searchPath: string,
): Promise<void> {
  for (const [name, { harness }] of Object.entries(manifest.task_types)) {
    if (!harness.agent) continue
    const { dir, command } = harness.agent
    const lineOf = (key: 'dir' | 'command') => json.lineOf(['task_types', name, 'harness', 'agent', key])
    const folder = await findAgentFolder(inspection.dir, dir)
    if ('problem' in folder) {
      addError(inspection, json.file, lineOf('dir'), `${dir} ${folder.problem}`)
      continue
    }
    const missing = findMissingFile(folder.path, command)
    const hidden = missing ? null : findHiddenProgram(folder.path, command, searchPath)
    if (missing) addError(inspection, json.file, lineOf('command'), missing)
    if (hidden) addWarning(inspection, json.file, lineOf('command'), hidden)
  }
}
