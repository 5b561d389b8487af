// `npm run bench`: builds the service and the benchmark, measures, and removes its files.
//   npm run bench                    all parts (about twenty minutes)
//   npm run bench -- create tasks    these parts only
//   npm run bench -- --json          the report as JSON
//   npm run bench -- many-tasks --stored=1000000 --details     lists and reports on that many tasks; each of them by name
//   npm run bench -- load            a mix of calls on growing stores: --postgres --replicas=2 --stored=10000,1000000
//                                    --clients=32 --seconds=15; on a running service: --url=… (repeatable) with SVC_KEY
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

for (const script of ['install.mjs', 'build.mjs']) {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', script)], { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
const esbuild = await import('esbuild')

// Below the root, so that the bare server finds the SQLite driver in node_modules.
mkdirSync(join(root, 'dist'), { recursive: true })
const programs = mkdtempSync(join(root, 'dist', '.bench-'))
chmodSync(programs, 0o755)
try {
  await esbuild.build({
    entryPoints: {
      main: join(root, 'bench/main.ts'),
      load: join(root, 'bench/load/main.ts'),
      'loop-probe': join(root, 'bench/loop-probe.ts'),
      'bare-server': join(root, 'bench/bare/server.ts'),
      'bare-worker': join(root, 'bench/bare/worker.ts'),
      pace: join(root, 'bench/agents/pace.ts'),
      flood: join(root, 'bench/agents/flood.ts'),
      workflow: join(root, 'bench/agents/workflow.ts'),
    },
    outdir: programs,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // Bundled CommonJS packages call `require` for modules of Node.js, and an ES module has no `require`.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'\nconst require = __createRequire(import.meta.url)",
    },
    platform: 'node',
    external: ['pg-native'],
    target: 'node20.19',
    format: 'esm',
    logLevel: 'warning',
  })
  process.exitCode = await measure()
} finally {
  rmSync(programs, { recursive: true, force: true })
}

/** @returns {Promise<number>} */
function measure() {
  return new Promise((resolve, reject) => {
    const args = [join(programs, 'main.mjs'), root, programs, ...process.argv.slice(2)]
    const child = spawn(process.execPath, args, { stdio: 'inherit' })
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal))
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
