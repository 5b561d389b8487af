import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import { callApi } from '../../api/http.ts'
import type { PolicySimulation } from '../../api/setup-queries.ts'
import type { PolicyRule, WedgeSummary } from '../../api/types.ts'
import { useApiMutation } from '../../api/mutation.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { Tag } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Section } from '../../ui/page.tsx'
import { RuleRow } from './rule-row.tsx'

/** The rules by which an action needs no person, and what other rules would have done in the past. */
export function PolicyView({ wedge: { wedge, manifest } }: { wedge: WedgeSummary }) {
  const [rules, setRules] = useState<PolicyRule[]>(manifest.policy?.auto_approve ?? [])
  const simulate = useApiMutation(
    () =>
      callApi<PolicySimulation>(`/v1/wedges/${wedge}/policy/simulate`, {
        method: 'POST',
        body: { auto_approve: rules.filter(({ action }) => action.trim() !== '') },
      }),
    { invalidates: [] },
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
        <RequireRole minRole="operator" fallback={<RoleHint>Ask an operator to simulate rules.</RoleHint>}>
          <p className="text-muted">
            The first rule that matches decides. Try changes here; they take effect when they stand in the wedge.json.
          </p>
        </RequireRole>
        <Rules rules={rules} onChange={setRules} />
        <div className="flex flex-wrap gap-2">
          <RequireRole minRole="operator">
            <Button small onClick={() => setRules([...rules, { action: '' }])}>
              Add a rule
            </Button>
            <MutationButton small variant="primary" mutation={simulate}>
              Simulate
            </MutationButton>
          </RequireRole>
          <CopyButton label="Copy for wedge.json" text={() => JSON.stringify({ auto_approve: rules }, null, 2)} />
        </div>
      </Section>
      {simulate.data && <Simulated simulation={simulate.data} />}
    </div>
  )
}

function Rules({ rules, onChange }: { rules: PolicyRule[]; onChange: (rules: PolicyRule[]) => void }) {
  const may = useHasRole()
  const change = (at: number, rule: PolicyRule | null) =>
    onChange(rules.flatMap((one, i) => (i !== at ? [one] : rule ? [rule] : [])))
  const head = ['Action', 'Up to (USD)', 'Per task', 'Per day']
  return (
    <fieldset disabled={!may('operator')} className="min-w-0">
      <Table label="Rules" columns={head} actions={{ name: 'Remove', minRole: 'operator' }}>
        {rules.map((rule, i) => (
          <RuleRow key={i} at={i + 1} rule={rule} onChange={(to) => change(i, to)} onRemove={() => change(i, null)} />
        ))}
      </Table>
    </fieldset>
  )
}

function Simulated({ simulation: { checked, would_pass, would_gate, results } }: { simulation: PolicySimulation }) {
  return (
    <Section title={`Of ${checked} past requests, ${would_pass} would pass and ${would_gate} would wait for a person`}>
      {checked > 0 && (
        <Table label="Past requests" columns={['Action', 'Was', 'Would', 'Why']}>
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
