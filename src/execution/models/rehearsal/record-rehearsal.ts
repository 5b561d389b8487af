import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { JsonObject } from '../../../platform/base/json.ts'
import type { ToolCall } from '../../../platform/contract/providers/conversation.ts'
import type { ModelMessage } from '../../../platform/contract/providers/provider-format.ts'
import { type ModelApi, PROVIDER_FORMATS } from '../../../platform/contract/providers/provider-formats.ts'
import type { RehearsalTurn } from '../../../platform/contract/rehearsal.ts'
import type { Ctx } from '../../../platform/ctx/ctx.ts'
import { tryParseJson } from '../../../platform/base/json-fields.ts'
import type { ModelRun } from '../model-run.ts'

/**
 * Writes the turns of a real model as a rehearsal, once the model gives its output. Each call carries the whole
 * conversation, so nothing is kept between calls; when an output is repaired, the later file replaces the earlier one.
 */
export async function recordRehearsal(
  ctx: Ctx,
  run: ModelRun,
  api: ModelApi,
  body: JsonObject,
  reply: ModelMessage,
): Promise<void> {
  if (!hasOutput(reply)) return
  const turns = toRehearsalScript(PROVIDER_FORMATS[api].listModelMessages(body), reply)
  const path = join(ctx.config.dataDir, 'rehearsals', run.wedge.slug, `${run.taskType}.json`)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${run.taskId}`
  await writeFile(draft, `${JSON.stringify(turns, null, 2)}\n`, { mode: 0o600 })
  await rename(draft, path)
  ctx.world.log.info({ task: run.taskId, path }, 'rehearsal recorded')
}

const isFinish = ({ name }: ToolCall) => name === 'finish'

const hasOutput = ({ calls }: ModelMessage) => calls.length === 0 || calls.some(isFinish)

/** A rehearsed turn makes one call, so a turn with several calls becomes several; refused outputs are left out. */
function toRehearsalScript(earlier: ModelMessage[], reply: ModelMessage): RehearsalTurn[] {
  return [...[...earlier, reply].flatMap(toCallTurns), toOutputTurn(reply)]
}

function toCallTurns({ text, calls }: ModelMessage): RehearsalTurn[] {
  const finishes = calls.some(isFinish)
  return calls
    .filter((call) => !isFinish(call))
    .map(({ name, input }) => ({ tool: name, input }))
    .map((call, i) => (i === 0 && !finishes && text !== '' ? { say: text, call } : { call }))
}

function toOutputTurn({ text, calls }: ModelMessage): RehearsalTurn {
  const finish = calls.find(isFinish)
  if (!finish) return { output: tryParseJson(text) ?? text }
  const output = finish.input.output ?? finish.input
  return text === '' ? { output } : { say: text, output }
}
