import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { myNotificationsQuery, type StartedLink, type NotifierKind } from '../../../api/notification-queries.ts'
import { Button, buttonClass } from '../../../ui/button.tsx'
import { CopyRow } from '../../../ui/copy-row.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { formatDateTime } from '../../../ui/format.ts'
import { showToast } from '../../../ui/toast.tsx'
import { notificationsText } from './text.ts'

const text = notificationsText.link
const POLL_MS = 2_000

/** What the member does in the other service. The dialog closes by itself when the account is linked. */
export function LinkDialog({ kind, link, onClose }: { kind: NotifierKind; link: StartedLink; onClose: () => void }) {
  const service = notificationsText.services[kind]
  const { data } = useQuery({ ...myNotificationsQuery, refetchInterval: POLL_MS })
  const isLinked = data?.links.some((one) => one.kind === kind) ?? false
  useEffect(() => {
    if (!isLinked) return
    showToast(text.done(service))
    onClose()
  }, [isLinked, service, onClose])
  return (
    <Dialog label={text.title(service)} onClose={onClose} className="max-w-md">
      <div className="flex flex-col gap-4 p-5">
        <h2 className="text-base font-semibold">{text.title(service)}</h2>
        <p>{kind === 'mail' ? text.mail(link.sent_to ?? '') : text[kind]}</p>
        {link.code && <CopyRow label={text.code} text={link.code} />}
        {link.url && (
          <a href={link.url} target="_blank" rel="noreferrer" className={`${buttonClass('primary')} self-start`}>
            {text.open}
          </a>
        )}
        <p className="text-xs text-muted">
          {(kind === 'mail' ? text.linkExpires : text.codeExpires)(formatDateTime(link.expires_at))}
        </p>
        <div className="flex items-center justify-between gap-2">
          <p role="status" className="text-muted">
            {kind === 'mail' ? text.waitingForMail : text.waiting}
          </p>
          <Button onClick={onClose}>{text.close}</Button>
        </div>
      </div>
    </Dialog>
  )
}
