import { Markdown } from '../../ui/markdown.tsx'

/** Markdown documents from the wedge's folder, each collapsed under its name. */
export function DocumentList({ documents, none }: { documents: { name: string; content: string }[]; none: string }) {
  if (documents.length === 0) return <p className="text-muted">{none}</p>
  return documents.map(({ name, content }) => (
    <details key={name} className="panel px-4 py-2">
      <summary className="font-medium">{name}</summary>
      <div className="py-2">
        <Markdown text={content} />
      </div>
    </details>
  ))
}
