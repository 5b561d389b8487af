import { posix } from 'node:path'
import {
  isSkillFolder,
  listSkillFolders,
  readSkillFolder,
  type SkillFolder,
} from '../../../platform/contract/wedge/skill-folder.ts'
import type { WedgeManifest } from '../../../platform/contract/wedge/wedge-manifest.ts'
import { addError, addWarning, type WedgeInspection } from './findings.ts'

/** Checks the skills that are folders: those that the manifest names, or all. */
export async function checkSkillFolders(inspection: WedgeInspection, manifest: WedgeManifest): Promise<void> {
  for (const name of await listNames(inspection, manifest)) {
    const read = await readSkillFolder(inspection.dir, name)
    if ('skill' in read) warnAboutLinks(inspection, read.skill)
    else for (const { file, line, message } of read.problems) addError(inspection, file, line, message)
  }
}

async function listNames(inspection: WedgeInspection, { skills, task_types }: WedgeManifest): Promise<Set<string>> {
  const ofTypes = Object.values(task_types).flatMap(({ harness }) => harness.skills ?? [])
  const named: string[] = []
  for (const name of [...(skills ?? []), ...ofTypes]) if (await isSkillFolder(inspection.dir, name)) named.push(name)
  if (skills) return new Set(named)
  const folders = await listSkillFolders(inspection.dir)
  for (const { name, hasSkillFile } of folders) {
    const message = `skills/${name} has no file SKILL.md, so it is not used`
    if (!hasSkillFile && !named.includes(name)) addWarning(inspection, `skills/${name}`, 1, message)
  }
  return new Set([...named, ...folders.filter(({ hasSkillFile }) => hasSkillFile).map(({ name }) => name)])
}

/** A link of Markdown to another place than a web page or a heading. */
const FILE_LINK = /\]\((?!\w+:|#|\/\/)([^()\s#]+)[^()]*\)/g

/** An agent can read only the files of the skill. A warning, because the text may quote a link as an example. */
function warnAboutLinks(inspection: WedgeInspection, { name, content, files }: SkillFolder): void {
  for (const [, link = ''] of content.matchAll(FILE_LINK)) {
    const path = posix.normalize(link)
    if (files.some((file) => file.path === path)) continue
    const isOutside = path.startsWith('..') || path.startsWith('/')
    const problem = isOutside ? 'which is outside of the skill' : 'which the skill does not contain'
    addWarning(inspection, `skills/${name}/SKILL.md`, 1, `SKILL.md links to ${link}, ${problem}`)
  }
}
