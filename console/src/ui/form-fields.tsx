import { type InputHTMLAttributes, type ReactNode, useId } from 'react'

/** The classes that put a star behind a label. */
export const REQUIRED_MARK = "after:text-bad after:content-['_*']"

export function Field({
  label,
  hint,
  required = false,
  children,
}: {
  label: ReactNode
  hint?: ReactNode
  /** Marks the label. The control has to be required too. */
  required?: boolean | undefined
  children: (id: string) => ReactNode
}) {
  const id = useId()
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className={`font-medium ${required ? REQUIRED_MARK : ''}`}>
        {label}
      </label>
      {children(id)}
      {hint && <p className="text-xs text-muted">{hint}</p>}
    </div>
  )
}

/** The ref of an input that cannot be submitted while there is a problem with its value. */
const refuseValue =
  (problem: string | null) => (element: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement | null) =>
    element?.setCustomValidity(problem ?? '')

export function TextField({
  label,
  hint,
  problem = null,
  onChange,
  ...rest
}: Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'> & {
  label: ReactNode
  hint?: ReactNode
  /** What is wrong with the value. It is shown when the form is submitted. */
  problem?: string | null
  onChange?: (value: string) => void
}) {
  return (
    <Field label={label} hint={hint} required={rest.required}>
      {(id) => (
        <input
          id={id}
          ref={refuseValue(problem)}
          className="field h-8"
          onChange={(event) => onChange?.(event.target.value)}
          {...rest}
        />
      )}
    </Field>
  )
}

export function TextArea({
  label,
  hint,
  value,
  onChange,
  rows = 3,
  mono = false,
  required = false,
  problem = null,
  maxLength,
}: {
  label: ReactNode
  hint?: ReactNode
  problem?: string | null
  value: string
  onChange: (value: string) => void
  maxLength?: number
  rows?: number
  mono?: boolean
  required?: boolean
}) {
  return (
    <Field label={label} hint={hint} required={required}>
      {(id) => (
        <textarea
          id={id}
          ref={refuseValue(problem)}
          required={required}
          maxLength={maxLength}
          rows={rows}
          spellCheck={!mono}
          className={`field ${mono ? 'font-mono' : ''}`}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  )
}

/** A select box; each option is a value and its label. */
export function Select<Value extends string>({
  label,
  hint,
  required = false,
  problem = null,
  value,
  options,
  onChange,
}: {
  label: ReactNode
  hint?: ReactNode
  required?: boolean
  problem?: string | null
  value: NoInfer<Value> | ''
  options: [Value, string][]
  onChange: (value: Value) => void
}) {
  const choose = (name: string) => {
    const chosen = options.find(([value]) => value === name)
    if (chosen) onChange(chosen[0])
  }
  return (
    <Field label={label} hint={hint} required={required}>
      {(id) => (
        <select
          id={id}
          ref={refuseValue(problem)}
          required={required}
          className="field h-8"
          value={value}
          onChange={(event) => choose(event.target.value)}
        >
          {options.map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function Checkbox({
  label,
  checked,
  problem = null,
  disabled = false,
  onChange,
}: {
  label: ReactNode
  checked: boolean
  problem?: string | null
  disabled?: boolean
  onChange: (checked: boolean) => void
}) {
  return (
    <label className="flex items-center gap-2">
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-(--accent)"
        ref={refuseValue(problem)}
        disabled={disabled}
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  )
}
