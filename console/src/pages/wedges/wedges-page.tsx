import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { wedgesQuery } from '../../api/queries.ts'
import { humanize } from '../../ui/humanize.ts'
import { EmptyState, ErrorMessage } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { Tag } from '../../ui/status.tsx'
import { wedgesText } from './text.ts'

export function WedgesPage() {
  const query = useQuery(wedgesQuery)
  return (
    <Page title={wedgesText.title} lead={wedgesText.lead}>
      <QueryResult query={query}>
        {(wedges) =>
          wedges.length === 0 ? (
            <EmptyState title={wedgesText.none}>{wedgesText.noneHint}</EmptyState>
          ) : (
            <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,22rem),1fr))] gap-4">
              {wedges.map(({ wedge, title, manifest, enabled, problems }) => (
                <li key={wedge} className="panel relative flex flex-col gap-2 p-4 hover:border-line-strong">
                  <div className="flex items-center gap-2">
                    <h2 className="font-semibold">
                      <Link
                        to="/wedges/$wedge"
                        params={{ wedge }}
                        className="after:absolute after:inset-0 hover:underline"
                      >
                        {title}
                      </Link>
                    </h2>
                    {!enabled && <Tag>{wedgesText.notEnabled}</Tag>}
                  </div>
                  <p className="text-muted">{Object.keys(manifest.task_types).map(humanize).join(' · ')}</p>
                  {problems.map((problem) => (
                    <ErrorMessage key={problem} message={problem} />
                  ))}
                </li>
              ))}
            </ul>
          )
        }
      </QueryResult>
    </Page>
  )
}
