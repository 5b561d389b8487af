import { useRef } from 'react'
import { sendFile } from '../../api/file-queries.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { readDataUrl } from '../../ui/read-data-url.ts'
import { settingsText } from './text.ts'

const text = settingsText.brand

/** An uploaded image, and where the browser finds it. */
export interface ChosenImage {
  id: string
  url: string
}

/** Uploads an image as soon as it is chosen. It becomes part of the brand when the brand is saved. */
export function ImageField({
  label,
  image,
  onChange,
}: {
  label: string
  image: ChosenImage | null
  onChange: (image: ChosenImage | null) => void
}) {
  const input = useRef<HTMLInputElement>(null)
  const upload = useApiMutation(uploadImage, { invalidates: [], onSuccess: onChange })
  return (
    <div role="group" aria-label={label} className="flex flex-col gap-1">
      <span className="font-medium">{label}</span>
      <div className="flex items-center gap-2">
        {image && <img src={image.url} alt="" className="h-8 max-w-32 rounded object-contain" />}
        <Button disabled={upload.isPending} onClick={() => input.current?.click()}>
          {text.choose}
          <span className="sr-only"> {label}</span>
        </Button>
        {image && (
          <Button variant="ghost" onClick={() => onChange(null)}>
            {text.remove}
            <span className="sr-only"> {label}</span>
          </Button>
        )}
      </div>
      <p className="text-xs text-muted">{text.imageHint}</p>
      <input
        ref={input}
        type="file"
        accept="image/png,image/jpeg,image/gif,image/webp,image/svg+xml,image/x-icon"
        hidden
        data-field={label}
        onChange={(event) => {
          const [file] = event.target.files ?? []
          if (file) upload.mutate(file)
          event.target.value = ''
        }}
      />
    </div>
  )
}

/** The browser guesses the type from the name, and the service finds it in the bytes. */
async function uploadImage(file: File): Promise<ChosenImage> {
  requireImage(file.name, file.type)
  const stored = await sendFile(file)
  requireImage(file.name, stored.content_type)
  // Shown before the brand is saved.
  return { id: stored.id, url: await readDataUrl(file) }
}

function requireImage(name: string, type: string): void {
  if (!type.startsWith('image/')) throw new Error(text.notAnImage(name))
}
