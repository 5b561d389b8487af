import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { expect, test } from 'vitest'
import { readBlueprints } from '../../../src/automation/blueprints/read-blueprints.ts'
import { connectionNames } from '../../../src/platform/contract/wedge/wedge-manifest.ts'
import { openWedgeLibrary } from '../../../src/wedges/library/library.ts'

const folder = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))

test('the example blueprints are valid and match their wedges', async () => {
  const { blueprints, problems } = await readBlueprints(folder('blueprints'))
  expect(problems).toEqual([])
  expect(blueprints.map(({ blueprint }) => blueprint)).toEqual(['inbox-triage', 'invoice-chaser', 'refund-desk'])
  const library = await openWedgeLibrary(folder('wedges'), pino({ level: 'silent' }))
  for (const { wedge, requires_connections, schedules } of blueprints) {
    const manifest = library.get(wedge)?.manifest
    expect(requires_connections.map(({ name }) => name)).toEqual(manifest && connectionNames(manifest))
    for (const { task_type } of schedules) expect(Object.keys(manifest?.task_types ?? {})).toContain(task_type)
  }
})

test('a missing folder has no blueprints', async () => {
  expect(await readBlueprints(folder('no-such-folder'))).toEqual({ blueprints: [], problems: [] })
})
