import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation } from '../../../api/http.ts'
import { useApiMutation } from '../../../api/mutation.ts'
import type { Notifier, NotifierKind } from '../../../api/notification-queries.ts'
import { type Connection, connectionsQuery } from '../../../api/setup-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyRow } from '../../../ui/copy-row.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { SecretForm } from '../../../ui/secret-form.tsx'
import { showToast } from '../../../ui/toast.tsx'
import { ConnectionSelect } from '../../connections/connection-select.tsx'
import { notificationsText } from './text.ts'

const text = notificationsText.setup

/** Sets up one service: the steps, the connection, and then the secret and the address to register. */
export function NotifierSetup({
  kind,
  notifier,
  onClose,
}: {
  kind: NotifierKind
  notifier: Notifier | null
  onClose: () => void
}) {
  const title = text.title(notificationsText.services[kind])
  return (
    <Dialog label={title} onClose={onClose} className="max-w-xl">
      <div className="flex flex-col gap-4 p-5">
        <h2 className="text-base font-semibold">{title}</h2>
        <ol className="flex list-decimal flex-col gap-1 pl-5">
          {text.steps[kind].map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <ConnectionForm kind={kind} notifier={notifier} />
        {notifier?.secret && (
          <SecretForm
            onSave={(value) => callOperation('setNotifierSecret', { kind, body: { value } })}
            invalidates={['notifiers']}
            what={notifier.secret}
            hasSecret={notifier.has_secret}
          />
        )}
        {notifier?.hook_url && <CopyRow label={text.hookUrl} text={notifier.hook_url} />}
        <Button className="self-end" onClick={onClose}>
          {text.done}
        </Button>
      </div>
    </Dialog>
  )
}

function ConnectionForm({ kind, notifier }: { kind: NotifierKind; notifier: Notifier | null }) {
  const [chosenId, setChosenId] = useState(notifier?.connection_id ?? '')
  const { data: connections = [] } = useQuery(connectionsQuery)
  const connection = connections.find(({ id }) => id === chosenId)?.name ?? ''
  const save = useApiMutation(() => callOperation('setNotifier', { kind, body: { connection } }), {
    invalidates: ['notifiers', 'notifications'],
    onSuccess: () => showToast(text.saved(notificationsText.services[kind])),
  })
  const fits = ({ kind: connected, owner }: Connection) =>
    owner.kind === 'founder' && (connected === 'email') === (kind === 'mail')
  return (
    <form className="flex items-end gap-2 *:first:grow" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
      <div>
        <ConnectionSelect
          label={notificationsText.project.connection}
          value={chosenId}
          fits={fits}
          onChange={setChosenId}
        />
      </div>
      <Button
        type="submit"
        variant={notifier ? 'plain' : 'primary'}
        disabled={connection === '' || chosenId === notifier?.connection_id || save.isPending}
      >
        {text.save}
      </Button>
    </form>
  )
}
