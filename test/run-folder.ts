import { existsSync, mkdirSync, renameSync, writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A temporary folder that all processes of one test run share; `global-setup.ts` creates and removes it. */
export const RUN_FOLDER_VARIABLE = 'SVC_TEST_RUN_FOLDER'

const MAX_WAIT_MS = 300_000
const POLL_MS = 100

/**
 * Does slow work once for all test files of a run: `work` writes files into a folder of its own and returns a JSON value. The
 * process that creates the folder does the work, and the others wait for its result.
 */
export function doOncePerRun<Value>(name: string, work: (folder: string) => Value): { folder: string; value: Value } {
  const folder = join(process.env[RUN_FOLDER_VARIABLE] ?? '', name)
  const result = join(folder, 'result.json')
  if (tryCreate(folder)) {
    writeFileSync(`${result}.next`, JSON.stringify(work(folder)))
    renameSync(`${result}.next`, result)
  }
  const deadline = Date.now() + MAX_WAIT_MS
  const sleeper = new Int32Array(new SharedArrayBuffer(4))
  while (!existsSync(result)) {
    if (Date.now() > deadline) throw new Error(`${name} was not done by the process that began it`)
    Atomics.wait(sleeper, 0, 0, POLL_MS)
  }
  return { folder, value: JSON.parse(readFileSync(result, 'utf8')) }
}

function tryCreate(folder: string): boolean {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
