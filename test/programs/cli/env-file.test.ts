import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeAccessSettings, readEnvFile } from '../../../src/programs/cli/shell/env-file.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

const OWNER_ONLY = 0o600

/** A folder whose `.env` has these lines. */
function folderWith(lines: string[], mode = OWNER_ONLY): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.env'), lines.map((line) => `${line}\n`).join(''))
  chmodSync(join(folder, '.env'), mode)
  return folder
}

const notRead = (name: string) => `.env: ${name} is not read from a file; set it in the environment`

test('the file has settings for those that the environment does not have', async () => {
  const lines = ['SVC_PORT=9000', 'SVC_DATA_DIR="my data"', 'SVC_PROT=1', 'SVC_MODEL_PRO=openai/x', '# SVC_POOL=1']
  const cwd = folderWith(lines)
  expect(readEnvFile({ SVC_PORT: '7000', SVC_DATA_DIR: undefined }, cwd)).toEqual({
    settings: { SVC_DATA_DIR: 'my data', SVC_PROT: '1', SVC_MODEL_PRO: 'openai/x' },
    warnings: [],
  })
  const { stdout } = await runSvc(['doctor'], { cwd, env: { SVC_SANDBOX: 'process' } })
  expect(stdout).toContain('unknown setting SVC_PROT')
  expect(stdout).toContain(join(cwd, 'my data'))
})

test('a file that the environment names for a secret comes first, and an empty variable counts as unset', () => {
  const cwd = folderWith(['SVC_SECRET_KEY=of-the-file', 'DATABASE_URL=postgres://file', 'SVC_PORT=9000'])
  const env = { SVC_SECRET_KEY_FILE: '/run/secrets/key', DATABASE_URL_FILE: '', SVC_PORT: '' }
  expect(readEnvFile(env, cwd)).toEqual({
    settings: { DATABASE_URL: 'postgres://file', SVC_PORT: '9000' },
    warnings: [],
  })
})

describe('a file of a downloaded folder', () => {
  test('cannot choose the server, programs, isolation, or what is read as a secret', async () => {
    const names = ['SVC_URL', 'SVC_SANDBOX', 'SVC_AGENT_COMMAND', 'SVC_AGENT_DIR', 'SVC_ENV_SECRETS', 'SVC_CALLED_AS']
    const files = ['OPENAI_API_KEY_FILE', 'SVC_SECRET_KEY_FILE']
    const cwd = folderWith([...names, ...files, 'SVC_MODEL'].map((name) => `${name}=evil`))
    expect(readEnvFile({}, cwd)).toEqual({
      settings: { SVC_MODEL: 'evil' },
      warnings: [...names, ...files].toSorted().map(notRead),
    })
    const { stderr } = await runSvc(['help'], { cwd })
    expect(stderr).toContain(`svc: ${notRead('SVC_SANDBOX')}\n`)
  })

  test('has no say about what the environment sets, and then there is no warning', () => {
    const cwd = folderWith(['SVC_SANDBOX=process', 'OPENAI_BASE_URL=https://evil.example'])
    const env = { SVC_SANDBOX: 'bwrap', OPENAI_BASE_URL: 'https://own.example', OPENAI_API_KEY: 'k' }
    expect(readEnvFile(env, cwd)).toEqual({ settings: {}, warnings: [] })
  })

  test('is named in the log of the service with the settings that decide who reaches what, without their values', async () => {
    const values = {
      SVC_PORT: 'x1',
      SVC_FOUNDER_API_KEY: 'x2',
      SVC_EGRESS_ALLOW: 'x3',
      DATABASE_URL: 'x4',
      SVC_POOL: '1',
    }
    const cwd = folderWith(Object.entries(values).map(([name, value]) => `${name}=${value}`))
    expect(describeAccessSettings(readEnvFile({}, cwd))).toBe(
      'read from .env: SVC_FOUNDER_API_KEY, SVC_PORT, SVC_EGRESS_ALLOW, DATABASE_URL',
    )
    expect(describeAccessSettings(readEnvFile(values, cwd))).toBeNull()
    // The start fails after the line, because the URL has no such protocol.
    const lines = ['SVC_PORT=0', 'SVC_EGRESS_ALLOW=http://x', 'SVC_DATA_DIR=data', 'SVC_LOG_LEVEL=error']
    const served = await runSvc(['serve'], { cwd: folderWith(lines) })
    expect(served.code).not.toBe(0)
    expect(served.stderr).toContain('svc: read from .env: SVC_PORT, SVC_EGRESS_ALLOW, SVC_DATA_DIR')
  })

  test('cannot set variables of other programs', () => {
    const cwd = folderWith([
      'EDITOR=evil',
      'NODE_OPTIONS=--require=evil',
      'PATH=/evil',
      'LD_PRELOAD=evil',
      'PGHOST=evil',
    ])
    expect(readEnvFile({}, cwd)).toEqual({ settings: {}, warnings: [] })
  })

  test.each([
    ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY'],
    ['OPENAI_BASE_URL', 'OPENAI_API_KEY'],
    ['BROKER_BASE_URL', 'BROKER_API_KEY'],
    ['SVC_S3_ENDPOINT', 'AWS_SECRET_ACCESS_KEY'],
    ['SVC_S3_ENDPOINT', 'AWS_SESSION_TOKEN'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'],
    ['DATABASE_URL', 'PGPASSWORD'],
  ])('cannot send to %s the value of %s in the environment', (address, key) => {
    const cwd = folderWith([`${address}=https://evil.example`, `${key}=of-the-file`])
    const warnings = [
      `.env: ${address} is not read, because ${key} of the environment would be sent there; set it in the environment, too`,
    ]
    expect(readEnvFile({ [key]: 'real' }, cwd)).toEqual({ settings: {}, warnings })
  })

  test('cannot send there a key in a file that the environment names', () => {
    const cwd = folderWith(['OPENAI_BASE_URL=https://evil.example'])
    expect(readEnvFile({ OPENAI_API_KEY_FILE: '/run/secrets/key' }, cwd).settings).toEqual({})
  })

  test('chooses an address for its own key, and for a local model without one', () => {
    const lines = ['OPENAI_BASE_URL=http://127.0.0.1:11434/v1', 'SVC_MODEL=openai/llama3.2']
    const local = { OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1', SVC_MODEL: 'openai/llama3.2' }
    const env = { ANTHROPIC_API_KEY: 'real', OPENAI_API_KEY: '' }
    expect(readEnvFile(env, folderWith(lines))).toEqual({ settings: local, warnings: [] })
    expect(readEnvFile(env, folderWith([...lines, 'OPENAI_API_KEY=own']))).toEqual({
      settings: { ...local, OPENAI_API_KEY: 'own' },
      warnings: [],
    })
  })
})

describe('the file itself', () => {
  test('is optional, and a folder with that name is ignored', () => {
    const cwd = temporaryFolder()
    expect(readEnvFile({}, cwd)).toEqual({ settings: {}, warnings: [] })
    mkdirSync(join(cwd, '.env'))
    expect(readEnvFile({}, cwd)).toEqual({ settings: {}, warnings: [] })
  })

  test.runIf(process.getuid?.() === 0)('of another user is not read', () => {
    const cwd = folderWith(['SVC_PORT=9000'])
    chownSync(join(cwd, '.env'), 1234, 1234)
    const warnings = ['.env was not read, because it belongs to another user']
    expect(readEnvFile({}, cwd)).toEqual({ settings: {}, warnings })
  })

  test.each([
    ['its group', 0o620],
    ['all users', 0o602],
  ])('that %s can write is not read', (_, mode) => {
    const warnings = ['.env was not read, because other users can write it; run: chmod 600 .env']
    expect(readEnvFile({}, folderWith(['SVC_PORT=9000'], mode))).toEqual({ settings: {}, warnings })
  })

  test('that others can read gets a warning if it has a secret', () => {
    const warnings = ['.env: other users can read its secrets; run: chmod 600 .env']
    for (const name of ['SVC_SECRET_KEY', 'OPENAI_API_KEY', 'SVC_KEY', 'SVC_SECRET_KEY_OLD']) {
      const settings = { [name]: 'k' }
      expect(readEnvFile({}, folderWith([`${name}=k`], 0o644))).toEqual({ settings, warnings })
      expect(readEnvFile({}, folderWith([`${name}=k`], 0o640))).toEqual({ settings, warnings: [] })
    }
    expect(readEnvFile({}, folderWith(['SVC_PORT=9000', 'OPENAI_API_KEY='], 0o644)).warnings).toEqual([])
  })
})
