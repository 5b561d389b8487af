import { tmpdir } from 'node:os'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCommandLine } from '../../../src/programs/cli/cli.ts'
import type { ServerCommands } from '../../../src/programs/cli/shell/command.ts'
import type { TerminalStreams } from '../../../src/programs/cli/shell/terminal.ts'
import { ROOT } from '../../docs/pages.ts'
import { commandEnv, parseJsonLines, PROGRAM, type SvcOptions, type SvcResult } from './run-svc.ts'

/**
 * Runs a command of the sources in this process, because a process costs more than most commands. `runSvc` is for what needs
 * one: a signal, the end of the process, a file `.env`, the whole of stdin or stdout, and the commands of the server.
 */
export async function callSvc(
  args: string[],
  { url, env = {}, stdin = '', cwd = tmpdir() }: SvcOptions = {},
): Promise<SvcResult> {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()]
  if (stdin !== null) input.end(stdin)
  const printed = Promise.all([text(output), text(errors)])
  const code = await inFolder(cwd, () =>
    runCommandLine({
      args,
      env: commandEnv(url, env),
      streams: { stdin: input, stdout: output, stderr: errors } as unknown as TerminalStreams,
      programPath: PROGRAM,
      packageRoot: ROOT,
      server: NO_SERVER,
    }),
  )
  output.end()
  errors.end()
  const [stdout, stderr] = await printed
  return { code, stdout, stderr, lines: parseJsonLines(stdout) }
}

const needsProcess = () => {
  throw new Error('a command of the server needs runSvc')
}
const NO_SERVER: ServerCommands = {
  serve: needsProcess,
  rotateVault: needsProcess,
  adoptChains: needsProcess,
  backupSqlite: needsProcess,
  trySandbox: needsProcess,
}

const workerFolder = process.cwd()
let runningCommands = 0
let commandFolder = ''

/** Commands that run at the same time share the current folder of the process. */
async function inFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  if (runningCommands > 0 && folder !== commandFolder) throw new Error('another command runs in another folder')
  commandFolder = folder
  process.chdir(folder)
  runningCommands++
  try {
    return await work()
  } finally {
    if (--runningCommands === 0) process.chdir(workerFolder)
  }
}
