/** An agent that writes tokens as fast as the pipe accepts them. */
import { once } from 'node:events'
import { runAgent } from './agent.ts'

const TOKENS_PER_WRITE = 200

runAgent(async ({ task }) => {
  const events = task.input.events ?? 0
  for (let n = 0; n < events; n += TOKENS_PER_WRITE) {
    let text = ''
    for (let i = n; i < Math.min(events, n + TOKENS_PER_WRITE); i++)
      text += `{"event":"token.delta","data":{"text":"word ${i} "}}\n`
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }
  return { events }
})
