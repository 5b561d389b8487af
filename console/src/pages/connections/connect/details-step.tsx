import { ExternalLink } from 'lucide-react'
import type { Connection } from '../../../api/setup-queries.ts'
import type { PlainMutation } from '../../../api/mutation.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Field, Select, TextArea, TextField } from '../../../ui/form-fields.tsx'
import { LostSecretWarning } from '../lost-secret-warning.tsx'
import type { AuthType } from './auth-types.ts'
import type { CatalogueEntry } from './catalogue.ts'
import type { EntryField } from './entry-fields.ts'
import { StepError } from './step-parts.tsx'
import { connectText } from './text.ts'

/** What a person has typed so far. The dialog keeps it, so that going back loses nothing but the secret. */
export interface ConnectionDraft {
  name: string
  values: Record<string, string>
  authId: string
  secret: string
}

export function newDraft(entry: CatalogueEntry, name: string | undefined): ConnectionDraft {
  const initial = entry.fields.flatMap((field) => (field.initial === undefined ? [] : [[field.name, field.initial]]))
  const authId = entry.authTypes[0]?.id ?? ''
  return { name: name ?? entry.suggestedName, values: Object.fromEntries(initial), authId, secret: '' }
}

export const chosenAuth = ({ authTypes }: CatalogueEntry, { authId }: ConnectionDraft): AuthType | null =>
  authTypes.find(({ id }) => id === authId) ?? null

/** Whether a person authorises the connection on the provider's page. */
const asksProvider = (entry: CatalogueEntry, draft: ConnectionDraft) =>
  entry.isOauthApp || chosenAuth(entry, draft)?.isAuthorised === true

interface DraftProps {
  entry: CatalogueEntry
  saved: Connection | null
  draft: ConnectionDraft
  onChange: (draft: ConnectionDraft) => void
}

/** The name, the parameters and the credential of a connection. */
export function DetailsStep({
  nameIsFixed,
  mutation,
  onBack,
  ...props
}: DraftProps & {
  nameIsFixed: boolean
  mutation: PlainMutation & { error: Error | null }
  onBack: (() => void) | null
}) {
  const { entry, draft, onChange } = props
  const isApp = entry.toolkit !== null
  const leaves = asksProvider(entry, draft)
  return (
    <form
      className="-mx-5 -mb-5 flex min-h-0 flex-col"
      onSubmit={(event) => (event.preventDefault(), mutation.mutate())}
    >
      <div className="flex flex-col gap-4 overflow-y-auto px-5 pb-4">
        {entry.description && <p className="text-muted">{entry.description}</p>}
        {!nameIsFixed && !isApp && (
          <TextField
            label={connectText.name}
            hint={connectText.nameHint}
            value={draft.name}
            onChange={(name) => onChange({ ...draft, name })}
            required
            autoComplete="off"
          />
        )}
        <ConfigInputs {...props} />
        <SecretInput {...props} />
        <StepError error={mutation.error} />
      </div>
      <div className="flex gap-2 border-t border-line px-5 py-3">
        <Button type="submit" variant="primary" disabled={mutation.isPending}>
          {isApp ? connectText.connectApp : leaves ? connectText.saveAndContinue : connectText.saveAndTest}
        </Button>
        {onBack && (
          <Button variant="ghost" onClick={onBack}>
            {connectText.back}
          </Button>
        )}
      </div>
    </form>
  )
}

/** The parameters, and the way to authorise with the fields that it needs. */
function ConfigInputs({ entry, draft, onChange }: DraftProps) {
  const auth = chosenAuth(entry, draft)
  const change = (name: string, value: string) => onChange({ ...draft, values: { ...draft.values, [name]: value } })
  return (
    <>
      <FieldInputs fields={entry.fields} values={draft.values} onChange={change} />
      {entry.authTypes.length > 1 && (
        <Select
          label={connectText.auth.label}
          value={draft.authId}
          options={entry.authTypes.map(({ id, label }) => [id, label])}
          onChange={(authId) => onChange({ ...draft, authId })}
        />
      )}
      {auth && <FieldInputs fields={auth.fields} values={draft.values} onChange={change} />}
      {asksProvider(entry, draft) && <RedirectUri />}
    </>
  )
}

function FieldInputs({
  fields,
  values,
  onChange,
}: {
  fields: EntryField[]
  values: Record<string, string>
  onChange: (name: string, value: string) => void
}) {
  return fields.map(({ name, label, hint, type, required, example }) =>
    type === 'json' ? (
      <TextArea
        key={name}
        label={label}
        hint={hint}
        rows={3}
        mono
        value={values[name] ?? ''}
        onChange={(value) => onChange(name, value)}
      />
    ) : (
      <TextField
        key={name}
        label={label}
        hint={hint}
        type={type === 'number' ? 'number' : 'text'}
        required={required}
        autoComplete="off"
        spellCheck={false}
        {...(example !== undefined && { placeholder: example })}
        value={values[name] ?? ''}
        onChange={(value) => onChange(name, value)}
      />
    ),
  )
}

/** Write-only, with a sentence that says where the secret is found. */
function SecretInput({ entry, saved, draft, onChange }: DraftProps) {
  const { title, docs, preset } = entry
  const auth = chosenAuth(entry, draft)
  const secret = auth ? auth.secret : entry.secret
  const isKept = saved?.has_secret === true && preset === null
  return (
    <>
      {secret && (
        <>
          <LostSecretWarning />
          <TextField
            label={secret.label}
            hint={`${secret.where} ${isKept ? connectText.secretKept : connectText.stored}`}
            type="password"
            autoComplete="off"
            required={secret.required && !isKept}
            value={draft.secret}
            onChange={(value) => onChange({ ...draft, secret: value })}
          />
        </>
      )}
      {docs && (
        <a
          href={docs}
          target="_blank"
          rel="noreferrer"
          className="inline-flex items-center gap-1.5 self-start text-accent underline underline-offset-2"
        >
          {connectText.documentation(title)} <ExternalLink size={13} aria-hidden />
        </a>
      )}
    </>
  )
}

function RedirectUri() {
  const uri = `${location.origin}/v1/oauth/callback`
  return (
    <Field label={connectText.redirectUri} hint={connectText.redirectUriHint}>
      {(id) => (
        <span className="flex items-center gap-2">
          <input id={id} readOnly className="field h-8 font-mono" value={uri} />
          <CopyButton text={() => uri} />
        </span>
      )}
    </Field>
  )
}
