import { Dialog } from '../ui/dialog.tsx'
import { useHasRole } from '../ui/role.tsx'
import { type NavItem, useNavItems } from './nav-items.ts'
import { shellText } from './text.ts'

const text = shellText.shortcuts

interface ShortcutGroup {
  title: string
  keys: [string, string][]
}

const shortcutGroups = (navItems: NavItem[], canDecide: boolean): ShortcutGroup[] => [
  {
    title: text.everywhere,
    keys: [
      [shellText.searchShortcut, text.search],
      ['?', text.title],
      ...navItems.map(({ shortcut, label }): [string, string] => [`g ${shortcut}`, label]),
    ],
  },
  {
    title: text.approvals,
    keys: [['j / k', text.nextPrevious], ...(canDecide ? DECISIONS : [])],
  },
  {
    title: text.conversations,
    keys: [['j / k', text.nextPrevious], ...(canDecide ? ANSWERS : [])],
  },
  {
    title: text.lists,
    keys: [
      ['j / k', text.nextPrevious],
      ['Enter', text.open],
      ['n', text.loadNew],
    ],
  },
]

const DECISIONS: [string, string][] = [
  ['a', text.approve],
  ['u', text.undo],
  ['e', text.edit],
  ['x / X', text.select],
  ['v', text.revise],
  ['r', text.reject],
]

const ANSWERS: [string, string][] = [
  ['c', text.reply],
  ['t', text.takeOver],
  ['a', text.approve],
  ['e', text.edit],
  ['v', text.revise],
]

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const groups = shortcutGroups(useNavItems(), useHasRole()('operator'))
  return (
    <Dialog label={text.title} onClose={onClose} className="max-w-2xl">
      <div className="grid gap-6 p-5 sm:grid-cols-2">
        {groups.map(({ title, keys }) => (
          <section key={title}>
            <h2 className="mb-2 font-semibold">{title}</h2>
            <dl className="grid grid-cols-[5.5rem_1fr] gap-y-1.5">
              {keys.map(([key, effect]) => (
                <div key={key + effect} className="contents">
                  <dt>
                    <kbd className="key-cap">{key}</kbd>
                  </dt>
                  <dd>{effect}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
