import type { NamedText } from '../../platform/contract/agent-protocol.ts'
import {
  isSkillFolder,
  listSkillFolders,
  readSkillFolder,
  SKILL_FILE_NAME,
  type SkillFolder,
} from '../../platform/contract/wedge/skill-folder.ts'
import { type FileProblem, problemText, type WedgeManifest } from '../../platform/contract/wedge/wedge-manifest.ts'
import { listPartFiles, loadWedgeText, WedgeFileError } from './wedge-files.ts'

interface Skills {
  skills: NamedText[]
  skillFolders: SkillFolder[]
  /** Folders that are left out. */
  problems: FileProblem[]
}

/** The skills that the manifest names, as files or as folders; all if it names none. */
export async function readSkills(dir: string, manifest: WedgeManifest): Promise<Skills> {
  const { names, problems } = manifest.skills ? { names: manifest.skills, problems: [] } : await listAllSkills(dir)
  const ofTypes = Object.values(manifest.task_types).flatMap(({ harness }) => harness.skills ?? [])
  const skills: NamedText[] = []
  const skillFolders: SkillFolder[] = []
  for (const name of new Set([...names, ...ofTypes])) {
    if (await isSkillFolder(dir, name)) skillFolders.push(await loadSkillFolder(dir, name))
    else skills.push({ name, content: await loadWedgeText(dir, 'skills', `${name}.md`) })
  }
  return { skills, skillFolders, problems }
}

async function listAllSkills(dir: string): Promise<{ names: string[]; problems: FileProblem[] }> {
  const files = (await listPartFiles(dir, 'skills')).filter((file) => file.endsWith('.md'))
  const folders = await listSkillFolders(dir)
  const problems = folders
    .filter(({ hasSkillFile }) => !hasSkillFile)
    .map(({ name }) => {
      const file = `skills/${name}`
      return { file, line: 1, message: `${file} has no file ${SKILL_FILE_NAME}, so it is not used` }
    })
  const usable = folders.filter(({ hasSkillFile }) => hasSkillFile).map(({ name }) => name)
  return { names: [...files.map((file) => file.slice(0, -'.md'.length)), ...usable], problems }
}

async function loadSkillFolder(dir: string, name: string): Promise<SkillFolder> {
  const read = await readSkillFolder(dir, name)
  if ('skill' in read) return read.skill
  throw new WedgeFileError(read.problems.map(problemText).join('; '), read.problems)
}
