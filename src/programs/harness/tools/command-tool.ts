import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { killProcessGroup, minimalEnvironment } from '../child-process.ts'
import { textField } from '../../../platform/base/json-fields.ts'
import { toolFailure, type ToolOutcome, type HarnessTool } from './tool.ts'

const MAX_OUTPUT_CHARS = 64 * 1024
const MAX_TIMEOUT_S = 600
const DEFAULT_TIMEOUT_S = 60

export const commandTool: HarnessTool = {
  name: 'run_command',
  description: 'Runs a shell command in the folder of this task. There is no network.',
  properties: { command: { type: 'string' }, timeout_s: { type: 'integer', description: 'At most 600; default 60.' } },
  required: ['command'],
  async run(run, input) {
    // Imported on first use, because most runs do not need it and a new cell should start fast.
    const { spawn } = await import('node:child_process')
    const requested = typeof input.timeout_s === 'number' ? input.timeout_s : DEFAULT_TIMEOUT_S
    const child = spawn('/bin/sh', ['-c', textField(input, 'command')], {
      cwd: run.folder,
      env: minimalEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own process group, so that background processes of the command are killed with it.
      detached: true,
    })
    return waitForCommand(child, run.plane.over.signal, Math.min(Math.max(requested, 1), MAX_TIMEOUT_S))
  },
}

type CommandProcess = ChildProcessByStdio<null, Readable, Readable>

function waitForCommand(child: CommandProcess, signal: AbortSignal, seconds: number): Promise<ToolOutcome> {
  return new Promise((resolve) => {
    const stdout = collectText(child.stdout)
    const stderr = collectText(child.stderr)
    const stop = () => killProcessGroup(child)
    const timer = setTimeout(stop, seconds * 1000)
    signal.addEventListener('abort', stop, { once: true })
    child.once('error', (error) => resolve(toolFailure(error.message)))
    child.once('exit', stop)
    child.once('close', (code, killed) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      const output = { exit_code: code, ...(killed && { signal: killed }), stdout: stdout.text, stderr: stderr.text }
      if (code === 0) resolve({ ok: true, output })
      else resolve({ ok: false, error: code === null ? `killed by ${killed}` : `exited with code ${code}`, output })
    })
  })
}

function collectText(stream: NodeJS.ReadableStream): { text: string } {
  const collected = { text: '' }
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    // Output beyond the limit is read and dropped, because the command would block on a full pipe.
    if (collected.text.length < MAX_OUTPUT_CHARS)
      collected.text += chunk.slice(0, MAX_OUTPUT_CHARS - collected.text.length)
  })
  return collected
}
