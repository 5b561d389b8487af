import { useState } from 'react'
import { isObject, toObject } from '../../api/json.ts'
import type { Approval, JsonObject } from '../../api/types.ts'
import { humanize } from '../../ui/humanize.ts'
import { FieldList, JsonView } from '../../ui/json.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { uiText } from '../../ui/text.ts'
import { actorName } from './actor-name.ts'
import { moneyFields, moneyText } from './amount.ts'
import { connectionName, editedPayload } from './approval-summary.ts'
import { htmlToText } from './html-text.ts'
import { PayloadDiffView } from './payload-diff-view.tsx'
import { type ShownPayload, shownPayload } from './payload-kind.ts'
import { approvalsText } from './text.ts'

const text = approvalsText.payload

/** What would be sent, as its reader would see it: a mail as a mail, money as money; or as JSON. */
export function PayloadView({ approval }: { approval: Approval }) {
  const [mode, setMode] = useState<'preview' | 'json'>('preview')
  const payload = approval.status === 'pending' ? pendingPayload(approval) : approval.preview
  return (
    <section aria-label={text.label} className="flex flex-col gap-3">
      <div className="flex items-center justify-between gap-3">
        <h3 className="min-w-0 font-medium">
          {approval.path === 'tool' ? text.toolCall : approval.status === 'pending' ? text.pending : text.proposed}
          <ConnectionLabel approval={approval} />
        </h3>
        <div className="shrink-0">
          <Tabs
            label={text.viewMode}
            value={mode}
            onChange={setMode}
            tabs={[
              { value: 'preview', label: text.preview },
              { value: 'json', label: uiText.jsonMode },
            ]}
          />
        </div>
      </div>
      {mode === 'json' ? (
        <JsonView value={payload} label={text.asJson} />
      ) : isObject(payload) ? (
        <RenderedPayload payload={payload} approval={approval} />
      ) : (
        <FieldList value={payload} />
      )}
      <PendingChanges approval={approval} />
    </section>
  )
}

/** What the first approver changed, if more people must approve. An edit restarts the votes, so the first vote is the edit. */
function PendingChanges({ approval: { status, edited, held, votes, preview, amount } }: { approval: Approval }) {
  if (status !== 'pending' || edited === null) return null
  const editor = held?.edited ? held.by : votes[0]?.by
  return (
    <div className="flex flex-col gap-1 rounded-md border border-line p-3">
      <p className="text-xs text-muted">{editor ? text.changedBy(actorName(editor)) : text.changed}</p>
      <PayloadDiffView payload={toObject(preview)} edited={edited} amount={amount} />
    </div>
  )
}

/** A pending request that needs several approvals may have been edited by the first approver. */
const pendingPayload = (approval: Approval) => (approval.edited ? editedPayload(approval) : approval.preview)

function RenderedPayload({ payload, approval: { amount } }: { payload: JsonObject; approval: Approval }) {
  const shown = shownPayload(payload, amount)
  if (shown.kind === 'mail') return <MailView mail={shown} />
  if (shown.kind === 'message') return <MessageView message={shown} />
  if (shown.kind === 'money') return <MoneyView payment={shown} />
  return <FieldList value={payload} texts={moneyFields(amount, payload)} />
}

function MailView({ mail }: { mail: ShownPayload & { kind: 'mail' } }) {
  return (
    <>
      <div className="overflow-hidden rounded-md border border-line">
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 border-b border-line bg-bg px-4 py-2.5">
          {mail.addresses.map(([field, address]) => (
            <div key={field} className="contents">
              <dt className="text-muted">{humanize(field)}</dt>
              <dd className="min-w-0 break-words">{address}</dd>
            </div>
          ))}
          <dt className="text-muted">{text.subject}</dt>
          <dd className="min-w-0 font-medium break-words">{mail.subject}</dd>
        </dl>
        <MailBody mail={mail} />
      </div>
      <OtherFields rest={mail.rest} />
    </>
  )
}

/** Both forms of the mail are shown, because its reader may see either. */
function MailBody({ mail: { text: plain, html } }: { mail: ShownPayload & { kind: 'mail' } }) {
  return (
    <>
      {plain !== null && <p className="px-4 py-3 break-words whitespace-pre-wrap">{plain}</p>}
      {html !== null && (
        <div className={plain === null ? '' : 'border-t border-line'}>
          <p className="px-4 pt-2 text-xs text-muted">{text.htmlAsText}</p>
          <p className="px-4 pt-1 pb-3 break-words whitespace-pre-wrap">{htmlToText(html)}</p>
        </div>
      )}
      {plain === null && html === null && <p className="px-4 py-3 text-muted">{text.noMailText}</p>}
    </>
  )
}

function MessageView({ message: { to, text: body, rest } }: { message: ShownPayload & { kind: 'message' } }) {
  return (
    <>
      <figure className="flex flex-col gap-1">
        {to !== null && <figcaption className="text-muted">{text.messageTo(to)}</figcaption>}
        <blockquote className="max-w-[60ch] self-start rounded-lg rounded-bl-none bg-accent-soft px-3.5 py-2 break-words whitespace-pre-wrap">
          {body}
        </blockquote>
      </figure>
      <OtherFields rest={rest} />
    </>
  )
}

function MoneyView({ payment: { field, money, rest } }: { payment: ShownPayload & { kind: 'money' } }) {
  return (
    <>
      <dl className="flex flex-col rounded-md border border-line bg-bg px-4 py-2.5">
        <dt className="text-muted">{humanize(field.split('.').at(-1) ?? field)}</dt>
        <dd className="text-2xl font-semibold break-words tabular-nums">{moneyText(money)}</dd>
      </dl>
      <OtherFields rest={rest} />
    </>
  )
}

function OtherFields({ rest }: { rest: JsonObject }) {
  return Object.keys(rest).length > 0 && <FieldList value={rest} />
}

/** The connection is shown apart from the action, because the agent chooses the name of the action. */
function ConnectionLabel({ approval }: { approval: Approval }) {
  const connection = connectionName(approval)
  if (!connection) return null
  return (
    <span className="font-normal text-muted">
      {` ${text.through} `}
      <code className="font-mono text-xs font-medium break-words text-text">{connection}</code>
    </span>
  )
}
