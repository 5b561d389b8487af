import type { JsonObject } from '../../platform/base/json.ts'
import { badRequest } from '../../platform/base/problem.ts'
import { schemaErrors } from '../../platform/contract/output-schema.ts'
import type { TaskType } from '../../platform/contract/wedge/wedge-manifest.ts'
import { findAdapter } from './adapters/adapter-table.ts'

/** 400 if no message of the channel can be the input of the task type. */
export function requireMessageInput({ input_schema }: TaskType, taskType: string, adapter: string | null): void {
  if (!input_schema) return
  const isChat = findAdapter(adapter)?.isChat === true
  const [full, short] = [true, false].map((isComplete) => schemaErrors(input_schema, sampleInput(isComplete, isChat)))
  if (full?.length === 0 || short?.length === 0) return
  const [error] = full ?? []
  throw badRequest(
    `field 'task_type' must be a task type that takes messages: 'input${error?.path.slice(1)}' of '${taskType}' ` +
      `${error?.message}, and the input of a message is {from: {handle, name}, subject, body, thread_id}` +
      (isChat ? `, where the subject is null for the adapter '${adapter}'` : ''),
  )
}

/** The input of a message: complete, or without the name and the subject that a sender may leave out. */
const sampleInput = (isComplete: boolean, isChat: boolean): JsonObject => ({
  from: { handle: 'kim@example.com', name: isComplete ? 'Kim' : null },
  subject: isComplete && !isChat ? 'Opening hours' : null,
  body: 'When are you open?',
  thread_id: 'thr_1',
})
