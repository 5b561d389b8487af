import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type Connection, connectionsQuery } from '../../api/setup-queries.ts'
import { Select } from '../../ui/form-fields.tsx'
import { connectionsText } from './text.ts'

/** Chooses a connection by its id; `fits` limits the choice. */
export function ConnectionSelect({
  label,
  value,
  fits = () => true,
  onChange,
}: {
  label: string
  value: string
  fits?: (connection: Connection) => boolean
  onChange: (id: string) => void
}) {
  const { data = [], isSuccess } = useQuery(connectionsQuery)
  const connections = data.filter(fits)
  return (
    <>
      <Select
        label={label}
        value={value}
        options={[
          ...(value === '' ? [['', connectionsText.choose] satisfies [string, string]] : []),
          ...connections.map(({ id, name }): [string, string] => [id, name]),
        ]}
        onChange={onChange}
      />
      {isSuccess && connections.length === 0 && (
        <p className="text-wait">
          {connectionsText.noneToChoose}{' '}
          <Link to="/connections" className="underline">
            {connectionsText.createOne}
          </Link>
        </p>
      )}
    </>
  )
}
