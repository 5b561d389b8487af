import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { wedgesQuery } from '../../api/queries.ts'
import { EmptyState, ErrorMessage } from '../../ui/page-states.tsx'
import { humanize } from '../../ui/humanize.ts'
import { QueryResult } from '../../ui/query-result.tsx'
import { Page } from '../../ui/page.tsx'
import { Tag } from '../../ui/status.tsx'

export function WedgeList() {
  const query = useQuery(wedgesQuery)
  return (
    <Page title="Wedges" lead="Each is a folder: what an agent may do, what it knows and when it asks.">
      <QueryResult query={query}>
        {(wedges) =>
          wedges.length === 0 ? (
            <EmptyState title="There is no wedge yet">
              A wedge is a folder with a wedge.json. Put one into the wedges folder and it appears here by itself.
            </EmptyState>
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
                    {!enabled && <Tag>not enabled</Tag>}
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
