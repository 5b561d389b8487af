import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../base/json.ts'
import type { ModelProvider } from '../contract/agent-protocol.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { objectListField, tryParseJson } from '../base/json-fields.ts'
import type { ModelRun } from './model-run.ts'
import { type AssistantTurn, turnOfMessage } from './read-response.ts'
import type { RehearsalTurn } from '../contract/rehearsal.ts'

/**
 * Writes what a real model did as a rehearsal, once it gives its output. Each call carries the whole conversation, so
 * nothing needs to be kept between the calls; an output that had to be repaired is overwritten by the better one.
 */
export async function recordRehearsal(
  ctx: Ctx,
  run: ModelRun,
  wire: ModelProvider,
  body: JsonObject,
  answer: AssistantTurn,
): Promise<void> {
  if (!hasOutput(answer)) return
  const earlier = objectListField(body, 'messages').filter(({ role }) => role === 'assistant')
  const turns = toRehearsalScript([...earlier.map((message) => turnOfMessage(wire, message)), answer])
  const path = join(ctx.config.dataDir, 'rehearsals', run.wedge.slug, `${run.taskType}.json`)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${run.taskId}`
  await writeFile(draft, `${JSON.stringify(turns, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, path)
  ctx.world.log.info({ task: run.taskId, path }, 'rehearsal recorded')
}

const hasOutput = ({ calls }: AssistantTurn) => calls.length === 0 || calls.some(({ tool }) => tool === 'finish')

/** A rehearsed turn makes one call, so a turn with many becomes many; outputs that were refused are left out. */
function toRehearsalScript(said: AssistantTurn[]): RehearsalTurn[] {
  const answer = said.at(-1)
  const calls = said.flatMap(callTurns)
  return answer ? [...calls, outputTurn(answer)] : calls
}

function callTurns({ text, calls }: AssistantTurn): RehearsalTurn[] {
  const finishes = calls.some(({ tool }) => tool === 'finish')
  return calls
    .filter(({ tool }) => tool !== 'finish')
    .map((call, i) => (i === 0 && !finishes && text !== '' ? { say: text, call } : { call }))
}

function outputTurn({ text, calls }: AssistantTurn): RehearsalTurn {
  const finish = calls.find(({ tool }) => tool === 'finish')
  if (!finish) return { output: tryParseJson(text) ?? text }
  const output = finish.input.output ?? finish.input
  return text === '' ? { output } : { say: text, output }
}
