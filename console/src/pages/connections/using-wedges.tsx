import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { wedgesQuery } from '../../api/queries.ts'
import { declaredTools } from '../../ui/declared-connections.ts'
import { QueryResult } from '../../ui/query-result.tsx'
import { connectionsText } from './text.ts'

/** The wedges that name the connection in their wedge.json. */
export function UsingWedges({ name }: { name: string }) {
  const query = useQuery(wedgesQuery)
  return (
    <QueryResult query={query} height="h-5">
      {(wedges) => {
        const using = wedges.filter(({ manifest }) => declaredTools(manifest, name) !== undefined)
        if (using.length === 0) return <p className="text-muted">{connectionsText.usedByNone(name)}</p>
        return (
          <ul className="flex flex-col gap-1">
            {using.map(({ wedge, title, manifest }) => (
              <li key={wedge} className="flex flex-wrap items-baseline gap-x-2">
                <Link to="/wedges/$wedge" params={{ wedge }} className="text-accent underline underline-offset-2">
                  {title}
                </Link>
                <span className="text-xs text-muted">
                  {connectionsText.usedTools(declaredTools(manifest, name) ?? null)}
                </span>
              </li>
            ))}
          </ul>
        )
      }}
    </QueryResult>
  )
}
