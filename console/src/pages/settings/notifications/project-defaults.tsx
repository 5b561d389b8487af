import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { callOperation } from '../../../api/http.ts'
import { useApiMutation } from '../../../api/mutation.ts'
import { type NotificationSettings, projectNotificationsQuery } from '../../../api/notification-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { QueryResult } from '../../../ui/query-result.tsx'
import { showToast } from '../../../ui/toast.tsx'
import { SettingsFields } from './settings-fields.tsx'
import { notificationsText } from './text.ts'

const text = notificationsText.project

/** The settings of members who have none of their own. */
export function ProjectDefaults() {
  const query = useQuery(projectNotificationsQuery)
  return <QueryResult query={query}>{(settings) => <DefaultsForm saved={settings} />}</QueryResult>
}

function DefaultsForm({ saved }: { saved: NotificationSettings }) {
  const [settings, setSettings] = useState(saved)
  const save = useApiMutation(() => callOperation('updateNotificationSettings', { body: settings }), {
    invalidates: ['notifications'],
    onSuccess: () => showToast(notificationsText.form.saved),
  })
  return (
    <form
      aria-label={text.label}
      className="panel flex flex-col gap-4 p-4"
      onSubmit={(event) => (event.preventDefault(), save.mutate())}
    >
      <h3 className="font-medium">{text.defaults}</h3>
      <SettingsFields settings={settings} onChange={setSettings} />
      <Button type="submit" variant="primary" className="self-start" disabled={save.isPending}>
        {notificationsText.form.save}
      </Button>
    </form>
  )
}
