import { CircleUser, Plus } from 'lucide-react'
import { Button } from '../ui/button.tsx'
import { brandColors } from '../ui/brand-colors.ts'
import { BrandMark, type ShownBrand } from './frame.tsx'
import type { Language } from '../../../client-text/languages.ts'
import { LanguageProvider, usePortalText } from './language.tsx'
import { Bubble } from './message-list.tsx'

/** What the preview shows of a brand that is not saved yet. */
export interface PreviewedBrand extends ShownBrand {
  color: string | null
  language: Language
}

interface Sample {
  question: string
  answer: string
}

/** A page of the portal with a brand, in the colours of one theme. Its controls do nothing. */
export function BrandPreview({
  label,
  brand,
  theme,
  sample,
}: {
  label: string
  brand: PreviewedBrand
  theme: 'light' | 'dark'
  sample: Sample
}) {
  const colors = brand.color ? brandColors(brand.color) : {}
  return (
    <div
      role="img"
      aria-label={label}
      className="panel overflow-hidden bg-bg text-[0.9375rem] text-text shadow-sm"
      data-theme={theme}
      style={colors}
    >
      <div inert lang={brand.language}>
        <LanguageProvider value={brand.language}>
          <PreviewPage brand={brand} sample={sample} />
        </LanguageProvider>
      </div>
    </div>
  )
}

function PreviewPage({ brand, sample }: { brand: PreviewedBrand; sample: Sample }) {
  const text = usePortalText()
  const message = { id: '', from: null, subject: null, task_id: null, author: null, files: [], created_at: SAMPLE_TIME }
  return (
    <div className="flex flex-col gap-4 p-4">
      <div className="flex items-center gap-3 border-b border-line pb-3">
        <BrandMark brand={brand} />
        <Button variant="ghost" className="ml-auto" icon={<CircleUser size={16} aria-hidden />}>
          {text.account}
        </Button>
      </div>
      {brand.welcome && <p className="whitespace-pre-wrap">{brand.welcome}</p>}
      <Button variant="primary" className="self-start" icon={<Plus size={16} aria-hidden />}>
        {text.newConversation}
      </Button>
      <div className="panel flex flex-col gap-4 p-4">
        <div className="flex flex-col items-end gap-1 self-end">
          <Bubble message={{ ...message, direction: 'inbound', body: sample.question }} sender="" />
        </div>
        <div className="flex flex-col gap-1 self-start">
          <Bubble
            message={{ ...message, direction: 'outbound', body: sample.answer }}
            sender={brand.name ?? text.team}
          />
        </div>
        <div className="field text-muted">{text.messagePlaceholder}</div>
      </div>
    </div>
  )
}

/** Any moment: it only shows how times look in the language. */
const SAMPLE_TIME = '2026-01-31T09:30:00Z'
