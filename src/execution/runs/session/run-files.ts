import { createWriteStream } from 'node:fs'
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { BriefFile } from '../../../platform/contract/agent-protocol.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import type { FileUser } from '../../../work/files/payload-files.ts'
import { readFile } from '../../../work/files/storage.ts'
import { findFile, listTaskFiles, listThreadFiles } from '../../../work/files/rows.ts'
import type { FilesFolder } from '../../sandbox/files-folder.ts'
import type { Db } from '../../../platform/store/store.ts'
import type { FileRow, TaskRow } from '../../../platform/store/tables.ts'
import { skillFoldersForTaskType } from '../../../wedges/library/task-type.ts'
import type { AgentCell } from '../cells/agent-cell.ts'
import type { RunFacts } from './run-facts.ts'

const MAX_RUN_FILES = 40
/** All files of a run are copied to the disk of the machine. Those of the task itself always are. */
const MAX_THREAD_FILE_BYTES = 100 * 1024 * 1024

/** The files that a run may read: those of its task, then the newest of its thread. */
export async function listRunFiles(db: Db, { id, thread_id }: TaskRow): Promise<FileRow[]> {
  const ofTask = await listTaskFiles(db, id)
  if (thread_id === null) return ofTask
  const ofThread = await listThreadFiles(db, { thread_id, limit: MAX_RUN_FILES })
  const known = new Set(ofTask.map((file) => file.id))
  const newest = newestThatFit(ofThread.filter((file) => !known.has(file.id)))
  return [...ofTask, ...newest].slice(0, MAX_RUN_FILES)
}

function newestThatFit(newestFirst: FileRow[]): FileRow[] {
  let left = MAX_THREAD_FILE_BYTES
  return newestFirst.filter(({ size }) => {
    left -= size
    return left >= 0
  })
}

/** An agent may send the files of its run, those that it made itself, and those of the team. */
export const fileUserOf = ({ projectId, task, files }: RunFacts): FileUser => ({
  projectId,
  clientId: task.client_id,
  mayUse: ({ id, client_id, created_by }) =>
    client_id === null || files.some((file) => file.id === id) || JSON.parse(created_by).id === task.id,
})

/** Writes the files of the run where its agent can read them. A file that was deleted meanwhile is left out. */
export async function writeRunFiles(ctx: Ctx, run: RunFacts, cell: AgentCell): Promise<BriefFile[]> {
  const folder = folderOf(run, cell)
  if (run.files.length === 0 || folder === null) return []
  await mkdir(folder.host, { recursive: true })
  await chmod(folder.host, 0o755)
  const names = new Set([SKILLS_FOLDER])
  const written: BriefFile[] = []
  for (const file of run.files) {
    const name = unusedName(file.name, names)
    if (!(await writeRunFile(ctx, file, join(folder.host, name)))) continue
    const { id, content_type, size } = file
    written.push({ id, name: file.name, content_type, size, path: `${folder.inside}/${name}` })
  }
  return written
}

/** The folder of the skills in the cell, beside the files of the task. */
const SKILLS_FOLDER = 'skills'

/**
 * Writes the skills of the run where its programs can read them, and returns the folder as the cell sees it. Null: there are
 * none, or the cell runs no programs, and then the agent reads them over the sandbox plane.
 */
export async function writeRunSkills({ wedge, type }: RunFacts, { kind, files }: AgentCell): Promise<string | null> {
  const skills = skillFoldersForTaskType(wedge, type)
  if (skills.length === 0 || files === null || kind === 'harness') return null
  const ofSkills = skills.flatMap((skill) =>
    skill.files.map((file) => ({ ...file, path: `${SKILLS_FOLDER}/${skill.name}/${file.path}` })),
  )
  for (const folder of foldersAbove(ofSkills.map(({ path }) => path))) {
    await mkdir(join(files.host, folder), { recursive: true })
    // The umask of the service may hide a new folder from the user of the cell.
    await chmod(join(files.host, folder), 0o755)
  }
  for (const { path, bytes, isExecutable } of ofSkills) {
    await writeFile(join(files.host, path), bytes)
    await chmod(join(files.host, path), isExecutable ? 0o555 : 0o444)
  }
  return `${files.inside}/${SKILLS_FOLDER}`
}

/** The folders of these paths, each after the folder that contains it. */
function foldersAbove(paths: string[]): Set<string> {
  const folders = paths.flatMap((path) => {
    const parts = dirname(path).split('/')
    return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  })
  return new Set(folders)
}

/** A cell that several runs share keeps the files of each apart, and outlives them. */
export async function removeRunFiles(run: RunFacts, cell: AgentCell): Promise<void> {
  const folder = folderOf(run, cell)
  if (folder && run.files.length > 0) await rm(folder.host, { recursive: true, force: true })
}

function folderOf({ cellRunId }: RunFacts, { kind, files }: AgentCell): FilesFolder | null {
  if (files === null || kind !== 'harness') return files
  return { host: join(files.host, cellRunId), inside: `${files.inside}/${cellRunId}` }
}

/** False if the file does not exist any more. */
async function writeRunFile(ctx: Ctx, file: FileRow, path: string): Promise<boolean> {
  try {
    await pipeline(readFile(ctx, file), createWriteStream(path))
    await chmod(path, 0o444)
    return true
  } catch (error) {
    if (await findFile(ctx.db, [file.project_id], file.id)) throw error
    await rm(path, { force: true })
    return false
  }
}

/** `report.pdf`, then `report (2).pdf`. Upper and lower case count as equal, as on some disks. */
function unusedName(name: string, used: Set<string>): string {
  const { name: stem, ext } = parse(name)
  let unused = name
  for (let n = 2; used.has(unused.toLowerCase()); n++) unused = `${stem} (${n})${ext}`
  used.add(unused.toLowerCase())
  return unused
}
