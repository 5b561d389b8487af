import { createServer } from 'node:net'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDeployment } from '../../faults/service-process.ts'
import { POSTGRES_URL_VARIABLE } from '../../postgres.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

test('a second service on the same data folder refuses to start, and the first continues', async () => {
  const deployment = await createDeployment('sqlite')
  const first = await deployment.start()
  const env = { SVC_DATA_DIR: join(deployment.dir, 'data'), SVC_PORT: '0' }
  const second = await runSvc(['serve'], { cwd: deployment.dir, env })
  expect(second).toMatchObject({ code: 1, stderr: expect.stringMatching(/another service uses .*\n.*SVC_DATA_DIR/) })
  expect((await first.call('GET', '/health')).status).toBe(200)
  await first.kill()
  await deployment.start()
})

test('every command refuses a database URL that is not PostgreSQL before it writes anything', async () => {
  const cwd = temporaryFolder()
  const env = { DATABASE_URL: 'mysql://root:hushhush@127.0.0.1/x', SVC_PORT: '0' }
  const message = 'DATABASE_URL must be postgres://user:password@host:5432/name, not mysql://…'
  for (const args of [['serve'], ['backup', '.'], ['doctor']]) {
    const { code, stdout, stderr } = await runSvc(args, { cwd, env })
    expect(code).toBe(1)
    expect(stdout + stderr).toContain(message)
    expect(stdout + stderr).not.toContain('hushhush')
  }
  expect(readdirSync(cwd)).toEqual([])
})

test('a failed start says what to do: port in use, unusable data folder, unusable database', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const address = taken.address()
  const port = String(typeof address === 'object' && address?.port)
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'file'), '')
  mkdirSync(join(cwd, 'broken'))
  writeFileSync(join(cwd, 'broken/svc.db'), 'no database, but long enough to look like one. '.repeat(200))
  const absent = new URL(process.env[POSTGRES_URL_VARIABLE] ?? '')
  absent.pathname = '/absent'
  for (const [env, stderr] of [
    [{ SVC_PORT: port }, new RegExp(`127.0.0.1:${port} is already in use\\n.*SVC_PORT`)],
    [{ SVC_PORT: '0', SVC_HOST: '192.0.2.1' }, /cannot listen on 192.0.2.1:0: .*\n.*SVC_HOST/],
    [{ SVC_PORT: '0', SVC_HOST: 'no.such.host.invalid' }, /listen on no\.such\.host\.invalid:0: .*\n.*SVC_HOST/],
    [{ SVC_PORT: '0', SVC_DATA_DIR: join(cwd, 'file') }, /file.*\n.*SVC_DATA_DIR/],
    [{ SVC_PORT: '0', SVC_DATA_DIR: join(cwd, 'broken') }, /broken.svc\.db .*not a database\n.*SVC_DATA_DIR/],
    [{ SVC_PORT: '0', DATABASE_URL: absent.href }, /database "absent" does not exist\n.*DATABASE_URL/],
    [{ SVC_PORT: '0', DATABASE_URL: `postgres://u:hushhush@127.0.0.1:1/x` }, /cannot be reached: .*\n.*DATABASE_URL/],
  ] as const) {
    const failed = await runSvc(['serve'], { cwd, env: { SVC_SANDBOX: 'process', ...env } })
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(stderr) })
    // The founder key is shown only once, so a failed start must not create it.
    expect(failed.stdout).not.toContain('svc_key_')
    expect(failed.stderr + failed.stdout).not.toContain('hushhush')
  }
})

test('serve and doctor report an unknown setting and suggest the closest name', async () => {
  const env = { SVC_MAX_CONCURENT_TASKS: '3', SVC_WHATEVER: '1', SVC_MODEL_GOLD: '', SVC_HOST: '192.0.2.1' }
  const [started, checked] = await Promise.all(
    ['serve', 'doctor'].map((command) => runSvc([command], { cwd: temporaryFolder(), env })),
  )
  for (const output of [started?.stderr, checked?.stdout]) {
    expect(output).toContain('unknown setting SVC_MAX_CONCURENT_TASKS (did you mean SVC_MAX_CONCURRENT_TASKS?)')
    expect(output).toContain('unknown setting SVC_WHATEVER')
    expect(output?.match(/unknown setting/g)).toHaveLength(2)
  }
})

test('serve names the settings of a metrics server that cannot listen', async () => {
  const env = { SVC_PORT: '0', SVC_SANDBOX: 'process', SVC_METRICS_PORT: '0', SVC_METRICS_HOST: '127.0.0.999' }
  const failed = await runSvc(['serve'], { cwd: temporaryFolder(), env: { ...env, SVC_METRICS_TOKEN: 'x'.repeat(20) } })
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('SVC_METRICS_HOST and SVC_METRICS_PORT') })
})
