/** Writes lines that carry the time of their writing, at a modest pace. Waits first, so that the followers are there. */
import { agent, say } from './agent.ts'

const LINES = 250
const EVERY_MS = 4

agent(async ({ task }) => {
  const { lines = LINES, every_ms = EVERY_MS } = task.input
  for (let n = 0; n < lines; n++) {
    say({ event: 'progress', data: { text: `at ${process.hrtime.bigint()}` } })
    await new Promise((resolve) => setTimeout(resolve, every_ms))
  }
  return { lines }
})
