import { CopyButton } from './copy-button.tsx'

/** A call to take away. */
export function CurlExample({ text, label = 'The same by the API' }: { text: string; label?: string }) {
  return (
    <div className="w-full text-left">
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="overflow-x-auto rounded-md bg-sunken p-3 font-mono text-xs"
      >
        {text}
      </pre>
      <CopyButton text={() => text} label="Copy as curl" />
    </div>
  )
}
