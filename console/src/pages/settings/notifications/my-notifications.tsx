import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation } from '../../../api/http.ts'
import { useApiMutation } from '../../../api/mutation.ts'
import {
  type MyNotifications,
  myNotificationsQuery,
  type NotificationSettings,
  NOTIFIER_KINDS,
  RISKS,
} from '../../../api/notification-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Select } from '../../../ui/form-fields.tsx'
import { QueryResult } from '../../../ui/query-result.tsx'
import { RoleHint, useHasRole } from '../../../ui/role.tsx'
import { showToast } from '../../../ui/toast.tsx'
import { ConfirmMail } from './confirm-mail.tsx'
import { MyLinks } from './my-links.tsx'
import { SettingsFields } from './settings-fields.tsx'
import { notificationsText } from './text.ts'

const text = notificationsText.mine

/** The accounts and the settings of the signed-in member. */
export function MyNotificationSettings() {
  const query = useQuery(myNotificationsQuery)
  const hasRole = useHasRole()
  return (
    <>
      <p className="text-muted">{text.lead}</p>
      {!hasRole('operator') && <RoleHint>{text.viewerHint}</RoleHint>}
      <ConfirmMail />
      <QueryResult query={query}>
        {(mine) => (
          <>
            <MyLinks mine={mine} />
            <MySettingsForm mine={mine} />
          </>
        )}
      </QueryResult>
    </>
  )
}

function MySettingsForm({ mine }: { mine: MyNotifications }) {
  const [own, setOwn] = useState(mine.settings)
  const shown = own ?? mine.project_settings
  const save = useApiMutation(() => callOperation('updateMyNotifications', { body: { settings: own } }), {
    invalidates: ['notifications'],
    onSuccess: () => showToast(notificationsText.form.saved),
  })
  return (
    <form
      aria-label={text.label}
      className="panel flex flex-col gap-4 p-4"
      onSubmit={(event) => (event.preventDefault(), save.mutate())}
    >
      <div className="max-w-sm">
        <Select
          label={text.settings}
          value={own ? 'own' : 'project'}
          options={[
            ['project', text.useProject],
            ['own', text.useOwn],
          ]}
          onChange={(to) => setOwn(to === 'own' ? mine.project_settings : null)}
        />
      </div>
      <fieldset disabled={own === null} className="flex flex-col gap-4">
        <SettingsFields settings={shown} onChange={setOwn} />
      </fieldset>
      <UnlinkedHint mine={mine} settings={shown} />
      <Button type="submit" variant="primary" className="self-start" disabled={save.isPending}>
        {notificationsText.form.save}
      </Button>
    </form>
  )
}

/** Names the services that the settings use and that the member has not linked. */
function UnlinkedHint({
  mine: { links, available },
  settings,
}: {
  mine: MyNotifications
  settings: NotificationSettings
}) {
  const used = NOTIFIER_KINDS.filter((kind) =>
    RISKS.some((risk) => settings[risk].when !== 'never' && settings[risk].via.includes(kind)),
  )
  const unlinked = used.filter((kind) => available.includes(kind) && !links.some((link) => link.kind === kind))
  if (unlinked.length === 0) return null
  const services = unlinked.map((kind) => notificationsText.services[kind]).join(', ')
  return (
    <p role="status" className="rounded-md bg-wait-soft px-3 py-2 text-wait">
      {text.unlinked(services)}
    </p>
  )
}
