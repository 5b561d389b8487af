import { startApp } from './app.ts'
import { loadConfig } from './config/config.ts'
import { systemWorld } from './ctx/system.ts'

/** `./svc serve`: starts one replica and stays until it is told to stop. */
async function serve(): Promise<void> {
  const config = loadConfig(process.env)
  const world = systemWorld(config.logLevel)
  const app = await startApp(config, world)
  say(`Agent Work Service listens on ${app.url}`)
  say(
    `store: ${app.ctx.store.kind === 'sqlite' ? `SQLite in ${config.dataDir}` : 'PostgreSQL'}; sandbox: ${app.driver.kind}`,
  )
  if (app.firstKey) say(`founder key, shown this once: ${app.firstKey}`)
  let stopping = false
  const stop = () => {
    if (stopping) return
    stopping = true
    app.stop().then(
      () => process.exit(0),
      (error) => {
        world.log.error({ err: error }, 'the service did not stop cleanly')
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

const say = (line: string) => process.stdout.write(`${line}\n`)

const [command] = process.argv.slice(2)
if (command === 'serve') {
  await serve().catch((error) => {
    process.stderr.write(`svc: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  })
} else {
  process.stderr.write('usage: svc serve\n')
  process.exit(2)
}
