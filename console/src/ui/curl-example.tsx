import { CopyButton } from './copy-button.tsx'
import { uiText } from './text.ts'

/** An API call as a curl command, to copy. */
export function CurlExample({ text, label = uiText.curlExample }: { text: string; label?: string }) {
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
      <CopyButton text={() => text} label={uiText.copyAsCurl} />
    </div>
  )
}
