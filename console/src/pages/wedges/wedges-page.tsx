import type { Schemas } from '../../api/types.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { brokenWedgesQuery, wedgesQuery } from '../../api/queries.ts'
import { humanize } from '../../ui/humanize.ts'
import { EmptyState } from '../../ui/page-states.tsx'
import { Page } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { Tag } from '../../ui/status.tsx'
import { ProblemList } from './problem-list.tsx'
import { wedgesText } from './text.ts'

export function WedgesPage() {
  const query = useQuery(wedgesQuery)
  const { data: broken = [] } = useQuery(brokenWedgesQuery)
  return (
    <Page title={wedgesText.title} lead={wedgesText.lead}>
      <QueryResult query={query}>
        {(wedges) =>
          wedges.length + broken.length === 0 ? (
            <EmptyState title={wedgesText.none}>{wedgesText.noneHint}</EmptyState>
          ) : (
            <ul className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,22rem),1fr))] gap-4">
              {broken.map((wedge) => (
                <WedgeListItem key={wedge.wedge} wedge={wedge} tag={wedgesText.broken} text={null} />
              ))}
              {wedges.map((wedge) => (
                <WedgeListItem
                  key={wedge.wedge}
                  wedge={wedge}
                  tag={wedge.enabled ? null : wedgesText.notEnabled}
                  text={Object.keys(wedge.manifest.task_types).map(humanize).join(' · ')}
                />
              ))}
            </ul>
          )
        }
      </QueryResult>
    </Page>
  )
}

function WedgeListItem({
  wedge: { wedge, title, problems },
  tag,
  text,
}: {
  wedge: Schemas.WedgeSummary
  tag: string | null
  text: string | null
}) {
  return (
    <li className="panel relative flex flex-col gap-2 p-4 hover:border-line-strong">
      <div className="flex items-center gap-2">
        <h2 className="font-semibold">
          <Link to="/wedges/$wedge" params={{ wedge }} className="after:absolute after:inset-0 hover:underline">
            {title}
          </Link>
        </h2>
        {tag && <Tag>{tag}</Tag>}
      </div>
      {text && <p className="text-muted">{text}</p>}
      {problems.length > 0 && <ProblemList problems={problems} />}
    </li>
  )
}
