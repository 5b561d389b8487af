import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation } from '../../../api/http.ts'
import { useApiMutation } from '../../../api/mutation.ts'
import { NOTIFIER_KINDS, type Notifier, type NotifierKind, notifiersQuery } from '../../../api/notification-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { MutationButton } from '../../../ui/mutation-button.tsx'
import { QueryResult } from '../../../ui/query-result.tsx'
import { Tag } from '../../../ui/status.tsx'
import { RowActions, Table } from '../../../ui/table.tsx'
import { NotifierSetup } from './notifier-setup.tsx'
import { notificationsText } from './text.ts'

const text = notificationsText.project

/** The services through which the project tells its members. */
export function ProjectNotifiers() {
  const query = useQuery(notifiersQuery)
  const [edited, setEdited] = useState<NotifierKind | null>(null)
  return (
    <QueryResult query={query}>
      {(notifiers) => (
        <>
          <Table
            label={text.table}
            columns={[notificationsText.service, text.connection, text.status]}
            actions={{ name: notificationsText.actions, minRole: 'admin' }}
          >
            {NOTIFIER_KINDS.map((kind) => (
              <NotifierRow
                key={kind}
                kind={kind}
                notifier={notifiers.find((one) => one.kind === kind) ?? null}
                onEdit={() => setEdited(kind)}
              />
            ))}
          </Table>
          {edited && (
            <NotifierSetup
              kind={edited}
              notifier={notifiers.find((one) => one.kind === edited) ?? null}
              onClose={() => setEdited(null)}
            />
          )}
        </>
      )}
    </QueryResult>
  )
}

function NotifierRow({
  kind,
  notifier,
  onEdit,
}: {
  kind: NotifierKind
  notifier: Notifier | null
  onEdit: () => void
}) {
  const service = notificationsText.services[kind]
  const remove = useApiMutation(() => callOperation('deleteNotifier', { kind }), {
    invalidates: ['notifiers', 'notifications'],
  })
  const hiddenName = <span className="sr-only"> {service}</span>
  return (
    <tr>
      <td className="font-medium">{service}</td>
      <td className={notifier ? '' : 'text-muted'}>{notifier ? (notifier.connection ?? text.deleted) : '—'}</td>
      <td>
        <NotifierStatus notifier={notifier} />
      </td>
      <RowActions minRole="admin">
        <Button small onClick={onEdit}>
          {notifier ? text.change : text.setUp}
          {hiddenName}
        </Button>
        {notifier && (
          <MutationButton small variant="danger" mutation={remove} confirmText={text.confirmRemove(service)}>
            {text.remove}
            {hiddenName}
          </MutationButton>
        )}
      </RowActions>
    </tr>
  )
}

function NotifierStatus({ notifier }: { notifier: Notifier | null }) {
  if (!notifier) return <Tag>{text.notSetUp}</Tag>
  if (notifier.connection === null) return <Tag tone="bad">{text.failing}</Tag>
  if (notifier.secret && !notifier.has_secret) return <Tag tone="wait">{text.noSecret}</Tag>
  return <Tag tone="ok">{text.ready}</Tag>
}
