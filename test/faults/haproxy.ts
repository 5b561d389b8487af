import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { haproxyProgram } from '../../scripts/machine.mjs'
import { freePort } from '../free-port.ts'

/** The example of the documentation, which every installation can use. */
const CONFIGURATION = fileURLToPath(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url))

/** Starts HAProxy in front of three replicas on these ports, and returns its URL. It is stopped when the test ends. */
export async function startLoadBalancer(ports: readonly number[]): Promise<string> {
  const program = haproxyProgram()
  if (program === null) throw new Error('HAProxy is not installed: run `npm test`, which installs it or says how')
  const listen = `127.0.0.1:${await freePort()}`
  const replicas = ports.map((port, n) => [`SVC_REPLICA_${n + 1}`, `127.0.0.1:${port}`])
  const child = spawn(program, ['-db', '-q', '-f', CONFIGURATION], {
    env: { ...Object.fromEntries(replicas), SVC_LISTEN: listen },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const url = `http://${listen}`
  for (;;) {
    if (child.exitCode !== null) throw new Error(`HAProxy ended with the code ${child.exitCode}`)
    const response = await fetch(`${url}/readyz`).catch(() => null)
    if (response?.status === 200) return url
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
