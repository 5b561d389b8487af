import type { JsonObject } from '../base/json.ts'
import type { Tx } from '../ctx/ctx.ts'
import type { Actor } from '../ctx/scope.ts'
import { diff, tell } from './diff.ts'
import { createItem } from './items.ts'

export interface Correction {
  projectId: string
  wedge: string
  taskId: string
  approvalId: string
  action: string
  /** The payload that the agent proposed. */
  proposed: JsonObject
  /** What the person laid over it. */
  edited: JsonObject
  by: Actor
}

/** An approval with edits teaches the wedge: what was proposed, and what a person made of it. */
export async function recordCorrection(tx: Tx, correction: Correction): Promise<string> {
  const { projectId, wedge, taskId, approvalId, action, proposed, edited, by } = correction
  const item = await createItem(tx, by, {
    projectId,
    wedge,
    taskId,
    kind: 'correction',
    name: `correction of ${action}`.slice(0, 200),
    content: correctionText(action, proposed, edited),
    source: 'approval',
    metadata: { approval_id: approvalId, action, proposed, edited, diff: differences(proposed, edited) },
  })
  return item.id
}

export function correctionText(action: string, proposed: JsonObject, edited: JsonObject): string {
  const changes = differences(proposed, edited).map((change) => `- ${tell(change)}`)
  return [
    `A person changed a proposed '${action}' before approving it. Do it their way next time.`,
    changes.length > 0 ? `Changed:\n${changes.join('\n')}` : 'Nothing differs from the proposal.',
    `Proposed: ${cut(proposed)}`,
    `Approved: ${cut({ ...proposed, ...edited })}`,
  ].join('\n')
}

const differences = (proposed: JsonObject, edited: JsonObject) => diff(proposed, { ...proposed, ...edited })

/** The whole is in the metadata; a run needs to see the kind of thing. */
const CUT = 4000

function cut(payload: JsonObject): string {
  const text = JSON.stringify(payload)
  return text.length > CUT ? `${text.slice(0, CUT)}…` : text
}
