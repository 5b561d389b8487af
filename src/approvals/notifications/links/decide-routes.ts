import { z } from 'zod'
import { holdParam } from '../../decisions/hold-approval.ts'
import { readDecisionResult } from '../../decisions/read-approvals.ts'
import { DECISIONS } from '../../decisions/apply-decision.ts'
import { ApproveResultView } from '../../requests/view.ts'
import { MAX_BODY_BYTES, nameRoutes, noContentResponse, openRoute } from '../../../platform/http/route.ts'
import { visibleJsonObject } from '../../../platform/http/visible-keys.ts'
import { serveFile } from '../../../work/files/serve-file.ts'
import {
  decideWithLink,
  findLinkedFile,
  readLinkedApproval,
  requireDecisionLink,
  withdrawWithLink,
} from './decide-with-link.ts'
import { LinkedApprovalView } from '../view.ts'

const CREDENTIAL =
  'The credential is the token of the link: `Authorization: Bearer dl_…`. It is bound to one member and one approval, and works once.'

/**
 * The API of the decision page, to which the links of mails lead. Browsers would keep a 410 for ever and show it for the
 * next link, because all links have the same address.
 */
export const decideRoutes = nameRoutes({
  getLinkedApproval: openRoute('GET', '/v1/decide', {
    summary: 'Read the approval of a decision link',
    description: `${CREDENTIAL} Reading changes nothing. 410 once the link is used, or the approval is decided or expired: with its \`status\`, \`approved_by_you\`, \`votes\` and \`needed\`.`,
    noStore: true,
    responses: { 200: LinkedApprovalView },
    find: ({ ctx, request }) => requireDecisionLink(ctx, request),
    handle: ({ ctx, subject }) => readLinkedApproval(ctx, subject),
  }),

  getLinkedFile: openRoute('GET', '/v1/decide/files/:id', {
    summary: 'Download a file of the approval of a decision link',
    description: `${CREDENTIAL} Reading changes nothing. Files that the approval does not show are a 404.`,
    noStore: true,
    responses: { 200: '*/*' },
    find: async ({ ctx, request, params }) =>
      findLinkedFile(ctx, await requireDecisionLink(ctx, request), params.id ?? ''),
    handle: ({ ctx, subject }) => serveFile(ctx, subject),
  }),

  decideLinkedApproval: openRoute('POST', '/v1/decide', {
    summary: 'Decide about the approval of a decision link',
    description: `${CREDENTIAL} The decision counts as one of the member, with the member's current role.`,
    body: z.object({
      decision: z.enum(DECISIONS),
      edited: visibleJsonObject.nullish(),
      payload_sha256: z
        .string()
        .optional()
        .meta({ description: 'Of the payload that the member saw: 409 for another one.' }),
      note: z.string().max(10_000).optional().meta({ description: 'Of an approval; or what to change, for `revise`.' }),
      reason: z.string().max(10_000).optional().meta({ description: 'Why it is rejected.' }),
      hold_s: holdParam,
    }),
    noStore: true,
    // An edited payload may be as long as one of the console.
    maxBodyBytes: MAX_BODY_BYTES,
    responses: { 200: ApproveResultView },
    find: ({ ctx, request }) => requireDecisionLink(ctx, request),
    handle: async ({ ctx, subject, body }) =>
      readDecisionResult(ctx.db, subject.approval_id, await decideWithLink(ctx, subject, body)),
  }),

  withdrawLinkedApproval: openRoute('DELETE', '/v1/decide/held', {
    summary: 'Withdraw your approval of a decision link while it is held',
    description: `${CREDENTIAL} The link then works as before. 409 if nothing is held.`,
    noStore: true,
    responses: { 204: z.null() },
    find: ({ ctx, request }) => requireDecisionLink(ctx, request),
    async handle({ ctx, subject }) {
      await withdrawWithLink(ctx, subject)
      return noContentResponse()
    },
  }),
})
