import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'
import { killGroup, minimalEnvironment } from './child.ts'
import { textOf } from '../base/fields.ts'
import { failed, type Outcome, type Tool } from './tool.ts'

const LONGEST_OUTPUT = 64 * 1024
const LONGEST_WAIT_S = 600
const USUAL_WAIT_S = 60

export const commandTool: Tool = {
  name: 'run_command',
  description: 'Runs a shell command in the folder of this task. There is no network.',
  properties: { command: { type: 'string' }, timeout_s: { type: 'integer', description: 'At most 600; usually 60.' } },
  required: ['command'],
  async run(run, input) {
    // Loaded by the few runs that need it: a fresh cell should start fast.
    const { spawn } = await import('node:child_process')
    const asked = typeof input.timeout_s === 'number' ? input.timeout_s : USUAL_WAIT_S
    const child = spawn('/bin/sh', ['-c', textOf(input, 'command')], {
      cwd: run.folder,
      env: minimalEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that what the command leaves behind dies with it.
      detached: true,
    })
    return endOf(child, run.plane.over.signal, Math.min(Math.max(asked, 1), LONGEST_WAIT_S))
  },
}

type Command = ChildProcessByStdio<null, Readable, Readable>

function endOf(child: Command, signal: AbortSignal, seconds: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const stdout = gather(child.stdout)
    const stderr = gather(child.stderr)
    const stop = () => killGroup(child)
    const timer = setTimeout(stop, seconds * 1000)
    signal.addEventListener('abort', stop, { once: true })
    child.once('error', (error) => resolve(failed(error.message)))
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

function gather(stream: NodeJS.ReadableStream): { text: string } {
  const gathered = { text: '' }
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    // Read on without keeping it, or the command would block on a full pipe.
    if (gathered.text.length < LONGEST_OUTPUT) gathered.text += chunk.slice(0, LONGEST_OUTPUT - gathered.text.length)
  })
  return gathered
}
