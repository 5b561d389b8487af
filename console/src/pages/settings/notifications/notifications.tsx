import { useQuery } from '@tanstack/react-query'
import { myNotificationsQuery, notifiersQuery } from '../../../api/notification-queries.ts'
import { RequireRole, RoleHint } from '../../../ui/role.tsx'
import { Section } from '../../../ui/page.tsx'
import { MyNotificationSettings } from './my-notifications.tsx'
import { ProjectDefaults } from './project-defaults.tsx'
import { ProjectNotifiers } from './project-notifiers.tsx'
import { notificationsText } from './text.ts'

/** How members hear about approvals: their own accounts and settings, then those of the project. */
export function Notifications({ isKey }: { isKey: boolean }) {
  const { mine } = notificationsText
  const { isPending } = useQuery({ ...myNotificationsQuery, enabled: !isKey })
  return (
    <>
      <Section title={mine.title}>
        {isKey ? <p className="panel p-4 text-muted">{mine.signInWithAccount}</p> : <MyNotificationSettings />}
      </Section>
      {/* Each part waits for the one above it, so that nothing moves when that one is loaded. */}
      {(isKey || !isPending) && <ProjectNotifications />}
    </>
  )
}

function ProjectNotifications() {
  const { project } = notificationsText
  return (
    <Section title={project.title}>
      <p className="text-muted">{project.lead}</p>
      <RequireRole minRole="admin" fallback={<RoleHint>{project.roleHint}</RoleHint>}>
        <ProjectNotifiers />
        <DefaultsBelow />
      </RequireRole>
    </Section>
  )
}

function DefaultsBelow() {
  const { isPending } = useQuery(notifiersQuery)
  return isPending ? null : <ProjectDefaults />
}
