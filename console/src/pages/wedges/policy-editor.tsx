import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { callOperation } from '../../api/http.ts'
import { useApiMutation } from '../../api/mutation.ts'
import type { Policy, PolicySimulation } from '../../api/setup-queries.ts'
import type { PolicyRule } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { MutationButton } from '../../ui/mutation-button.tsx'
import { Section } from '../../ui/page.tsx'
import { RequireRole, RoleHint, useHasRole } from '../../ui/role.tsx'
import { statusLabel, Tag } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { showToast } from '../../ui/toast.tsx'
import { PolicyRuleRow } from './policy-rule-row.tsx'
import { wedgesText } from './text.ts'

/** The rules that apply, to change, to simulate on past requests and to save as a new version. */
export function PolicyEditor({ wedge, policy }: { wedge: string; policy: Policy }) {
  const [rules, setRules] = useState<PolicyRule[]>(policy.auto_approve)
  const auto_approve = rules.filter(({ action }) => action.trim() !== '')
  const simulate = useApiMutation(() => callOperation('simulatePolicy', { wedge, body: { auto_approve } }), {
    invalidates: [],
  })
  return (
    <>
      <Section title={wedgesText.rules}>
        <PolicySource policy={policy} />
        <RuleHint />
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
          <RequireRole minRole="admin">
            <SaveButtons wedge={wedge} policy={policy} rules={auto_approve} />
          </RequireRole>
          <CopyButton label={wedgesText.copyRules} text={() => JSON.stringify({ auto_approve: rules }, null, 2)} />
        </div>
      </Section>
      {simulate.data && <SimulationResult simulation={simulate.data} />}
    </>
  )
}

/** Where the rules come from: the folder of the wedge, or a saved version. */
function PolicySource({ policy: { source, version, created_at, created_by } }: { policy: Policy }) {
  if (source === 'wedge' || version === null) return <p className="text-muted">{wedgesText.rulesOfWedge}</p>
  return (
    <p className="text-muted">
      {wedgesText.rulesSaved(version)} {created_by && wedgesText.savedBy(created_by.name ?? created_by.id)}{' '}
      {created_at && <TimeAgo ts={created_at} />}
    </p>
  )
}

function RuleHint() {
  const hasRole = useHasRole()
  if (!hasRole('operator')) return <RoleHint>{wedgesText.simulateHint}</RoleHint>
  return (
    <>
      <p className="text-muted">{wedgesText.rulesHint}</p>
      {!hasRole('admin') && <RoleHint>{wedgesText.saveHint}</RoleHint>}
    </>
  )
}

function SaveButtons({ wedge, policy, rules }: { wedge: string; policy: Policy; rules: PolicyRule[] }) {
  const save = useApiMutation(
    () => callOperation('updatePolicy', { wedge, body: { auto_approve: rules, based_on: policy.version } }),
    { invalidates: ['policies'], onSuccess: () => showToast(wedgesText.rulesAreSaved) },
  )
  const reset = useApiMutation(() => callOperation('deletePolicy', { wedge }), {
    invalidates: ['policies'],
    onSuccess: () => showToast(wedgesText.rulesAreReset),
  })
  return (
    <>
      <MutationButton small mutation={save} confirmText={wedgesText.confirmSaveRules(rules.length)}>
        {wedgesText.saveRules}
      </MutationButton>
      {policy.source === 'saved' && (
        <MutationButton small mutation={reset} confirmText={wedgesText.confirmResetRules}>
          {wedgesText.resetRules}
        </MutationButton>
      )}
    </>
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
