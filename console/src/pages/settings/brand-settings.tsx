import { LANGUAGE_NAMES, LANGUAGES } from '../../../../client-text/languages.ts'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApiMutation } from '../../api/mutation.ts'
import { channelsQuery } from '../../api/client-queries.ts'
import { callOperation } from '../../api/http.ts'
import { type Brand, brandQuery, connectionsQuery } from '../../api/setup-queries.ts'
import { BrandPreview } from '../../portal/brand-preview.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Checkbox, Field, Select, TextArea, TextField } from '../../ui/form-fields.tsx'
import { Section } from '../../ui/page.tsx'
import { QueryResult } from '../../ui/query-result.tsx'
import { RoleHint, useHasRole } from '../../ui/role.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { showToast } from '../../ui/toast.tsx'
import { type ChosenImage, ImageField } from './image-field.tsx'
import { settingsText } from './text.ts'

const text = settingsText.brand

/** The look of the customer portal, with a preview of what is not saved yet. */
export function BrandSettings() {
  const query = useQuery(brandQuery)
  const hasRole = useHasRole()
  return (
    <Section title={text.title}>
      <p className="text-muted">{text.lead}</p>
      {!hasRole('admin') && <RoleHint>{text.roleHint}</RoleHint>}
      <QueryResult query={query}>{(brand) => <BrandForm brand={brand} canEdit={hasRole('admin')} />}</QueryResult>
    </Section>
  )
}

type BrandFields = Pick<
  Brand,
  'name' | 'color' | 'welcome' | 'language' | 'portal_channel_id' | 'mail_connection_id' | 'notify'
> & { logo: ChosenImage | null; favicon: ChosenImage | null }

const toFields = (brand: Brand): BrandFields => ({
  name: brand.name,
  color: brand.color,
  welcome: brand.welcome,
  language: brand.language,
  portal_channel_id: brand.portal_channel_id,
  mail_connection_id: brand.mail_connection_id,
  notify: brand.notify,
  logo: brand.logo_file_id && brand.logo_url ? { id: brand.logo_file_id, url: brand.logo_url } : null,
  favicon: brand.favicon_file_id && brand.favicon_url ? { id: brand.favicon_file_id, url: brand.favicon_url } : null,
})

function BrandForm({ brand, canEdit }: { brand: Brand; canEdit: boolean }) {
  const [fields, setFields] = useState(() => toFields(brand))
  const change = (changed: Partial<BrandFields>) => setFields((earlier) => ({ ...earlier, ...changed }))
  const { logo, favicon, ...rest } = fields
  const body = { ...rest, logo_file_id: logo?.id ?? null, favicon_file_id: favicon?.id ?? null }
  const save = useApiMutation(() => callOperation('updateBrand', { body }), {
    invalidates: ['brand'],
    onSuccess: () => showToast(text.saved),
  })
  return (
    <div className="grid items-start gap-6 lg:grid-cols-2">
      <form className="panel p-4" onSubmit={(event) => (event.preventDefault(), save.mutate())}>
        <fieldset disabled={!canEdit} className="flex flex-col gap-4">
          <LookFields fields={fields} onChange={change} />
          <ReachFields fields={fields} onChange={change} />
          {canEdit && (
            <Button type="submit" variant="primary" className="self-start" disabled={save.isPending}>
              {text.save}
            </Button>
          )}
        </fieldset>
      </form>
      <Preview fields={fields} portalUrl={brand.portal_url} />
    </div>
  )
}

type FieldsProps = { fields: BrandFields; onChange: (changed: Partial<BrandFields>) => void }

function LookFields({ fields, onChange }: FieldsProps) {
  return (
    <>
      <TextField
        label={settingsText.name}
        hint={text.nameHint}
        maxLength={80}
        value={fields.name ?? ''}
        onChange={(name) => onChange({ name })}
      />
      <ColorField color={fields.color} onChange={(color) => onChange({ color })} />
      <ImageField label={text.logo} image={fields.logo} onChange={(logo) => onChange({ logo })} />
      <ImageField label={text.favicon} image={fields.favicon} onChange={(favicon) => onChange({ favicon })} />
      <TextArea label={text.welcome} value={fields.welcome ?? ''} onChange={(welcome) => onChange({ welcome })} />
      <Select
        label={text.language}
        value={fields.language}
        options={LANGUAGES.map((language) => [language, LANGUAGE_NAMES[language]])}
        onChange={(language) => onChange({ language })}
      />
    </>
  )
}

/** The colour used if none is set, so that the picker starts there. */
const DEFAULT_COLOR = '#1f4fd1'
const HEX_COLOR = /^#[0-9a-f]{6}$/i

function ColorField({ color, onChange }: { color: string | null; onChange: (color: string | null) => void }) {
  const [typed, setTyped] = useState(color ?? '')
  const type = (value: string) => {
    setTyped(value)
    if (value === '') onChange(null)
    else if (HEX_COLOR.test(value)) onChange(value)
  }
  return (
    <Field label={text.color} hint={text.colorHint}>
      {(id) => (
        <div className="flex gap-2">
          <input
            type="color"
            aria-label={text.pickColor}
            className="h-8 w-12 rounded-md border border-line-strong bg-surface"
            value={color ?? DEFAULT_COLOR}
            onChange={(event) => type(event.target.value)}
          />
          <input
            id={id}
            className="field h-8 max-w-40 font-mono"
            placeholder={text.noColor}
            value={typed}
            onChange={(event) => {
              const value = event.target.value.trim()
              event.target.setCustomValidity(value === '' || HEX_COLOR.test(value) ? '' : text.colorInvalid)
              type(value)
            }}
          />
        </div>
      )}
    </Field>
  )
}

/** Where new conversations go, and what sends mails. */
function ReachFields({ fields, onChange }: FieldsProps) {
  const { data: channels = [] } = useQuery(channelsQuery)
  const { data: connections = [] } = useQuery(connectionsQuery)
  const mails = connections.filter(({ kind, owner }) => kind === 'email' && owner.kind === 'founder')
  return (
    <>
      <div className="flex flex-col gap-1">
        <Select
          label={text.channel}
          value={fields.portal_channel_id ?? ''}
          options={[['', text.noChannel], ...channels.map((one): [string, string] => [one.id, one.address])]}
          onChange={(id) => onChange({ portal_channel_id: id || null })}
        />
        <p className="text-xs text-muted">{text.channelHint}</p>
      </div>
      <div className="flex flex-col gap-1">
        <Select
          label={text.mail}
          value={fields.mail_connection_id ?? ''}
          options={[['', text.noMail], ...mails.map((one): [string, string] => [one.id, one.name])]}
          onChange={(id) => onChange({ mail_connection_id: id || null, ...(!id && { notify: false }) })}
        />
        <p className="text-xs text-muted">{text.mailHint}</p>
      </div>
      {fields.mail_connection_id && (
        <Checkbox label={text.notify} checked={fields.notify} onChange={(notify) => onChange({ notify })} />
      )}
    </>
  )
}

function Preview({ fields, portalUrl }: { fields: BrandFields; portalUrl: string }) {
  const [theme, setTheme] = useState<'light' | 'dark'>('light')
  const { name, color, welcome, language, logo } = fields
  return (
    <section aria-label={text.preview} className="flex flex-col gap-3 lg:sticky lg:top-4">
      <Tabs
        label={text.preview}
        value={theme}
        tabs={[
          { value: 'light', label: text.light },
          { value: 'dark', label: text.dark },
        ]}
        onChange={setTheme}
      />
      <BrandPreview
        label={text.previewOf}
        brand={{ name: name || null, color, welcome, language, logo_url: logo?.url ?? null }}
        theme={theme}
        sample={{ question: text.sampleQuestion, answer: text.sampleAnswer }}
      />
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{text.portalUrl}</span>
        <code className="min-w-0 font-mono text-xs break-all">{portalUrl}</code>
        <CopyButton text={() => portalUrl} />
      </div>
    </section>
  )
}
