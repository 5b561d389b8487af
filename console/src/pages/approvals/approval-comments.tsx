import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { approvalCommentsQuery } from '../../api/queries.ts'
import type { Approval } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/form-fields.tsx'
import { RequireRole } from '../../ui/role.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { withoutSent } from '../../ui/unsent-text.ts'
import { actorName } from './actor-name.ts'
import { CardSection } from './approval-details.tsx'
import { keptText, useKeepText } from './kept-texts.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.comments

/** The team's notes on one approval. The agent and the client do not see them. */
export function ApprovalComments({ approval }: { approval: Approval }) {
  const { approval_id: approvalId, comment_count: count } = approval
  const { data: comments = [] } = useQuery({ ...approvalCommentsQuery(approvalId), enabled: count > 0 })
  return (
    <CardSection title={text.title} count={count} isOpen={count > 0}>
      {comments.length > 0 && (
        <ol aria-label={text.title} className="mb-3 flex flex-col gap-2">
          {comments.map(({ id, author, body, created_at }) => (
            <li key={id}>
              <p className="text-xs text-muted">
                <span className="font-medium text-text">{actorName(author)}</span> · <TimeAgo ts={created_at} />
              </p>
              <p className="break-words whitespace-pre-wrap">{body}</p>
            </li>
          ))}
        </ol>
      )}
      <RequireRole minRole="operator" fallback={count === 0 && <p className="text-muted">{text.none}</p>}>
        <CommentForm approval={approval} />
      </RequireRole>
    </CardSection>
  )
}

function CommentForm({ approval }: { approval: Approval }) {
  const [body, setBody] = useState(() => keptText(approval, 'comment'))
  useKeepText(approval, 'comment', body)
  const add = useApiMutation(
    (comment: string) => callOperation('createApprovalComment', { id: approval.approval_id, body: { body: comment } }),
    { invalidates: ['approvals'], onSuccess: (sent) => setBody((typed) => withoutSent(typed, sent.body)) },
  )
  return (
    <form
      aria-label={text.form}
      className="flex flex-col gap-2"
      onSubmit={(event) => (event.preventDefault(), add.mutate(body.trim()))}
    >
      <TextArea label={text.comment} hint={text.hint} rows={2} value={body} onChange={setBody} />
      <Button type="submit" small className="self-start" disabled={add.isPending || body.trim() === ''}>
        {text.add}
      </Button>
    </form>
  )
}
