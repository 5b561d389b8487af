import { Dialog } from '../ui/dialog.tsx'
import { SECTIONS } from './sections.ts'

const GROUPS: { title: string; keys: [string, string][] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl K', 'Search and commands'],
      ['?', 'This sheet'],
      ...SECTIONS.map(({ key, label }): [string, string] => [`g ${key}`, label]),
    ],
  },
  {
    title: 'Approvals',
    keys: [
      ['j / k', 'Next, previous'],
      ['a', 'Ready to approve; a or Enter again does it'],
      ['e', 'Edit the payload'],
      ['x / X', 'Pick one, pick all; a and r then answer them together'],
      ['r', 'Reject, with a reason if you like'],
    ],
  },
  {
    title: 'Lists',
    keys: [
      ['j / k', 'Next, previous'],
      ['Enter', 'Open'],
      ['n', 'Show what is new'],
    ],
  },
]

export function KeysSheet({ onClose }: { onClose: () => void }) {
  return (
    <Dialog label="Keyboard shortcuts" onClose={onClose} className="max-w-2xl">
      <div className="grid gap-6 p-5 sm:grid-cols-2">
        {GROUPS.map(({ title, keys }) => (
          <section key={title}>
            <h2 className="mb-2 font-semibold">{title}</h2>
            <dl className="grid grid-cols-[5.5rem_1fr] gap-y-1.5">
              {keys.map(([key, what]) => (
                <div key={key + what} className="contents">
                  <dt>
                    <kbd className="key-cap">{key}</kbd>
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
