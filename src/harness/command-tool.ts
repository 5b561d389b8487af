import { spawn } from 'node:child_process'
import { killGroup, minimalEnvironment } from './child.ts'
import { textOf } from '../base/fields.ts'
import type { Run } from './run.ts'
import { failed, type Outcome, type Tool } from './tool.ts'

const LONGEST_OUTPUT = 64 * 1024
const LONGEST_WAIT_S = 600
const USUAL_WAIT_S = 60

export const commandTool: Tool = {
  name: 'run_command',
  description: 'Runs a shell command in the folder of this task. There is no network.',
  properties: { command: { type: 'string' }, timeout_s: { type: 'integer', description: 'At most 600; usually 60.' } },
  required: ['command'],
  run(run, input) {
    const asked = typeof input.timeout_s === 'number' ? input.timeout_s : USUAL_WAIT_S
    return runCommand(run, textOf(input, 'command'), Math.min(Math.max(asked, 1), LONGEST_WAIT_S))
  },
}

function runCommand(run: Run, command: string, seconds: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: run.folder,
      env: minimalEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own, so that what the command leaves behind dies with it.
      detached: true,
    })
    const stdout = gather(child.stdout)
    const stderr = gather(child.stderr)
    const stop = () => killGroup(child)
    const timer = setTimeout(stop, seconds * 1000)
    run.plane.signal.addEventListener('abort', stop, { once: true })
    child.once('error', (error) => resolve(failed(error.message)))
    child.once('exit', stop)
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      run.plane.signal.removeEventListener('abort', stop)
      const output = { exit_code: code, ...(signal && { signal }), stdout: stdout.text, stderr: stderr.text }
      if (code === 0) resolve({ ok: true, output })
      else resolve({ ok: false, error: code === null ? `killed by ${signal}` : `exited with code ${code}`, output })
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
