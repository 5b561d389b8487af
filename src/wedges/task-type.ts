import { badRequest } from '../base/problem.ts'
import type { NamedText } from '../contract/agent-protocol.ts'
import type { TaskType, Wedge } from '../contract/wedge-manifest.ts'

/** A task type by its name; names such as `constructor` are found only when the wedge declares them. */
export function findTaskType({ manifest }: Wedge, name: string): TaskType | undefined {
  return Object.hasOwn(manifest.task_types, name) ? manifest.task_types[name] : undefined
}

export function requireTaskType(wedge: Wedge, name: string): TaskType {
  const found = findTaskType(wedge, name)
  if (!found) throw badRequest(`unknown task type '${name.slice(0, 100)}' of wedge '${wedge.slug}'`)
  return found
}

/** The type's own skills in its order, else those of the wedge. */
export function skillsForTaskType(wedge: Wedge, type: TaskType): NamedText[] {
  return pickByName(wedge.skills, type.harness.skills ?? wedge.manifest.skills)
}

/** The knowledge files that this type follows as instructions. */
export function instructionsForTaskType(wedge: Wedge, type: TaskType): NamedText[] {
  return pickByName(wedge.knowledge, instructionFileNames(type))
}

/** The knowledge that the author gives to this type; what it has as instructions is not given twice. */
export function authoredKnowledgeForTaskType(wedge: Wedge, type: TaskType): NamedText[] {
  const instructions = instructionFileNames(type)
  return pickByName(wedge.knowledge, wedge.manifest.knowledge).filter(({ name }) => !instructions.includes(name))
}

/** Instructions are paths of knowledge files; `knowledge/tone.md` and `tone.md` are the same file. */
export function instructionFileNames(type: TaskType): string[] {
  return (type.harness.instructions ?? []).map((path) => path.replace(/^(\.\/)?(knowledge\/)?/, ''))
}

function pickByName(texts: NamedText[], names: string[] | undefined): NamedText[] {
  if (!names) return texts
  return names.flatMap((name) => texts.find((text) => text.name === name) ?? [])
}
