import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../base/json.ts'
import type { Wire } from '../base/protocol.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { objectsOf, tryParse } from '../base/fields.ts'
import type { ModelRun } from './run.ts'
import { type Said, saidIn } from './said.ts'
import type { Turn } from '../base/rehearsal.ts'

/**
 * Writes what a real model did as a rehearsal, once it gives its output. Each call carries the whole conversation, so
 * nothing needs to be kept between the calls; an output that had to be repaired is overwritten by the better one.
 */
export async function recordRehearsal(
  ctx: Ctx,
  run: ModelRun,
  wire: Wire,
  body: JsonObject,
  answer: Said,
): Promise<void> {
  if (!givesOutput(answer)) return
  const earlier = objectsOf(body, 'messages').filter(({ role }) => role === 'assistant')
  const turns = scriptOf([...earlier.map((message) => saidIn(wire, message)), answer])
  const path = join(ctx.config.dataDir, 'rehearsals', run.wedge.slug, `${run.taskType}.json`)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${run.taskId}`
  await writeFile(draft, `${JSON.stringify(turns, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, path)
  ctx.world.log.info({ task: run.taskId, path }, 'rehearsal recorded')
}

const givesOutput = ({ calls }: Said) => calls.length === 0 || calls.some(({ tool }) => tool === 'finish')

/** A rehearsed turn makes one call, so a turn with many becomes many; outputs that were refused are left out. */
function scriptOf(said: Said[]): Turn[] {
  const answer = said.at(-1)
  const calls = said.flatMap(callTurns)
  return answer ? [...calls, outputTurn(answer)] : calls
}

function callTurns({ text, calls }: Said): Turn[] {
  const finishes = calls.some(({ tool }) => tool === 'finish')
  return calls
    .filter(({ tool }) => tool !== 'finish')
    .map((call, i) => (i === 0 && !finishes && text !== '' ? { say: text, call } : { call }))
}

function outputTurn({ text, calls }: Said): Turn {
  const finish = calls.find(({ tool }) => tool === 'finish')
  if (!finish) return { output: tryParse(text) ?? text }
  const output = finish.input.output ?? finish.input
  return text === '' ? { output } : { say: text, output }
}
