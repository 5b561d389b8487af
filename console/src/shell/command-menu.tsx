import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useState } from 'react'
import { newestTasksQuery, wedgesQuery } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useHasRole } from '../ui/role.tsx'
import { statusLabel } from '../ui/status.tsx'
import { useSignOut } from './nav.tsx'
import { useNavItems } from './nav-items.ts'
import { shellText } from './text.ts'
import { useTheme } from './theme.ts'

interface Command {
  id: string
  label: string
  hint: string
  run: () => void
}

const MAX_RESULTS = 12

export function CommandMenu({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const commands = useCommands(text)
  const canRun = useHasRole()('operator')
  const results = commands.filter((command) => matches(command, text)).slice(0, MAX_RESULTS)
  const run = (command: Command | undefined) => {
    if (!command) return
    onClose()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setAt((at + step + results.length) % Math.max(1, results.length))
    else if (event.key === 'Enter') run(results[at])
    else return
    event.preventDefault()
  }
  return (
    <Dialog label={shellText.commandMenu.label} onClose={onClose} className="mt-[12vh] max-w-xl overflow-hidden">
      <input
        autoFocus
        role="combobox"
        aria-expanded={results.length > 0}
        aria-controls={results.length > 0 ? 'commands' : undefined}
        aria-activedescendant={results[at] ? `command-${results[at].id}` : undefined}
        aria-label={shellText.commandMenu.label}
        placeholder={canRun ? shellText.commandMenu.placeholder : shellText.commandMenu.readOnlyPlaceholder}
        className="h-12 w-full border-b border-line bg-transparent px-4 text-base outline-none"
        value={text}
        onChange={(event) => (setText(event.target.value), setAt(0))}
        onKeyDown={onKeyDown}
      />
      <Commands results={results} at={at} onHover={setAt} onRun={run} />
    </Dialog>
  )
}

function Commands({
  results,
  at,
  onHover,
  onRun,
}: {
  results: Command[]
  at: number
  onHover: (at: number) => void
  onRun: (command: Command) => void
}) {
  if (results.length === 0) return <p className="p-4 text-muted">{shellText.commandMenu.noResults}</p>
  return (
    <ul
      id="commands"
      role="listbox"
      aria-label={shellText.commandMenu.commands}
      className="max-h-96 overflow-y-auto p-1.5"
    >
      {results.map((command, i) => (
        <li
          key={command.id}
          id={`command-${command.id}`}
          role="option"
          aria-selected={i === at}
          onMouseMove={() => onHover(i)}
          onClick={() => onRun(command)}
          className="flex h-9 cursor-pointer items-center gap-2 rounded-md px-2.5 aria-selected:bg-accent-soft aria-selected:text-accent"
        >
          <span className="truncate">{command.label}</span>
          <span className="ml-auto truncate text-xs text-muted">{command.hint}</span>
        </li>
      ))}
    </ul>
  )
}

function useCommands(text: string): Command[] {
  const navigate = useNavigate()
  const [theme, nextTheme] = useTheme()
  const signOut = useSignOut()
  const navItems = useNavItems()
  const canRun = useHasRole()('operator')
  const { data: wedges = [] } = useQuery(wedgesQuery)
  const { data: tasks = [] } = useQuery(newestTasksQuery({}))
  const go = (id: string) => void navigate({ to: '/tasks/$taskId', params: { taskId: id } })
  const typed = text.trim()
  return [
    ...(/^task_[a-z0-9]{26}$/.test(typed)
      ? [
          {
            id: typed,
            label: shellText.commandMenu.openTask(typed),
            hint: shellText.commandMenu.task,
            run: () => go(typed),
          },
        ]
      : []),
    ...navItems.map(({ to, label, shortcut }) => ({
      id: to,
      label,
      hint: `g ${shortcut}`,
      run: () => void navigate({ to }),
    })),
    ...(canRun ? wedges : []).flatMap(({ wedge, title, manifest }) =>
      Object.keys(manifest.task_types).map((task_type) => ({
        id: `${wedge}/${task_type}`,
        label: shellText.commandMenu.run(title, task_type.replaceAll('_', ' ')),
        hint: wedge,
        run: () => void navigate({ to: '/run', search: { wedge, task_type } }),
      })),
    ),
    { id: 'theme', label: shellText.commandMenu.changeTheme, hint: theme, run: nextTheme },
    { id: 'sign-out', label: shellText.signOut, hint: '', run: () => void signOut() },
    ...tasks.map(({ id, wedge, task_type, status, summary }) => ({
      id,
      label: summary || `${wedge} / ${task_type}`,
      hint: `${task_type} · ${statusLabel(status)}`,
      run: () => go(id),
    })),
  ]
}

/** Whether the command contains every typed word. */
function matches({ label, hint, id }: Command, text: string): boolean {
  const all = `${label} ${hint} ${id}`.toLowerCase()
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word))
}
