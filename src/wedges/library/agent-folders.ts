import { findAgentFolder, findMissingFile } from '../../platform/contract/wedge/declared-agents.ts'
import type { WedgeAgentFolder, WedgeManifest } from '../../platform/contract/wedge/wedge-manifest.ts'
import { digestFolder, isNotOwnSource, MAX_HASHED_BYTES, MAX_HASHED_FILES } from './digest-folder.ts'
import { wedgeFileError } from './wedge-files.ts'

/** The folders of the agents that the task types name, by their path in the manifest. */
export async function readAgentFolders(
  dir: string,
  { task_types }: WedgeManifest,
): Promise<Record<string, WedgeAgentFolder>> {
  const folders: Record<string, WedgeAgentFolder> = {}
  for (const { harness } of Object.values(task_types)) {
    if (!harness.agent) continue
    const { dir: name, command } = harness.agent
    const folder = (folders[name] ??= await readAgentFolder(dir, name))
    const missing = findMissingFile(folder.path, command)
    if (missing) throw wedgeFileError(name, `cannot be started with '${command}': ${missing}`)
  }
  return folders
}

async function readAgentFolder(dir: string, name: string): Promise<WedgeAgentFolder> {
  const found = await findAgentFolder(dir, name)
  if ('problem' in found) throw wedgeFileError(name, found.problem)
  const digest = await digestFolder(found.path, isNotOwnSource)
  if (digest !== null) return { path: found.path, digest }
  const limits = `${MAX_HASHED_FILES.toLocaleString('en')} files or ${MAX_HASHED_BYTES / 1024 / 1024} MB`
  throw wedgeFileError(name, `has more than ${limits} besides node_modules and virtual environments`)
}
