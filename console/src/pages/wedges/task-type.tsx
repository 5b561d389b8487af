import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wedgesQuery } from '../../api/queries.ts'
import { Select } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'

export interface TaskTypeChoice {
  wedge: string
  task_type: string
  wedges: [string, string][]
  types: [string, string][]
  choose: (wedge: string, task_type: string) => void
}

/** The first there is until somebody chooses. What was chosen once stays, also when its wedge is gone since. */
export function useTaskType(before = { wedge: '', task_type: '' }): TaskTypeChoice {
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const [chosen, setChosen] = useState(before)
  const wedge = chosen.wedge || (wedges[0]?.wedge ?? '')
  const known = wedges.find((one) => one.wedge === wedge)
  const types = known ? Object.keys(known.manifest.task_types) : [chosen.task_type]
  return {
    wedge,
    task_type: types.find((type) => type === chosen.task_type) ?? types[0] ?? '',
    wedges: [...(known ? [] : [wedge]), ...wedges].map((one) => (typeof one === 'string' ? [one, one] : titled(one))),
    types: types.map((type) => [type, humanize(type)]),
    choose: (to, task_type) => setChosen({ wedge: to, task_type }),
  }
}

const titled = ({ wedge, title }: { wedge: string; title: string }): [string, string] => [wedge, title]

export function TaskTypeFields({ chosen }: { chosen: TaskTypeChoice }) {
  const { wedge, task_type, wedges, types, choose } = chosen
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select label="Wedge" value={wedge} options={wedges} onChange={(to) => choose(to, '')} />
      <Select label="Task type" value={task_type} options={types} onChange={(to) => choose(wedge, to)} />
    </div>
  )
}
