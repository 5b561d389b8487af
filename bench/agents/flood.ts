/** Writes tokens as fast as the pipe takes them. */
import { once } from 'node:events'
import { agent } from './agent.ts'

const TOGETHER = 200

agent(async ({ task }) => {
  const events = task.input.events ?? 0
  for (let n = 0; n < events; n += TOGETHER) {
    let text = ''
    for (let i = n; i < Math.min(events, n + TOGETHER); i++)
      text += `{"event":"token.delta","data":{"text":"word ${i} "}}\n`
    if (!process.stdout.write(text)) await once(process.stdout, 'drain')
  }
  return { events }
})
