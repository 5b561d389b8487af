import { useState } from 'react'
import type { Approval } from '../../api/types.ts'
import { Fields, JsonView } from '../../ui/json.tsx'
import { Tabs } from '../../ui/tabs.tsx'

export function Payload({ approval }: { approval: Approval }) {
  const [as, setAs] = useState<'form' | 'json'>('form')
  return (
    <section aria-label="What will be sent" className="flex flex-col gap-3">
      <div className="flex items-center justify-between">
        <h3 className="font-medium">{approval.status === 'pending' ? 'What will be sent' : 'What was proposed'}</h3>
        <Tabs
          label="Show as"
          value={as}
          onChange={setAs}
          tabs={[
            { value: 'form', label: 'Form' },
            { value: 'json', label: 'JSON' },
          ]}
        />
      </div>
      {as === 'form' ? <Fields value={approval.preview} /> : <JsonView value={approval.preview} label="Payload" />}
    </section>
  )
}
