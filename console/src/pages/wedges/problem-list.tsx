import type { WedgeProblem } from '../../api/types.ts'

/** The errors of a wedge, each with its file and line. */
export function ProblemList({ problems }: { problems: WedgeProblem[] }) {
  return (
    <ul className="flex flex-col gap-1 rounded-md bg-bad-soft px-3 py-2 text-bad">
      {problems.map(({ file, line, message }) => (
        <li key={`${file}:${line} ${message}`} className="break-words">
          <code className="font-mono text-xs">
            {file}:{line}
          </code>{' '}
          {message}
        </li>
      ))}
    </ul>
  )
}
