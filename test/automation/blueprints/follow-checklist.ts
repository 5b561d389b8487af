import { expect } from 'vitest'
import type { TestApp } from '../../app.ts'

/** An item of a readiness checklist. */
export interface ChecklistItem {
  item: string
  kind: string
  ok: boolean
  fix: { method: string; path: string; body: Record<string, unknown> | null } | null
}

export async function openChecklistItems(app: TestApp, slug: string): Promise<ChecklistItem[]> {
  const { body } = await app.call('GET', `/v1/blueprints/${slug}/readiness`)
  return body.items.filter(({ ok }: ChecklistItem) => !ok)
}

/** Sends the request of the first open item until none is left. Values in angle brackets are filled in. */
export async function followChecklist(app: TestApp, slug: string): Promise<ChecklistItem[]> {
  const created: ChecklistItem[] = []
  for (
    let item = (await openChecklistItems(app, slug))[0];
    item && created.length < 20;
    item = (await openChecklistItems(app, slug))[0]
  ) {
    created.push(item)
    await makeFixCall(app, item)
  }
  return created
}

/** Sends the request of an item, with values filled in for angle brackets. */
export async function makeFixCall(app: TestApp, { fix }: ChecklistItem): Promise<void> {
  const raw = JSON.stringify(fix?.body).replaceAll(/"<([a-z _]+)>"/g, '"$1"')
  const headers = { 'content-type': 'application/json' }
  const response = await app.call(fix?.method ?? '', fix?.path ?? '', undefined, { raw, headers })
  expect(response.status).toBe(200)
}
