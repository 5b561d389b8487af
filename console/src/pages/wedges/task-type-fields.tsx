import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { wedgesQuery } from '../../api/queries.ts'
import type { WedgeManifest } from '../../api/types.ts'
import { Select } from '../../ui/form-fields.tsx'
import { humanize } from '../../ui/humanize.ts'
import { wedgesText } from './text.ts'

type TaskType = WedgeManifest['task_types'][string]

export interface TaskTypeChoice {
  wedge: string
  task_type: string
  wedges: [string, string][]
  types: [string, string][]
  choose: (wedge: string, task_type: string) => void
}

/**
 * Starts with the first wedge and its first task type, or the first one that fits. An initial choice stays selectable after
 * its wedge was removed.
 */
export function useTaskType(
  initial = { wedge: '', task_type: '' },
  fits: (type: TaskType) => boolean = () => true,
): TaskTypeChoice {
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const [chosen, setChosen] = useState(initial)
  const wedge = chosen.wedge || (wedges[0]?.wedge ?? '')
  const installed = wedges.find((candidate) => candidate.wedge === wedge)
  const declared = Object.entries(installed?.manifest.task_types ?? {})
  const fitting = declared.find(([, type]) => fits(type))?.[0]
  const types = installed ? Object.keys(installed.manifest.task_types) : [chosen.task_type]
  return {
    wedge,
    task_type: types.find((type) => type === chosen.task_type) ?? fitting ?? types[0] ?? '',
    wedges: [...(installed ? [] : [{ wedge, title: wedge }]), ...wedges].map(({ wedge, title }) => [wedge, title]),
    types: types.map((type) => [type, humanize(type)]),
    choose: (to, task_type) => setChosen({ wedge: to, task_type }),
  }
}

export function TaskTypeFields({ chosen }: { chosen: TaskTypeChoice }) {
  const { wedge, task_type, wedges, types, choose } = chosen
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Select label={wedgesText.wedge} value={wedge} options={wedges} onChange={(to) => choose(to, '')} />
      <Select label={wedgesText.taskType} value={task_type} options={types} onChange={(to) => choose(wedge, to)} />
    </div>
  )
}
