import { beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/platform/config/config.ts'
import { KNOWN_SETTINGS } from '../../src/platform/contract/settings.ts'
import { page } from '../docs/pages.ts'
import {
  canRunHelm,
  CHART,
  installHelmTools,
  type Manifest,
  renderChart,
  runHelm,
  schemaErrors,
  typeErrors,
} from './helm.ts'

const MINIMAL = { existingSecret: 'svc-secrets' }
const EVERYTHING = {
  ...MINIMAL,
  optionalSecretKeys: ['founder_api_key', 'anthropic_api_key', 'openai_api_key', 'broker_api_key'],
  imagePullSecrets: [{ name: 'registry' }],
  settings: { SVC_PUBLIC_URL: 'https://agents.example.com', SVC_TASK_RATE_PER_MIN: 600 },
  wedges: { existingClaim: 'wedges' },
  api: {
    ingress: { enabled: true, className: 'nginx', tlsSecret: 'tls', annotations: { a: 'b' } },
    settings: { SVC_TASK_RATE_PER_MIN: 60 },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'a', operator: 'Exists' }],
  },
  runner: { autoscaling: { enabled: true, metricLabels: { service: 'svc' } }, settings: { SVC_RUNNER_WEDGES: 'desk' } },
  networkPolicy: {
    apiFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    databaseTo: [{ ipBlock: { cidr: '10.0.0.0/8' } }],
  },
}

const podOf = (manifests: Manifest[], role: string): Record<string, never> => {
  const deployment = manifests.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === `desk-${role}`)
  return deployment?.spec['template']?.['spec'] ?? {}
}
const envOf = (manifests: Manifest[], role: string): Record<string, string> => {
  const list: { name: string; value: string }[] = podOf(manifests, role)['containers']?.[0]?.['env'] ?? []
  return Object.fromEntries(list.map(({ name, value }) => [name, value]))
}
const namesOf = (manifests: Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()

test('the chart has the version of the package, so that its image exists', () => {
  const { version } = JSON.parse(page('package.json'))
  expect(page('deploy/helm/agent-work-service/Chart.yaml')).toContain(`\nappVersion: ${version}\n`)
})

describe.skipIf(!canRunHelm)('the Helm chart', () => {
  let minimal: Manifest[] = []
  let everything: Manifest[] = []
  beforeAll(() => {
    installHelmTools()
    minimal = renderChart(MINIMAL)
    everything = renderChart(EVERYTHING)
  }, 600_000)

  test('passes helm lint', () => {
    expect(runHelm('lint', CHART, '--strict', '--set', 'existingSecret=svc')).toContain('0 chart(s) failed')
  })

  test('renders what a deployment needs, and the rest only on request', () => {
    expect(namesOf(minimal)).toEqual([
      'Deployment desk-api',
      'Deployment desk-runner',
      'NetworkPolicy desk-api',
      'NetworkPolicy desk-runner',
      'PodDisruptionBudget desk-api',
      'PodDisruptionBudget desk-runner',
      'Service desk',
      'ServiceAccount desk',
    ])
    const optional = ['HorizontalPodAutoscaler desk-runner', 'Ingress desk']
    expect(namesOf(everything)).toEqual([...namesOf(minimal), ...optional].toSorted())
  })

  test('renders manifests that the schemas of Kubernetes accept', () => {
    expect([...minimal, ...everything].flatMap(schemaErrors)).toEqual([])
    expect(typeErrors([...minimal, ...everything])).toBe('')
    const misspelt = minimal.map((manifest) => ({ ...manifest, spec: { ...manifest.spec, selectors: {} } }))
    expect(typeErrors(misspelt)).toContain(`'"selectors"' does not exist`)
  })

  test('sets only settings that exist, and each role starts with them', () => {
    const documented = page('docs/settings.md')
    for (const manifests of [minimal, everything]) {
      for (const role of ['api', 'runner']) {
        const env = envOf(manifests, role)
        expect(Object.keys(env).length).toBeGreaterThan(8)
        expect(Object.keys(env).filter((name) => !KNOWN_SETTINGS.includes(name))).toEqual([])
        for (const name of Object.keys(env)) expect(documented).toContain(name.replace(/_FILE$/, ''))
        const files = Object.keys(env).filter((name) => name.endsWith('_FILE'))
        const readable = Object.fromEntries(Object.entries(env).filter(([name]) => !files.includes(name)))
        const config = loadConfig({ ...readable, DATABASE_URL: 'postgres://svc@db/svc' })
        expect(config).toMatchObject({ role, metricsPort: 9464, port: 8787 })
      }
    }
    expect(envOf(everything, 'api')).toMatchObject({ SVC_TASK_RATE_PER_MIN: '60' })
    expect(envOf(everything, 'runner')).toMatchObject({ SVC_TASK_RATE_PER_MIN: '600', SVC_RUNNER_WEDGES: 'desk' })
  })

  test('gives a stopping replica the time that its drain takes', () => {
    const grace = (role: string) => Number(podOf(minimal, role)['terminationGracePeriodSeconds'])
    expect(grace('api')).toBeGreaterThanOrEqual(Number(envOf(minimal, 'api')['SVC_DRAIN_DELAY_S']) + 5)
    // Runs get ten seconds, their last writes three twice.
    expect(grace('runner')).toBeGreaterThanOrEqual(20)
  })

  test('runs without a token of the cluster, as an ordinary user, and lifts filters only for runners', () => {
    for (const role of ['api', 'runner']) {
      const pod = podOf(minimal, role)
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true },
        containers: [{ securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } }],
      })
    }
    const filter = (role: string) => podOf(minimal, role)['containers']?.[0]?.['securityContext']
    expect(filter('api')).toMatchObject({ seccompProfile: { type: 'RuntimeDefault' } })
    expect(filter('runner')).toMatchObject({ seccompProfile: { type: 'Unconfined' }, procMount: 'Unmasked' })
  })

  test('lets nothing call a runner except the reader of its metrics', () => {
    const ingressOf = (manifests: Manifest[]) =>
      manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'desk-runner')?.spec[
        'ingress'
      ]
    expect(ingressOf(minimal)).toEqual([])
    expect(ingressOf(everything)).toMatchObject([{ ports: [{ port: 'metrics' }] }])
  })

  test('refuses wrong values', () => {
    // One call, because an emulated Helm takes seconds.
    const wrong = { settings: { 'svc-port': '1' }, runner: { terminationGracePeriodSeconds: 5 } }
    expect(() => renderChart(wrong)).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/(?=[^]*existingSecret)(?=[^]*svc-port)(?=[^]*terminationGracePeriodSeconds)/),
      }),
    )
    expect(() => renderChart({ ...MINIMAL, optionalSecretKeys: ['password'] })).toThrow('unknown key password')
  })
})
