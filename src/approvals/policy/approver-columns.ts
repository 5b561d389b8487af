import { declaredApprovers } from '../../platform/contract/wedge/declared-approvals.ts'
import { CLIENT_APPROVER, countPossibleApprovers } from '../../platform/contract/wedge/wedge-manifest.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import type { GatedRequest, GatedRun } from './gated-request.ts'

type ApproverColumns = Pick<ApprovalRow, 'client_id' | 'needed' | 'approvers' | 'excludes_requester' | 'escalate'>

/** Who decides about a request, as it is stored with the approval. */
export function approverColumns(run: GatedRun, request: GatedRequest, isAutoApproved: boolean): ApproverColumns {
  const asked = request.clientId ?? null
  if (isAutoApproved) return { client_id: asked, needed: 1, approvers: null, excludes_requester: 0, escalate: null }
  const {
    needed,
    approvers: declared,
    excludesRequester,
    escalate,
  } = declaredApprovers(run.wedge.manifest, request.action)
  const client = request.path === 'question' ? null : findClientApprover(run, declared, excludesRequester)
  const approvers = client === null ? withoutClient(declared) : declared
  return {
    client_id: client ?? asked,
    // A question has one answer, so one person is enough. And without the client fewer people may be left.
    needed: request.path === 'question' ? 1 : Math.min(needed, countPossibleApprovers(approvers, escalate)),
    approvers: approvers && JSON.stringify(approvers),
    excludes_requester: excludesRequester ? 1 : 0,
    escalate: escalate.length === 0 ? null : JSON.stringify(escalate),
  }
}

/** The client of the task, if it may decide. A client whose message started the task is its requester. */
function findClientApprover({ task }: GatedRun, approvers: string[] | null, excludesRequester: boolean): string | null {
  const isExcluded = excludesRequester && task.channel_id !== null
  return approvers?.includes(CLIENT_APPROVER) && !isExcluded ? task.client_id : null
}

/** If no other approver is named, every operator, admin and owner decides: without an approver a request would only expire. */
function withoutClient(approvers: string[] | null): string[] | null {
  const team = approvers?.filter((approver) => approver !== CLIENT_APPROVER) ?? []
  return team.length === 0 ? null : team
}
