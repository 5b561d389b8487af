import { isJsonObject, type Json } from '../../platform/base/json.ts'
import type { HarnessRun } from './harness-run.ts'
import { postAction } from './tools/plane-tools.ts'

/** The output with the reply that was sent, or why the reply was not sent: a person or the service wants it changed. */
export type RepliedOutput = { output: Json } | { note: string; isFromPerson: boolean }

/**
 * Sends the field `reply` of the output to the client, if the channel can reply. It waits for the approval like every
 * action. A person may edit the text, which then becomes part of the output, or send it back with a note.
 */
export async function replyWithOutput(run: HarnessRun, output: Json): Promise<RepliedOutput> {
  const { reply } = run.brief
  if (!reply || !isJsonObject(output) || typeof output.reply !== 'string' || output.reply.trim() === '')
    return { output }
  const outcome = await postAction(run, reply.capability, { payload: { text: output.reply } })
  const result = isJsonObject(outcome.output) ? outcome.output : {}
  if (result.revise === true)
    return { note: `A person sent the reply back: ${textOf(result.note)}`, isFromPerson: true }
  // The service refused the text before anybody was asked.
  if (!outcome.ok && outcome.output === undefined)
    return { note: `The reply cannot be sent: ${outcome.error}`, isFromPerson: false }
  const sent = isJsonObject(result.payload) ? result.payload.text : undefined
  // A reply that was not delivered is shown to the team; the work of the run is done.
  return { output: typeof sent === 'string' ? { ...output, reply: sent } : output }
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
