import type { Json } from '../../platform/base/json.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import type { TaskRow } from '../../platform/store/tables.ts'
import { createKnowledgeItem } from './items.ts'

export interface TaskFeedback {
  rating?: number | string | undefined
  correction?: Json | undefined
  note?: string | undefined
}

type RatedTask = Pick<TaskRow, 'id' | 'project_id' | 'wedge' | 'task_type'>

/** Stores feedback on a run as knowledge for later runs; null for a rating alone, which says nothing to learn from. */
export async function recordTaskFeedback(
  tx: Tx,
  scope: { actor: Actor },
  task: RatedTask,
  feedback: TaskFeedback,
): Promise<string | null> {
  const content = toFeedbackText(task.task_type, feedback)
  if (!content) return null
  const item = await createKnowledgeItem(tx, scope.actor, {
    projectId: task.project_id,
    wedge: task.wedge,
    taskId: task.id,
    kind: 'feedback',
    name: `feedback on ${task.task_type}`,
    content,
    source: 'task',
    metadata: {
      ...(feedback.rating !== undefined && { rating: feedback.rating }),
      ...(feedback.correction !== undefined && { correction: feedback.correction }),
      ...(feedback.note !== undefined && { note: feedback.note }),
    },
  })
  return item.id
}

export function toFeedbackText(taskType: string, { rating, correction, note }: TaskFeedback): string | null {
  if (isBlank(correction) && isBlank(note)) return null
  const lines = [`A person gave feedback on a finished '${taskType}' task.`]
  if (rating !== undefined) lines.push(`Rating: ${rating}`)
  if (!isBlank(correction))
    lines.push(`It should have been: ${typeof correction === 'string' ? correction : JSON.stringify(correction)}`)
  if (!isBlank(note)) lines.push(`Note: ${note}`)
  return lines.join('\n')
}

export const isEmptyFeedback = ({ rating, correction, note }: TaskFeedback): boolean =>
  [rating, correction, note].every(isBlank)

const isBlank = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '')
