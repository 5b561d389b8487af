/** Writes lines that carry the time of their writing, at a modest pace. Waits first, so that the followers are there. */
import { agent, say } from './agent.ts'

const LINES = 250
const EVERY_MS = 4

agent(async () => {
  for (let n = 0; n < LINES; n++) {
    say({ event: 'progress', data: { text: `at ${process.hrtime.bigint()}` } })
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
  }
  return { lines: LINES }
})
