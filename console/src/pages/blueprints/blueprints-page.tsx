import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useId } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { type Blueprint, blueprintsQuery, readinessQuery } from '../../api/setup-queries.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { EmptyState } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RoleHint, useHasRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { showToast } from '../../ui/toast.tsx'
import { OauthResult } from '../connections/oauth-result.tsx'
import { ProjectRules } from './project-rules.tsx'
import { SetupChecklist } from './setup-checklist.tsx'
import { blueprintsText } from './text.ts'

const route = getRouteApi('/shell/blueprints')

/** Blueprints to choose from, and the setup checklist of the chosen one. */
export function BlueprintsPage() {
  const query = useQuery(blueprintsQuery)
  const { slug, ...oauth } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page title={blueprintsText.title} lead={blueprintsText.lead}>
      <OauthResult {...oauth} />
      <QueryResult query={query}>
        {(blueprints) => {
          const chosen = blueprints.find(({ blueprint }) => blueprint === slug) ?? blueprints[0]
          if (!chosen) return <EmptyState title={blueprintsText.none}>{blueprintsText.noneHint}</EmptyState>
          return (
            <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[22rem_minmax(0,1fr)]">
              <ul aria-label={blueprintsText.title} className="panel divide-y divide-line overflow-hidden">
                {blueprints.map(({ blueprint, title, summary, active }) => (
                  <li key={blueprint}>
                    <button
                      type="button"
                      aria-pressed={blueprint === chosen.blueprint}
                      onClick={() => void navigate({ search: { slug: blueprint } })}
                      className="flex w-full flex-col gap-1 px-4 py-3 text-left -outline-offset-2 hover:bg-hover aria-pressed:bg-accent-soft"
                    >
                      <span className="flex w-full items-center gap-2 font-medium">
                        {title} {active && <Tag tone="ok">{blueprintsText.active}</Tag>}
                      </span>
                      <span className="text-muted">{summary}</span>
                    </button>
                  </li>
                ))}
              </ul>
              <BlueprintDetail key={chosen.blueprint} blueprint={chosen} />
            </div>
          )
        }}
      </QueryResult>
    </Page>
  )
}

function BlueprintDetail({
  blueprint: { blueprint, wedge, title, sells_as, installed, active },
}: {
  blueprint: Blueprint
}) {
  const canSetUp = useHasRole()('admin')
  const { data: readiness } = useQuery(readinessQuery(blueprint))
  const missing = readiness?.items.filter(({ ok }) => !ok) ?? []
  const missingId = useId()
  const invalidates = ['blueprints', 'connections', 'schedules', 'wedges']
  const provision = useApiMutation(() => callOperation('provisionBlueprint', { slug: blueprint }), {
    invalidates,
    onSuccess: () => showToast(blueprintsText.setUpDone),
  })
  const activate = useApiMutation(() => callOperation('activateBlueprint', { slug: blueprint }), {
    invalidates,
    onSuccess: () => showToast(blueprintsText.activated(title)),
  })
  return (
    <section className="panel flex flex-col gap-4 p-5">
      <header className="flex flex-wrap items-center gap-2">
        <h2 className="text-base font-semibold">{title}</h2>
        <span className="ml-auto flex gap-2">
          {canSetUp && !installed && (
            <MutationButton variant="primary" mutation={provision}>
              {blueprintsText.setUp}
            </MutationButton>
          )}
          {canSetUp && installed && !active && (
            <MutationButton
              variant="primary"
              mutation={activate}
              disabled={!readiness?.ready}
              aria-describedby={missing.length > 0 ? missingId : undefined}
            >
              {blueprintsText.activate}
            </MutationButton>
          )}
        </span>
      </header>
      <p className="text-muted">{sells_as}</p>
      <ProjectRules wedge={wedge} />
      {canSetUp && installed && !active && missing.length > 0 && (
        <p id={missingId} className="text-wait">
          {blueprintsText.missing(missing.map(({ detail }) => detail))}
        </p>
      )}
      {!active && !canSetUp && <RoleHint>{blueprintsText.adminHint}</RoleHint>}
      <SetupChecklist blueprint={blueprint} />
    </section>
  )
}
