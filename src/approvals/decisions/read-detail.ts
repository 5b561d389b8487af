import { nameActors } from '../../identity/organisations/actor-name-rows.ts'
import { CLIENT_APPROVER } from '../../platform/contract/wedge/wedge-manifest.ts'
import { listFileReferences } from '../../platform/contract/file-reference.ts'
import type { Ctx } from '../../platform/ctx/ctx.ts'
import { listStepEventsUntil } from '../../work/events/rows.ts'
import { findFile, listTaskFiles } from '../../work/files/rows.ts'
import { toFileView } from '../../work/files/view.ts'
import type { Db } from '../../platform/store/store.ts'
import type { ApprovalRow } from '../../platform/store/tables.ts'
import { describeAction, parseTool } from '../policy/action-text.ts'
import { describeSteps } from './agent-steps.ts'
import { listApproverMembers } from '../people/approver-rows.ts'
import { isApprover, isExcludedRequester } from '../people/approvers.ts'
import { listThreadEnd } from '../requests/context-rows.ts'
import { findPayloadSchema } from '../requests/payload-schema.ts'
import { readApprovalView } from './read-approvals.ts'
import { listEarlierDecisions } from '../requests/rows.ts'
import { approvedPayload, parseApprovers } from '../requests/view.ts'

/** An approval with everything that a person needs to decide. */
export async function readApprovalDetail(ctx: Ctx, row: ApprovalRow) {
  const { db } = ctx
  const view = await readApprovalView(db, row)
  const asked = { task_id: row.task_id, until: row.created_at }
  return {
    ...view,
    thread: view.context.thread_id === null ? [] : await readThreadEnd(db, view.context.thread_id),
    history: await readHistory(db, row),
    steps: describeSteps(await listStepEventsUntil(db, asked)),
    waits_for: view.status === 'pending' ? await listAwaitedMembers(db, row, view) : [],
    rule: describeRule(row),
    files: await readFiles(db, row),
    schema: await findPayloadSchema(ctx, row),
  }
}

/** Who may decide, without the requester if that one is excluded, and without those who have approved. */
async function listAwaitedMembers(
  db: Db,
  row: ApprovalRow,
  { context: { requested_by }, votes }: Awaited<ReturnType<typeof readApprovalView>>,
) {
  const voters = new Set(votes.map(({ by }) => by?.id))
  return (await listApproverMembers(db, row))
    .filter((member) => isApprover(row, member) && !isExcludedRequester(row, requested_by?.id, member.id))
    .filter(({ id }) => !voters.has(id))
    .map(({ id, name, email }) => ({ id, name: name ?? email }))
}

const MAX_THREAD_MESSAGES_SHOWN = 6

async function readThreadEnd(db: Db, threadId: string) {
  const messages = (await listThreadEnd(db, threadId, MAX_THREAD_MESSAGES_SHOWN)).toReversed()
  const nameOf = await nameActors(
    db,
    messages.map(({ author_kind, author_id }) => ({ kind: author_kind, id: author_id })),
  )
  return messages.map(({ id, direction, body, created_at, is_unverified, author_kind, author_id }) => ({
    id,
    direction,
    body,
    at: created_at,
    unverified: is_unverified === 1,
    author: nameOf(author_kind, author_id),
  }))
}

const MAX_EARLIER_DECISIONS = 5

async function readHistory(db: Db, row: ApprovalRow) {
  const earlier = await listEarlierDecisions(db, row, MAX_EARLIER_DECISIONS)
  const nameOf = await nameActors(
    db,
    earlier.map(({ decided_by_kind, decided_by_id }) => ({ kind: decided_by_kind, id: decided_by_id })),
  )
  return earlier.map((past) => ({
    approval_id: past.id,
    text: describeAction(parseTool(past), past, approvedPayload(past)).text,
    status: past.status,
    decided_by: nameOf(past.decided_by_kind, past.decided_by_id),
    decided_at: past.decided_at,
    edited: past.edited !== null,
    reason: past.reason,
  }))
}

/** Why a person decides, and who. */
function describeRule(row: ApprovalRow): string {
  const approvers = parseApprovers(row)?.map((one) => (one === CLIENT_APPROVER ? 'the client' : one)) ?? null
  return [
    row.policy_reason?.replace(/([^.])$/, '$1.'),
    row.needed > 1 &&
      (approvers === null
        ? `${row.needed} people must approve.`
        : `${row.needed} people must approve, out of: ${approvers.join(', ')}.`),
    row.needed === 1 && approvers !== null && `Only ${approvers.join(', ')} may decide.`,
    row.excludes_requester === 1 && 'The one who started the task may not decide.',
  ]
    .filter(Boolean)
    .join(' ')
}

/** The files of the payload, then the other files of the task. */
async function readFiles(db: Db, row: ApprovalRow) {
  const ids = new Set(listFileReferences(approvedPayload(row)).map(({ $file }) => $file))
  const named = await Promise.all([...ids].map((id) => findFile(db, [row.project_id], id)))
  const given = (await listTaskFiles(db, row.task_id)).filter(({ id }) => !ids.has(id))
  return [...named.filter((file) => file !== undefined), ...given].map(toFileView)
}
