import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { call } from '../../api/http.ts'
import type { Simulation } from '../../api/setup.ts'
import type { PolicyRule, WedgeSummary } from '../../api/types.ts'
import { useWrite } from '../../api/write.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { May, OthersDo, useMay } from '../../ui/may.tsx'
import { Tag } from '../../ui/status.tsx'
import { Section, Table } from '../../ui/table.tsx'
import { WriteButton } from '../../ui/write-button.tsx'
import { RuleRow } from './rule-row.tsx'

/** The rules by which an action needs no person, and what other rules would have done in the past. */
export function PolicyView({ wedge: { wedge, manifest } }: { wedge: WedgeSummary }) {
  const [rules, setRules] = useState<PolicyRule[]>(manifest.policy?.auto_approve ?? [])
  const simulate = useWrite(
    () =>
      call<Simulation>(`/v1/wedges/${wedge}/policy/simulate`, {
        method: 'POST',
        body: { auto_approve: rules.filter(({ action }) => action.trim() !== '') },
      }),
    { stale: [] },
  )
  return (
    <div className="flex flex-col gap-6">
      <Section title="What stops for a person">
        <ul className="flex flex-wrap gap-2">
          {(manifest.approvals ?? []).map(({ action, risk = 'medium' }) => (
            <li key={action} className="panel flex items-center gap-2 px-3 py-1.5 font-mono text-xs">
              {action} <Tag>{risk}</Tag>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Unless a rule approves it">
        <May least="operator" otherwise={<OthersDo>operators try other rules on the past</OthersDo>}>
          <p className="text-muted">
            The first rule that matches decides. Try changes here; they take effect when they stand in the wedge.json.
          </p>
        </May>
        <Rules rules={rules} onChange={setRules} />
        <div className="flex flex-wrap gap-2">
          <May least="operator">
            <Button small onClick={() => setRules([...rules, { action: '' }])}>
              Add a rule
            </Button>
            <WriteButton small look="primary" write={simulate}>
              Simulate
            </WriteButton>
          </May>
          <CopyButton label="Copy for wedge.json" text={() => JSON.stringify({ auto_approve: rules }, null, 2)} />
        </div>
      </Section>
      {simulate.data && <Simulated simulation={simulate.data} />}
    </div>
  )
}

function Rules({ rules, onChange }: { rules: PolicyRule[]; onChange: (rules: PolicyRule[]) => void }) {
  const may = useMay()
  const change = (at: number, rule: PolicyRule | null) =>
    onChange(rules.flatMap((one, i) => (i !== at ? [one] : rule ? [rule] : [])))
  const head = ['Action', 'Up to (USD)', 'Per task', 'Per day']
  return (
    <fieldset disabled={!may('operator')} className="min-w-0">
      <Table label="Rules" head={head} acts={{ name: 'Remove', least: 'operator' }}>
        {rules.map((rule, i) => (
          <RuleRow key={i} at={i + 1} rule={rule} onChange={(to) => change(i, to)} onRemove={() => change(i, null)} />
        ))}
      </Table>
    </fieldset>
  )
}

function Simulated({ simulation: { checked, would_pass, would_gate, results } }: { simulation: Simulation }) {
  return (
    <Section title={`Of ${checked} past requests, ${would_pass} would pass and ${would_gate} would wait for a person`}>
      {checked > 0 && (
        <Table label="Past requests" head={['Action', 'Was', 'Would', 'Why']}>
          {results
            .slice(-100)
            .toReversed()
            .map(({ approval_id, action, status, would, reason }) => (
              <tr key={approval_id}>
                <td className="font-mono text-xs">
                  <Link to="/approvals" search={{ id: approval_id }} className="text-accent underline">
                    {action}
                  </Link>
                </td>
                <td className="whitespace-nowrap text-muted">{status.replaceAll('_', ' ')}</td>
                <td>
                  <Tag tone={would === 'pass' ? 'ok' : 'wait'}>{would === 'pass' ? 'pass' : 'wait'}</Tag>
                </td>
                <td className="min-w-64">{reason}</td>
              </tr>
            ))}
        </Table>
      )}
    </Section>
  )
}
