import type { WedgeDetail } from '../../api/setup-queries.ts'
import { formatBytes } from '../../ui/format.ts'
import { Markdown } from '../../ui/markdown.tsx'
import { wedgesText } from './text.ts'

/** Skills as folders: the description is shown at once, as the agent sees it; instructions and files are collapsed. */
export function SkillFolderList({ folders }: { folders: WedgeDetail['skill_folders'] }) {
  return folders.map(({ name, description, content, files }) => (
    <details key={name} className="panel px-4 py-2">
      <summary className="font-medium">
        {name} <span className="font-normal text-muted">{description}</span>
      </summary>
      <div className="space-y-2 py-2">
        <Markdown text={content} />
        <p className="font-medium">{wedgesText.skillFiles}</p>
        <ul className="text-muted">
          {files.map(({ path, size }) => (
            <li key={path}>
              <code>{path}</code> ({formatBytes(size)})
            </li>
          ))}
        </ul>
      </div>
    </details>
  ))
}
