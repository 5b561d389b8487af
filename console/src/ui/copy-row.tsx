import { CopyButton } from './copy-button.tsx'

/** A text that is pasted elsewhere, with a button that copies it. */
export function CopyRow({ label, text }: { label: string; text: string }) {
  return (
    <section aria-label={label} className="flex flex-col gap-1">
      <h3 className="font-medium">{label}</h3>
      <div className="flex items-start gap-2 rounded-md bg-sunken p-2">
        <code className="min-w-0 grow font-mono text-xs leading-7 break-all">{text}</code>
        <CopyButton text={() => text} />
      </div>
    </section>
  )
}
