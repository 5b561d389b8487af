import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/http.ts'
import { wedgesQuery } from '../../api/queries.ts'
import type { Cadence } from '../../api/setup.ts'
import { useWrite } from '../../api/write.ts'
import { Area, Choice, Text } from '../../ui/form.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { humanize } from '../../ui/json.tsx'

export function ScheduleForm({ onClose }: { onClose: () => void }) {
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState({ wedge: '', type: '' })
  const [kind, setKind] = useState<Cadence['kind']>('daily')
  const [when, setWhen] = useState({ minutes: '60', day: '1', time: '08:30' })
  const [input, setInput] = useState('{}')
  const wedge = wedges.find((one) => one.wedge === chosen.wedge) ?? wedges[0]
  const types = Object.keys(wedge?.manifest.task_types ?? {})
  const task_type = types.find((type) => type === chosen.type) ?? types[0]
  const save = useWrite(
    async () => {
      const body = { name, wedge: wedge?.wedge, task_type, cadence: cadenceOf(kind, when), input: parsed(input) }
      return call('/v1/schedules', { method: 'POST', body })
    },
    { stale: ['schedules'], onDone: onClose },
  )
  return (
    <FormDialog
      title="New schedule"
      submit="Save"
      ready={name.trim() !== '' && task_type !== undefined}
      busy={save.isPending}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <Text label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <Choice
        label="Wedge"
        value={wedge?.wedge ?? ''}
        options={wedges.map(({ wedge, title }) => [wedge, title])}
        onChange={(to) => setChosen({ wedge: to, type: '' })}
      />
      <Choice
        label="Task type"
        value={task_type ?? ''}
        options={types.map((type) => [type, humanize(type)])}
        onChange={(type) => setChosen({ wedge: wedge?.wedge ?? '', type })}
      />
      <When kind={kind} when={when} onKind={setKind} onWhen={setWhen} />
      <Area label="Input as JSON" mono value={input} onChange={setInput} />
    </FormDialog>
  )
}

const KINDS: [Cadence['kind'], string][] = [
  ['every', 'Every so often'],
  ['daily', 'Every day'],
  ['monthly', 'Every month'],
]

type Given = { minutes: string; day: string; time: string }

function When({
  kind,
  when,
  onKind,
  onWhen,
}: {
  kind: Cadence['kind']
  when: Given
  onKind: (kind: Cadence['kind']) => void
  onWhen: (when: Given) => void
}) {
  const field = (name: keyof Given, label: string, type: string) => (
    <Text
      label={label}
      type={type}
      min={1}
      max={name === 'day' ? 31 : undefined}
      value={when[name]}
      onChange={(event) => onWhen({ ...when, [name]: event.target.value })}
    />
  )
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Choice
        label="When"
        value={kind}
        options={KINDS}
        onChange={(to) => onKind(KINDS.find(([one]) => one === to)?.[0] ?? kind)}
      />
      {kind === 'every' && field('minutes', 'Minutes', 'number')}
      {kind === 'monthly' && field('day', 'Day', 'number')}
      {kind !== 'every' && field('time', 'At (UTC)', 'time')}
    </div>
  )
}

function cadenceOf(kind: Cadence['kind'], { minutes, day, time }: Given): Cadence {
  if (kind === 'every') return { kind, seconds: Math.round(Number(minutes) * 60) }
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  return kind === 'daily' ? { kind, hour, minute } : { kind, day: Number(day), hour, minute }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text || '{}')
  } catch {
    throw new Error('the input is not JSON')
  }
}
