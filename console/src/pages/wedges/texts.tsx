import { Markdown } from '../../ui/markdown.tsx'

/** Texts that the wedge's folder brought, each behind its name. */
export function Texts({ texts, none }: { texts: { name: string; content: string }[]; none: string }) {
  if (texts.length === 0) return <p className="text-muted">{none}</p>
  return texts.map(({ name, content }) => (
    <details key={name} className="panel px-4 py-2">
      <summary className="font-medium">{name}</summary>
      <div className="py-2">
        <Markdown text={content} />
      </div>
    </details>
  ))
}
