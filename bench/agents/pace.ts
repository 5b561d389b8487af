/** An agent that writes one line every few milliseconds. Each line contains the time at which it was written. */
import { runAgent, writeLine } from './agent.ts'

const LINES = 250
const EVERY_MS = 4

runAgent(async ({ task }) => {
  const { lines = LINES, every_ms = EVERY_MS } = task.input
  for (let n = 0; n < lines; n++) {
    writeLine({ event: 'progress', data: { text: `at ${process.hrtime.bigint()}` } })
    await new Promise((resolve) => setTimeout(resolve, every_ms))
  }
  return { lines }
})
