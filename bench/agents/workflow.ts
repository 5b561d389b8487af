/** An agent that calls a workflow many times over the sandbox plane and outputs the duration of each call. */
import http from 'node:http'
import { runAgent } from './agent.ts'

const WARM_UP_CALLS = 30

runAgent(async ({ task, service }) => {
  const connections = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (let n = 0; n < (task.input.calls ?? 0) + WARM_UP_CALLS; n++) {
    const start = performance.now()
    await callWorkflow(connections, service)
    if (n >= WARM_UP_CALLS) times.push(performance.now() - start)
  }
  return { times }
})

function callWorkflow(
  agent: http.Agent,
  { socket, task_token }: { socket: string; task_token: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      agent,
      socketPath: socket,
      method: 'POST',
      path: '/v1/internal/workflows/trivial',
      headers: { authorization: `Bearer ${task_token}`, 'content-type': 'application/json' },
    })
    request.on('error', reject)
    request.on('response', (response) => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`the workflow returned status ${response.statusCode}`))
      })
    })
    request.end('{"args":{"n":1}}')
  })
}
