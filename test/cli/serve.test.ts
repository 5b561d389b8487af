import { createServer } from 'node:net'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createDeployment } from '../faults/service-process.ts'
import { POSTGRES_URL_VARIABLE } from '../postgres.ts'
import { runSvc, temporaryFolder } from './run-svc.ts'

test('a data folder has one service: a second is told so, and the first goes on', async () => {
  const place = await createDeployment('sqlite')
  const first = await place.start()
  const env = { SVC_DATA_DIR: join(place.dir, 'data'), SVC_PORT: '0' }
  const second = await runSvc(['serve'], { cwd: place.dir, env })
  expect(second).toMatchObject({ code: 1, stderr: expect.stringMatching(/another service uses .*\n.*SVC_DATA_DIR/) })
  expect((await first.call('GET', '/health')).status).toBe(200)
  await first.kill()
  await place.start()
})

test('a database that cannot be the store is refused by every command before anything is touched', async () => {
  const cwd = temporaryFolder()
  const env = { DATABASE_URL: 'mysql://root:hushhush@127.0.0.1/x', SVC_PORT: '0' }
  const sentence = 'DATABASE_URL must be postgres://user:password@host:5432/name, not mysql://…'
  for (const words of [['serve'], ['backup', '.'], ['doctor']]) {
    const { code, stdout, stderr } = await runSvc(words, { cwd, env })
    expect(code).toBe(1)
    expect(stdout + stderr).toContain(sentence)
    expect(stdout + stderr).not.toContain('hushhush')
  }
  expect(readdirSync(cwd)).toEqual([])
})

test('a start that cannot be says what to do: a port that is taken, a folder or a database that cannot be used', async () => {
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
    [{ SVC_PORT: port }, new RegExp(`127.0.0.1:${port} is taken\\n.*SVC_PORT`)],
    [{ SVC_PORT: '0', SVC_HOST: '192.0.2.1' }, /cannot listen on 192.0.2.1:0: .*\n.*SVC_HOST/],
    [{ SVC_PORT: '0', SVC_HOST: 'no.such.host.invalid' }, /listen on no\.such\.host\.invalid:0: .*\n.*SVC_HOST/],
    [{ SVC_PORT: '0', SVC_DATA_DIR: join(cwd, 'file') }, /file.*\n.*SVC_DATA_DIR/],
    [{ SVC_PORT: '0', SVC_DATA_DIR: join(cwd, 'broken') }, /broken.svc\.db .*not a database\n.*SVC_DATA_DIR/],
    [{ SVC_PORT: '0', DATABASE_URL: absent.href }, /database "absent" does not exist\n.*DATABASE_URL/],
    [{ SVC_PORT: '0', DATABASE_URL: `postgres://u:hushhush@127.0.0.1:1/x` }, /cannot be reached: .*\n.*DATABASE_URL/],
  ] as const) {
    const ended = await runSvc(['serve'], { cwd, env: { SVC_SANDBOX: 'process', ...env } })
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(stderr) })
    // It is shown once: the start that can be must be the one that makes it.
    expect(ended.stdout).not.toContain('svc_key_')
    expect(ended.stderr + ended.stdout).not.toContain('hushhush')
  }
})

test('a setting that nobody knows is told of at the start and by the doctor, with the one that was meant', async () => {
  const env = { SVC_MAX_CONCURENT_TASKS: '3', SVC_WHATEVER: '1', SVC_MODEL_GOLD: '', SVC_HOST: '192.0.2.1' }
  const [started, seen] = await Promise.all(
    ['serve', 'doctor'].map((command) => runSvc([command], { cwd: temporaryFolder(), env })),
  )
  for (const said of [started?.stderr, seen?.stdout]) {
    expect(said).toContain('SVC_MAX_CONCURENT_TASKS is no setting: SVC_MAX_CONCURRENT_TASKS is')
    expect(said).toContain('SVC_WHATEVER is no setting')
    expect(said?.match(/is no setting/g)).toHaveLength(2)
  }
})

test('a door for metrics that cannot be opened is named', async () => {
  const env = { SVC_PORT: '0', SVC_SANDBOX: 'process', SVC_METRICS_PORT: '0', SVC_METRICS_HOST: '127.0.0.999' }
  const ended = await runSvc(['serve'], { cwd: temporaryFolder(), env: { ...env, SVC_METRICS_TOKEN: 'x'.repeat(20) } })
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('SVC_METRICS_HOST and SVC_METRICS_PORT') })
})
