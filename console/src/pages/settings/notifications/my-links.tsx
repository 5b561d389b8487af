import { useState } from 'react'
import { callOperation } from '../../../api/http.ts'
import { useApiMutation } from '../../../api/mutation.ts'
import {
  type MyNotifications,
  type StartedLink,
  NOTIFIER_KINDS,
  type NotifierKind,
} from '../../../api/notification-queries.ts'
import { MutationButton } from '../../../ui/mutation-button.tsx'
import { RowActions, Table } from '../../../ui/table.tsx'
import { TimeAgo } from '../../../ui/time.tsx'
import { LinkDialog } from './link-dialog.tsx'
import { notificationsText } from './text.ts'

const text = notificationsText.mine

/** The accounts at which the member gets the messages. */
export function MyLinks({ mine }: { mine: MyNotifications }) {
  const [started, setStarted] = useState<{ kind: NotifierKind; link: StartedLink } | null>(null)
  return (
    <>
      <Table
        label={text.table}
        columns={[notificationsText.service, text.address, text.linked]}
        actions={{ name: notificationsText.actions, minRole: 'viewer' }}
      >
        {NOTIFIER_KINDS.map((kind) => (
          <LinkRow key={kind} kind={kind} mine={mine} onStarted={(link) => setStarted({ kind, link })} />
        ))}
      </Table>
      {started && <LinkDialog {...started} onClose={() => setStarted(null)} />}
    </>
  )
}

function LinkRow({
  kind,
  mine: { links, available },
  onStarted,
}: {
  kind: NotifierKind
  mine: MyNotifications
  onStarted: (link: StartedLink) => void
}) {
  const service = notificationsText.services[kind]
  const linked = links.find((link) => link.kind === kind)
  const start = useApiMutation(() => callOperation('createNotificationLink', { body: { kind } }), {
    invalidates: [],
    onSuccess: onStarted,
  })
  const unlink = useApiMutation(() => callOperation('deleteNotificationLink', { kind }), {
    invalidates: ['notifications'],
  })
  const hiddenName = <span className="sr-only"> {service}</span>
  return (
    <tr>
      <td className="font-medium">{service}</td>
      <td className={linked ? '' : 'text-muted'}>
        {linked?.address ?? (available.includes(kind) ? text.notLinked : text.notAvailable)}
      </td>
      <td className="text-muted">{linked ? <TimeAgo ts={linked.linked_at} /> : '—'}</td>
      <RowActions minRole="viewer">
        {linked ? (
          <MutationButton small variant="danger" mutation={unlink} confirmText={text.confirmUnlink(service)}>
            {text.unlink}
            {hiddenName}
          </MutationButton>
        ) : (
          available.includes(kind) && (
            <MutationButton small mutation={start}>
              {text.link}
              {hiddenName}
            </MutationButton>
          )
        )}
      </RowActions>
    </tr>
  )
}
