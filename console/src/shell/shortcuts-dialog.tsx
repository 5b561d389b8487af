import { Dialog } from '../ui/dialog.tsx'
import { useHasRole } from '../ui/role.tsx'
import { type NavItem, useNavItems } from './nav-items.ts'

interface ShortcutGroup {
  title: string
  keys: [string, string][]
}

const groupsFor = (sections: NavItem[], mayDecide: boolean): ShortcutGroup[] => [
  {
    title: 'Everywhere',
    keys: [
      ['Ctrl K', 'Search and commands'],
      ['?', 'This sheet'],
      ...sections.map(({ shortcut, label }): [string, string] => [`g ${shortcut}`, label]),
    ],
  },
  {
    title: 'Approvals',
    keys: [['j / k', 'Next, previous'], ...(mayDecide ? DECISIONS : [])],
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

const DECISIONS: [string, string][] = [
  ['a', 'Ready to approve; a or Enter again does it'],
  ['e', 'Edit the payload'],
  ['x / X', 'Pick one, pick all; a and r then answer them together'],
  ['r', 'Reject, with a reason if you like'],
]

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const groups = groupsFor(useNavItems(), useHasRole()('operator'))
  return (
    <Dialog label="Keyboard shortcuts" onClose={onClose} className="max-w-2xl">
      <div className="grid gap-6 p-5 sm:grid-cols-2">
        {groups.map(({ title, keys }) => (
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
