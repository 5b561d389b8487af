import { createServer } from 'node:net'

/** Throws as a listener would. A first start makes a key that is shown once: one that failed behind it made it for nobody. */
export function requireFreePort({ host, port }: { host: string; port: number }): Promise<void> {
  const probe = createServer()
  return new Promise((resolve, reject) => {
    probe.once('error', reject)
    probe.listen(port, host, () => probe.close(() => resolve()))
  })
}
