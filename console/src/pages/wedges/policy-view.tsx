import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callApi } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { PolicySimulation } from '../../api/setup-queries.ts'
import type { PolicyRule, WedgeSummary } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatDuration } from '../../ui/format.ts'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Section } from '../../ui/page.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { statusLabel, Tag } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { PolicyRuleRow } from './policy-rule-row.tsx'
import { wedgesText } from './text.ts'

/** The auto-approve rules of a wedge, and a simulation of other rules on past approval requests. */
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
      <Section title={wedgesText.requiresApproval}>
        <ul className="flex flex-wrap gap-2">
          {(manifest.approvals ?? []).map(({ action, risk = 'medium', ttl_s }) => (
            <li key={action} className="panel flex items-center gap-2 px-3 py-1.5 font-mono text-xs">
              {action} <Tag>{risk}</Tag>
              {ttl_s !== undefined && (
                <span className="text-muted">{wedgesText.expiresAfter(formatDuration(ttl_s * 1_000))}</span>
              )}
            </li>
          ))}
        </ul>
      </Section>
      <Section title={wedgesText.rules}>
        <RequireRole minRole="operator" fallback={<RoleHint>{wedgesText.simulateHint}</RoleHint>}>
          <p className="text-muted">{wedgesText.rulesHint}</p>
        </RequireRole>
        <RuleTable rules={rules} onChange={setRules} />
        <div className="flex flex-wrap gap-2">
          <RequireRole minRole="operator">
            <Button small onClick={() => setRules([...rules, { action: '' }])}>
              {wedgesText.addRule}
            </Button>
            <MutationButton small variant="primary" mutation={simulate}>
              {wedgesText.simulate}
            </MutationButton>
          </RequireRole>
          <CopyButton label={wedgesText.copyRules} text={() => JSON.stringify({ auto_approve: rules }, null, 2)} />
        </div>
      </Section>
      {simulate.data && <SimulationResult simulation={simulate.data} />}
    </div>
  )
}

function RuleTable({ rules, onChange }: { rules: PolicyRule[]; onChange: (rules: PolicyRule[]) => void }) {
  const canEdit = useHasRole()('operator')
  const change = (at: number, rule: PolicyRule | null) =>
    onChange(rules.flatMap((current, i) => (i !== at ? [current] : rule ? [rule] : [])))
  const columns = [wedgesText.action, ...Object.values(wedgesText.limits)]
  return (
    <fieldset disabled={!canEdit} className="min-w-0">
      <Table label={wedgesText.rules} columns={columns} actions={{ name: wedgesText.actions, minRole: 'operator' }}>
        {rules.map((rule, i) => (
          <PolicyRuleRow
            key={i}
            number={i + 1}
            rule={rule}
            onChange={(to) => change(i, to)}
            onRemove={() => change(i, null)}
          />
        ))}
      </Table>
    </fieldset>
  )
}

function SimulationResult({
  simulation: { checked, would_pass, would_gate, results },
}: {
  simulation: PolicySimulation
}) {
  return (
    <Section title={wedgesText.simulated(checked, would_pass, would_gate)}>
      {checked > 0 && (
        <Table label={wedgesText.pastRequests} columns={wedgesText.simulationColumns}>
          {results
            .slice(-100)
            .toReversed()
            .map(({ approval_id, action, text, status, would, reason }) => (
              <tr key={approval_id}>
                <td className="font-mono text-xs">
                  <Link to="/approvals" search={{ id: approval_id }} className="text-accent underline">
                    {action}
                  </Link>
                  {text && <p className="font-sans text-muted">{text}</p>}
                </td>
                <td className="whitespace-nowrap text-muted">{statusLabel(status)}</td>
                <td>
                  <Tag tone={would === 'pass' ? 'ok' : 'wait'}>{wedgesText[would]}</Tag>
                </td>
                <td className="min-w-64">{reason}</td>
              </tr>
            ))}
        </Table>
      )}
    </Section>
  )
}
