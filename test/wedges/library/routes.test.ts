import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requireWedge } from '../../../src/wedges/library/enabled-wedges.ts'
import { anyStore } from '../../app.ts'
import { disableWedges, firstProjectId, knowledgeApps } from '../knowledge/knowledge-app.ts'
import { minimalManifest, writeWedgeFiles } from './wedge-folder.ts'

anyStore((store) => {
  const openApp = knowledgeApps({ store })

  test('a wedge shows its manifest as written, its skills, and its authored and live knowledge', async () => {
    const app = await openApp()
    const { body: item } = await app.call('POST', `${app.path}/knowledge`, { name: 'n', content: 'c' })
    const { status, body } = await app.call('GET', app.path)
    expect(status).toBe(200)
    expect(body).toMatchObject({ wedge: app.wedge, title: 'Support', enabled: true, problems: [] })
    expect(body.manifest.task_types).toEqual({ triage: {} })
    expect(body.skills).toEqual([{ name: 'handling', content: 'Be kind.' }])
    expect(body.knowledge).toEqual({ authored: [{ name: 'terms.md', content: 'Thirty days.' }], live: [item] })
  })

  test('a wedge shows its skills that are folders, with the sizes of their files', async () => {
    const app = await openApp()
    const text = '---\nname: refunds\ndescription: For refunds.\n---\nRules'
    await writeWedgeFiles(app.wedgesDir, 'folders', {
      'wedge.json': minimalManifest('folders'),
      'skills/refunds/SKILL.md': text,
      'skills/refunds/references/é.md': 'é',
    })
    const { body } = await app.call('GET', '/v1/wedges/folders')
    expect([body.skills, body.skill_folders]).toEqual([
      [],
      [
        {
          name: 'refunds',
          description: 'For refunds.',
          content: 'Rules',
          files: [
            { path: 'SKILL.md', size: text.length },
            { path: 'references/é.md', size: 2 },
          ],
        },
      ],
    ])
  })

  test('a new folder is a wedge at once, and a malformed one is 404', async () => {
    const app = await openApp()
    await writeWedgeFiles(app.wedgesDir, 'new', { 'wedge.json': minimalManifest('new'), 'rehearsals/triage.json': '{' })
    await writeWedgeFiles(app.wedgesDir, 'bad', { 'wedge.json': '{' })
    const { body } = await app.call('GET', '/v1/wedges/new')
    expect(body).toMatchObject({
      title: 'new',
      problems: [{ file: 'rehearsals/triage.json', line: 1, message: expect.stringMatching(/^malformed json/) }],
    })
    for (const slug of ['bad', 'absent', '..%2fsupport', 'SUPPORT']) {
      const response = await app.call('GET', `/v1/wedges/${slug}`)
      expect(response).toMatchObject({ status: 404, body: { error: 'no such wedge' } })
    }
    expect(app.ctx.wedges.problems().map(({ wedge }) => wedge)).toEqual(['bad', 'new'])
  })

  test('a wedge that cannot be used is listed with its problems, and a task of it is refused', async () => {
    const app = await openApp()
    await writeWedgeFiles(app.wedgesDir, 'bad', { 'wedge.json': '{\n  "wedge": "bad"\n}' })
    await writeWedgeFiles(app.wedgesDir, 'Not A Slug', { 'wedge.json': minimalManifest('x') })
    await app.call('GET', '/v1/wedges/bad')
    const { data } = (await app.call('GET', '/v1/wedges')).body
    const problems = [{ file: 'wedge.json', line: 1, message: 'task_types is required' }]
    expect(data).toContainEqual({ wedge: 'bad', title: 'bad', manifest: {}, enabled: false, problems })
    expect(data.map(({ wedge }: { wedge: string }) => wedge)).not.toContain('Not A Slug')
    expect((await app.call('GET', '/v1/wedges?limit=1&cursor=ba')).body.data).toMatchObject([{ wedge: 'bad' }])
    const { body: meta } = await app.call('GET', '/v1/meta')
    expect(meta.problems).toContainEqual({ wedge: 'bad', problem: 'wedge.json: task_types is required' })
    const task = await app.call('POST', '/v1/tasks', { wedge: 'bad', task_type: 'triage' })
    expect(task).toMatchObject({ status: 400, body: { error: "unknown wedge 'bad'" } })
  })

  test('a wedge shows the input schema and the example input of each task type', async () => {
    const app = await openApp()
    const example = { from: 'ada@example.com' }
    const input_schema = { type: 'integer' }
    await writeWedgeFiles(app.wedgesDir, 'shop', {
      'wedge.json': { wedge: 'shop', task_types: { answer: {}, count: {}, typed: { input_schema, example: 7 } } },
      'rehearsals/answer.input.json': example,
      'rehearsals/typed.input.json': '8',
    })
    const { body } = await app.call('GET', '/v1/wedges/shop')
    expect(body.task_types).toEqual({
      answer: { input_schema: null, example },
      count: { input_schema: null, example: null },
      typed: { input_schema, example: 7 },
    })
  })

  test('wedges are listed by name, in pages', async () => {
    const app = await openApp()
    for (const slug of ['zz-two', 'zz_one', 'zzz'])
      await writeWedgeFiles(app.wedgesDir, slug, { 'wedge.json': minimalManifest(slug) })
    await app.call('GET', '/v1/wedges/zzz')
    const all = (await app.call('GET', '/v1/wedges')).body.data
    const usable = all.filter(({ enabled }: { enabled: boolean }) => enabled)
    expect(usable.map(({ wedge }: { wedge: string }) => wedge)).toEqual(app.ctx.wedges.all().map(({ slug }) => slug))
    expect(all).toContainEqual(expect.objectContaining({ wedge: app.wedge, title: 'Support', enabled: true }))
    const first = (await app.call('GET', '/v1/wedges?limit=2&cursor=zz')).body
    expect(first).toMatchObject({ data: [{ wedge: 'zz-two' }, { wedge: 'zz_one' }], next_cursor: 'zz_one' })
    const second = (await app.call('GET', '/v1/wedges?limit=2&cursor=zz_one')).body
    expect(second).toMatchObject({ data: [{ wedge: 'zzz' }], next_cursor: null })
    expect((await app.call('GET', '/v1/wedges?limit=0')).status).toBe(400)
    expect((await app.call('GET', '/v1/wedges', undefined, { key: null })).status).toBe(401)
  })

  test('a request can use only a wedge that exists and is enabled for the project', async () => {
    const app = await openApp()
    const scope = { projectId: await firstProjectId(app) }
    expect((await requireWedge(app.ctx, scope, app.wedge)).slug).toBe(app.wedge)
    await expect(requireWedge(app.ctx, scope, 'absent')).rejects.toMatchObject({
      status: 400,
      message: "unknown wedge 'absent'",
    })
    await disableWedges(app)
    await expect(requireWedge(app.ctx, scope, app.wedge)).rejects.toMatchObject({
      status: 403,
      message: `wedge '${app.wedge}' is not enabled for this project`,
    })
    expect((await app.call('GET', app.path)).body.enabled).toBe(false)
    await rm(join(app.wedgesDir, app.wedge), { recursive: true })
    await app.ctx.wedges.find('absent')
    await expect(requireWedge(app.ctx, scope, app.wedge)).rejects.toMatchObject({ status: 400 })
  })
})
