import type { Json } from '../base/json.ts'
import type { AskPerson } from '../connections/executors/executor.ts'
import type { Connection } from '../connections/rows.ts'
import type { Ctx } from '../ctx/ctx.ts'
import { askPerson } from './ask-person.ts'
import type { TaskRun } from './task-run.ts'

export const SERVER_KEY_PREFIX = 'server:'

/**
 * Asks the team what an MCP server wants to know during a call; null without an answer. The run keeps its cell meanwhile,
 * because the call waits in this process, and the time does not count.
 */
export async function askForServer(
  ctx: Ctx,
  run: TaskRun,
  { callId, connection }: { callId: string; connection: Pick<Connection, 'name'> },
  { question, schema, number }: Parameters<AskPerson>[0],
): Promise<Json> {
  // People must know that the text comes from outside.
  const text = `The MCP server of connection '${connection.name}' asks: ${question}`.slice(0, MAX_CHARACTERS)
  const key = `${SERVER_KEY_PREFIX}${callId} ${number}`
  run.openServerQuestions++
  try {
    const ask = () => askPerson(ctx, run, { question: text, schema, to: 'team' }, key)
    return (await run.workingTime.whileInterrupted(ask)).answer
  } finally {
    run.openServerQuestions--
  }
}

/** The limit of a question. */
const MAX_CHARACTERS = 2_000
