import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pythonWithHttpx } from '../../scripts/machine.mjs'

export const PYTHON_CLIENT_FOLDER = fileURLToPath(new URL('../../clients/python', import.meta.url))

export interface PythonResult {
  /** The JSON lines that the program printed. */
  // oxlint-disable-next-line typescript/no-explicit-any
  lines: any[]
  /** The exception that ended the program. */
  error: { name: string; message: string } | null
}

export const PYTHON = pythonWithHttpx() ?? 'python3'

/** The program sees the names of the client, and the JSON value `given`. */
const PRELUDE = `
import json, sys
from agent_work_service_client import *
given = json.loads(sys.argv[1])
def show(value): print(json.dumps(value), flush=True)
`

/** Runs a Python program that uses the client. */
export async function runPython(
  code: string,
  given: unknown = {},
  env: Record<string, string> = {},
): Promise<PythonResult> {
  const child = spawn(PYTHON, ['-X', 'dev', '-W', 'error', '-c', PRELUDE + code, JSON.stringify(given)], {
    env: { PYTHONPATH: PYTHON_CLIENT_FOLDER, PYTHONDONTWRITEBYTECODE: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const status = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return {
    lines: stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)])),
    error: readError(status, stderr),
  }
}

function readError(status: number | null, stderr: string): PythonResult['error'] {
  if (status === 0) return null
  const found = /^agent_work_service_client\.(\w+): (.*)$/m.exec(stderr)
  // Anything else than an error of the client is a mistake in the test or in the client.
  if (!found) throw new Error(stderr)
  return { name: found[1] ?? '', message: found[2] ?? '' }
}
