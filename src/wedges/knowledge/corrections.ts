import type { JsonObject } from '../../platform/base/json.ts'
import type { Tx } from '../../platform/ctx/ctx.ts'
import type { Actor } from '../../platform/ctx/scope.ts'
import { diffJson, describeDifference } from './json-diff.ts'
import { createKnowledgeItem } from './items.ts'

export interface ApprovalCorrection {
  projectId: string
  wedge: string
  taskId: string
  approvalId: string
  action: string
  /** The payload that the agent proposed. */
  proposed: JsonObject
  /** The fields that the approver changed. */
  edited: JsonObject
  by: Actor
}

/** Stores an edited approval as knowledge, so that later runs follow the change. */
export async function recordCorrection(tx: Tx, correction: ApprovalCorrection): Promise<string> {
  const { projectId, wedge, taskId, approvalId, action, proposed, edited, by } = correction
  const item = await createKnowledgeItem(tx, by, {
    projectId,
    wedge,
    taskId,
    kind: 'correction',
    name: `correction of ${action}`.slice(0, 200),
    content: toCorrectionText(action, proposed, edited),
    source: 'approval',
    metadata: { approval_id: approvalId, action, proposed, edited, diff: diffPayloads(proposed, edited) },
  })
  return item.id
}

export function toCorrectionText(action: string, proposed: JsonObject, edited: JsonObject): string {
  const changes = diffPayloads(proposed, edited).map((change) => `- ${describeDifference(change)}`)
  return [
    `A person changed a proposed '${action}' before approving it. Do it their way next time.`,
    changes.length > 0 ? `Changed:\n${changes.join('\n')}` : 'Nothing differs from the proposal.',
    `Proposed: ${shortenPayload(proposed)}`,
    `Approved: ${shortenPayload({ ...proposed, ...edited })}`,
  ].join('\n')
}

const diffPayloads = (proposed: JsonObject, edited: JsonObject) => diffJson(proposed, { ...proposed, ...edited })

/** The metadata has the complete payload; for a run the beginning is enough. */
const MAX_PAYLOAD_CHARACTERS = 4000

function shortenPayload(payload: JsonObject): string {
  const text = JSON.stringify(payload)
  return text.length > MAX_PAYLOAD_CHARACTERS ? `${text.slice(0, MAX_PAYLOAD_CHARACTERS)}…` : text
}
