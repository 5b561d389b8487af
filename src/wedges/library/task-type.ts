import { badRequest } from '../../platform/base/problem.ts'
import type { NamedText } from '../../platform/contract/agent-protocol.ts'
import type { SkillFolder } from '../../platform/contract/wedge/skill-folder.ts'
import type { TaskType, Wedge } from '../../platform/contract/wedge/wedge-manifest.ts'

/** Checks own properties only, so that a name such as `constructor` is not found by accident. */
export function findTaskType({ manifest }: Wedge, name: string): TaskType | undefined {
  return Object.hasOwn(manifest.task_types, name) ? manifest.task_types[name] : undefined
}

export function requireTaskType(wedge: Wedge, name: string): TaskType {
  const found = findTaskType(wedge, name)
  if (!found) throw badRequest(`unknown task type '${name.slice(0, 100)}' of wedge '${wedge.slug}'`)
  return found
}

/** The task type's own skills in their order, or else those of the wedge. */
export function skillsForTaskType(wedge: Wedge, type: TaskType): NamedText[] {
  return pickByName(wedge.skills, type.harness.skills ?? wedge.manifest.skills)
}

export function skillFoldersForTaskType(wedge: Wedge, type: TaskType): SkillFolder[] {
  return pickByName(wedge.skillFolders, type.harness.skills ?? wedge.manifest.skills)
}

/** The knowledge files that the task type uses as instructions. */
export function instructionsForTaskType(wedge: Wedge, type: TaskType): NamedText[] {
  return pickByName(wedge.knowledge, instructionFileNames(type))
}

/** The wedge's knowledge files without those that the task type already has as instructions. */
export function authoredKnowledgeForTaskType(wedge: Wedge, type: TaskType): NamedText[] {
  const instructions = instructionFileNames(type)
  return pickByName(wedge.knowledge, wedge.manifest.knowledge).filter(({ name }) => !instructions.includes(name))
}

/** Instructions are paths of knowledge files: `knowledge/tone.md` and `tone.md` mean the same file. */
export function instructionFileNames(type: TaskType): string[] {
  return (type.harness.instructions ?? []).map((path) => path.replace(/^(\.\/)?(knowledge\/)?/, ''))
}

function pickByName<Named extends { name: string }>(all: Named[], names: string[] | undefined): Named[] {
  if (!names) return all
  return names.flatMap((name) => all.find((one) => one.name === name) ?? [])
}
