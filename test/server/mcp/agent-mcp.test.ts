import { join } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import { requestedApprovalId, sharedGatedApp } from '../../approvals/decisions/gated-app.ts'
import { addShop, shopWedgeFiles } from '../../connections/operations-app.ts'
import { SDK_ROOT } from '../../sdk-packages.ts'
import { scriptedAgentFolder, startScript, waitForEvent } from '../../execution/runs/scripted-agent.ts'

const agents = scriptedAgentFolder()

/** The official client as one file, beside the program of the agent. */
beforeAll(async () => {
  const contents = `export { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'`
  await build({
    stdin: { contents, resolveDir: SDK_ROOT },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile: join(agents.SVC_AGENT_DIR, 'mcp.cjs'),
  })
})

const CONNECT = `
const { Client, StreamableHTTPClientTransport } = require('./mcp.cjs')
const client = new Client({ name: 'agent', version: '1' })
const headers = { authorization: 'Bearer ' + process.env.OPENAI_API_KEY }
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.SVC_MCP_URL), { requestInit: { headers } }))
const call = (name, input = {}) => client.callTool({ name, arguments: input }, { timeout: 600_000 })
`

const MANIFEST = {
  task_types: {
    act: { output_schema: { type: 'object', required: ['said'], properties: { said: {} } } },
    free: {},
  },
  cases: { stages: ['new', 'done'], initial: 'new' },
}

const SKILL = '---\nname: rules\ndescription: For refunds.\n---\nBe kind.'

describe.each(['bwrap', 'process'])('the MCP server of a run (%s)', (sandbox) => {
  const app = sharedGatedApp('sqlite', {
    wedges: { ...shopWedgeFiles(MANIFEST), 'gate/skills/rules/SKILL.md': SKILL },
    env: { SVC_SANDBOX: sandbox, ...agents },
  })
  beforeAll(async () => {
    await addShop(app())
  })

  const run = async (js: string, extra: Record<string, unknown> = {}) => {
    const id = await startScript(app(), CONNECT + js, { wedge: 'gate', task_type: 'free', ...extra })
    return app().finished(id)
  }

  test('lists every granted tool with its schema', async () => {
    const { output } = await run(`
      const { tools } = await client.listTools()
      say({ output: { server: client.getServerVersion().name, tools } })`)
    const { server, tools } = output as {
      server: string
      tools: { name: string; inputSchema: object; annotations: object }[]
    }
    expect(server).toBe('agent-work-service')
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining(['shop__create', 'shop__find', 'workflow__look_up', 'workflow__book_room', 'act', 'read']),
    )
    expect(names).toEqual(
      expect.arrayContaining(['records_get', 'records_put', 'records_list', 'records_delete', 'ask_person', 'finish']),
    )
    expect(names).not.toContain('case_get')
    expect(tools.find(({ name }) => name === 'shop__held_refund')).toMatchObject({
      inputSchema: { type: 'object', required: ['amount', 'id'] },
      annotations: { readOnlyHint: false },
    })
    expect(tools.find(({ name }) => name === 'shop__find')).toMatchObject({ annotations: { readOnlyHint: true } })
  })

  test('calls operations, workflows and records, and reports mistakes as results', async () => {
    const { output } = await run(`
      const entry = { collection: 'notes', key: 'a' }
      say({ output: {
        created: await call('shop__create', { charge: 'ch_1' }),
        found: await call('shop__find', { limit: 2 }),
        workflow: await call('workflow__look_up', { room: 4 }),
        put: await call('records_put', { ...entry, value: { size: 1 } }),
        got: await call('records_get', entry),
        listed: await call('records_list', { collection: 'notes', where: { size: 1 } }),
        missing: await call('records_get', { collection: 'notes', key: 'b' }),
        invalid: await call('shop__held_refund', { amount: 'much', id: 'x' }),
        skill: await call('skill_read', { skill: 'rules' }),
        noFile: await call('skill_read', { skill: 'rules', path: '../wedge.json' }),
        unknown: await call('shop__nothing').catch((error) => String(error.message)),
      } })`)
    expect(output).toMatchObject({
      created: { isError: false, structuredContent: { ok: true, payload: { charge: 'ch_1' } } },
      found: { isError: false, structuredContent: { ok: true, body: { done: true } } },
      workflow: { structuredContent: { result: { look_up: { room: 4 } } } },
      put: { structuredContent: { key: 'a', value: { size: 1 } } },
      got: { structuredContent: { key: 'a', value: { size: 1 }, version: 1 } },
      listed: { structuredContent: { data: [{ key: 'a' }] } },
      missing: { isError: true, content: [{ type: 'text', text: 'no such record' }] },
      invalid: { isError: true, content: [{ text: expect.stringContaining('amount') }] },
      skill: { isError: false, structuredContent: { path: 'SKILL.md', content: SKILL } },
      noFile: { isError: true, content: [{ text: 'no such file in this skill; it has SKILL.md' }] },
      unknown: expect.stringContaining('no such tool: shop__nothing'),
    })
  })

  test('waits at the gate like every other way: nothing happens before a person has approved it', async () => {
    const js = `${CONNECT}
      say({ output: [await call('workflow__book_room', { room: 7 }), await call('records_delete', { collection: 'none', key: 'x' })] })`
    const id = await startScript(app(), js, { wedge: 'gate', task_type: 'free' })
    const first = await requestedApprovalId(app(), id)
    const { body: approval } = await app().call('GET', `/v1/approvals/${first}`)
    expect(approval).toMatchObject({ action: 'book_room', preview: { room: 7 } })
    await app().call('POST', `/v1/approvals/${first}/approve`, {})
    const second = await requestedApprovalId(app(), id, 2)
    await app().call('POST', `/v1/approvals/${second}/reject`, {})
    expect(await app().finished(id)).toMatchObject({ status: 'rejected', error: { reason: 'rejected' } })
  })

  test('reads and updates the case of a task that has one', async () => {
    const { body: opened } = await app().call('POST', '/v1/cases', { wedge: 'gate', title: 'Room 4' })
    const js = `${CONNECT}
      const names = (await client.listTools()).tools.map(({ name }) => name)
      const before = (await call('case_get')).structuredContent
      const after = (await call('case_update', { stage: 'done' })).structuredContent
      say({ output: [names.includes('case_get') && names.includes('case_update'), before.stage, after.stage] })`
    const { body: task } = await app().call('POST', `/v1/cases/${opened.id}/tasks`, {
      task_type: 'free',
      input: { js },
    })
    expect((await app().finished(task.id)).output).toEqual([true, 'new', 'done'])
  })

  test('asks a person', async () => {
    const js = `${CONNECT} say({ output: (await call('ask_person', { question: 'Which?', options: ['S', 'L'], to: 'team' })).structuredContent })`
    const id = await startScript(app(), js, { wedge: 'gate', task_type: 'free' })
    const approval = await requestedApprovalId(app(), id)
    await app().call('POST', `/v1/approvals/${approval}/approve`, { edited: { answer: 'L' } })
    expect(await app().finished(id)).toMatchObject({ output: { answered: true, answer: 'L' } })
  })

  test('finish ends the task with its output and its files, and refuses an output that does not match the schema', async () => {
    const task = await run(
      `const wrong = await call('finish', { output: { other: 1 } })
       require('node:fs').mkdirSync(process.env.HOME + '/out', { recursive: true })
       require('node:fs').writeFileSync(process.env.HOME + '/out/note.txt', 'kept')
       const right = await call('finish', { output: { said: [wrong.isError, wrong.content[0].text] } })
       const again = await call('finish', { output: { said: 'again' } })
       if (!again.isError || right.isError) throw new Error('unexpected')
       setInterval(() => {}, 1000)`,
      { task_type: 'act' },
    )
    expect(task).toMatchObject({ status: 'succeeded', output: { said: [true, expect.stringContaining('said')] } })
    expect((task.artifacts as { name: string }[]).map(({ name }) => name)).toEqual(['output.json', 'note.txt'])
  })

  test('an output that finish accepted counts, although the time limit ends the program', async () => {
    const js = `await call('finish', { output: 'kept' }); say({ event: 'progress', data: { text: 'finished' } }); setInterval(() => {}, 1000)`
    const constraints = { max_runtime_s: 1 }
    const id = await startScript(app(), CONNECT + js, { wedge: 'gate', task_type: 'free', constraints })
    await waitForEvent(app(), id, 'progress')
    await app().clock.advance(1000)
    expect(await app().finished(id)).toMatchObject({ status: 'succeeded', output: 'kept' })
  })

  test('needs the token of the run, and has no stream and no session', async () => {
    const { output } = await run(`
      const send = async (method, headers) => (await fetch(process.env.SVC_MCP_URL, { method, headers })).status
      const token = { authorization: 'Bearer ' + process.env.OPENAI_API_KEY }
      say({ output: [await send('POST', {}), await send('POST', { 'x-api-key': brief.service.gate_token }), await send('GET', token), await send('DELETE', token)] })`)
    expect(output).toEqual([401, 401, 405, 405])
  })
})
