import { useId } from 'react'
import { TextField } from './form-fields.tsx'

const TIME_ZONES = Intl.supportedValuesOf('timeZone')

/** The name of a time zone, with the known ones as suggestions. */
export function TimeZoneField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const id = useId()
  return (
    <div>
      <TextField label={label} list={id} value={value} onChange={onChange} />
      <datalist id={id}>
        {TIME_ZONES.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  )
}
