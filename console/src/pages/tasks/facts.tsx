import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { request } from '../../api/http.ts'
import type { Artifact, Task } from '../../api/types.ts'
import { save } from '../../ui/save.ts'
import { Status } from '../../ui/status.tsx'
import { Ago, bytes, dollars, duration, useNow } from '../../ui/time.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import type { Story } from './fold.ts'

/** What is true of the whole task, beside its story. */
export function TaskFacts({ task, story }: { task: Task; story: Story }) {
  const cost = Math.max(task.cost_usd, story.cost)
  return (
    <aside aria-label="About this task" className="flex flex-col gap-4 max-lg:contents">
      <dl className="panel grid grid-cols-[auto_1fr] gap-x-4 gap-y-2 p-4 max-lg:order-first max-lg:sm:grid-cols-[auto_1fr_auto_1fr]">
        <Fact name="Status">
          <Status status={task.status} />
        </Fact>
        <Fact name="Took">
          <Took task={task} />
        </Fact>
        <Fact name="Cost">
          <span className="tabular-nums">
            {dollars(cost)} <span className="text-muted">of {dollars(task.constraints.max_cost_usd)}</span>
          </span>
        </Fact>
        <Fact name="Tokens">{story.tokens > 0 ? story.tokens.toLocaleString('en') : '—'}</Fact>
        <Fact name="Created">
          <Ago ts={task.created_at} />
        </Fact>
        {task.retry_of && (
          <Fact name="Retry of">
            <Link to="/tasks/$taskId" params={{ taskId: task.retry_of }} className="text-accent underline">
              an earlier task
            </Link>
          </Fact>
        )}
        {task.case_id && (
          <Fact name="Case">
            <Link to="/tasks" search={{ case_id: task.case_id }} className="text-accent underline">
              all its tasks
            </Link>
          </Fact>
        )}
        {task.client_id && (
          <Fact name="Client">
            <Link to="/clients/$clientId" params={{ clientId: task.client_id }} className="text-accent underline">
              {task.client_id.slice(-8)}
            </Link>
          </Fact>
        )}
        {task.thread_id && (
          <Fact name="Conversation">
            <Link to="/threads/$threadId" params={{ threadId: task.thread_id }} className="text-accent underline">
              {task.thread_id.slice(-8)}
            </Link>
          </Fact>
        )}
      </dl>
      <Artifacts artifacts={task.artifacts} />
    </aside>
  )
}

function Artifacts({ artifacts }: { artifacts: Artifact[] }) {
  return (
    <section className="panel px-4 py-3">
      <h2 className="mb-1 text-xs font-semibold text-muted">Artifacts</h2>
      {artifacts.length === 0 && <p className="h-7 leading-7 text-muted">None yet</p>}
      <ul>
        {artifacts.map((artifact) => (
          <ArtifactLine key={artifact.id} artifact={artifact} />
        ))}
      </ul>
    </section>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="contents">
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 truncate text-right max-lg:sm:text-left">{children}</dd>
    </div>
  )
}

function Took({ task }: { task: Task }) {
  const now = useNow(500)
  if (!task.started_at) return <span className="text-muted">not started</span>
  const end = task.finished_at ? Date.parse(task.finished_at) : now
  return <span className="tabular-nums">{duration(end - Date.parse(task.started_at))}</span>
}

function ArtifactLine({ artifact }: { artifact: Artifact }) {
  const download = useMutation({ mutationFn: () => save(request(`/v1/artifacts/${artifact.id}`), artifact.name) })
  return (
    <li className="flex items-center gap-2">
      <span className="truncate font-mono text-xs">{artifact.name}</span>
      <span className="ml-auto text-xs whitespace-nowrap text-muted">{bytes(artifact.size)}</span>
      <WriteButton
        small
        look="ghost"
        aria-label={`Download ${artifact.name}`}
        write={download}
        icon={<Download size={14} />}
      />
    </li>
  )
}
