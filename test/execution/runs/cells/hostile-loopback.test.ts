import { expect, test } from 'vitest'
import { sharedApp } from '../../../app.ts'
import { scriptedAgentFolder, startScript, waitForEvent } from '../scripted-agent.ts'

const agents = scriptedAgentFolder()
const app = sharedApp({ store: 'sqlite', env: { SVC_SANDBOX: 'bwrap', ...agents } })

const HELPERS = `
import ctypes, json, os, re, signal, socket, sys
brief = json.loads(sys.stdin.readline())
port = int(os.environ['SVC_BASE_URL'].rsplit(':', 1)[1])
token = os.environ['OPENAI_API_KEY']
def end(value): print(json.dumps({'output': value}), flush=True)
def connect():
    return socket.create_connection(('127.0.0.1', port), 20)
def send(*parts):
    """The status lines of all responses to these bytes."""
    connection = connect()
    received = b''
    try:
        for part in parts: connection.sendall(part)
        # A busy machine may need long for the first response, but not for what follows it.
        while part := connection.recv(65536):
            received += part
            connection.settimeout(3)
    except OSError: pass
    return [int(code) for code in re.findall(rb'HTTP/1.1 (\\d+)', received)]
def request(more=b'', path=b'/v1/internal/records/notes', method=b'GET'):
    return method + b' ' + path + b' HTTP/1.1\\r\\nhost: a\\r\\nx-api-key: ' + token.encode() + b'\\r\\n' + more + b'\\r\\n'
close = b'connection: close\\r\\n'
`

async function runPython(program: string) {
  const { id } = await app().createTask({ input: { python: HELPERS + program } })
  return app().finished(id)
}

test('a custom agent finds one open port on its loopback interface, although the service listens on that of the machine', async () => {
  const { output } = await runPython(`
found = []
for number in range(1, 65536):
    attempt = socket.socket()
    # A socket whose own port is the one that it calls is connected with itself.
    if attempt.connect_ex(('127.0.0.1', number)) == 0 and attempt.getsockname() != attempt.getpeername():
        found.append(number)
    attempt.close()
end([found == [port], ${new URL(app().url).port} in found])`)
  expect(output).toEqual([true, false])
})

test('requests that two parsers could read in different ways are refused, and none is smuggled', async () => {
  const { output } = await runPython(`
hidden = b'GET /v1/internal/records/notes HTTP/1.1\\r\\nhost: a\\r\\nconnection: close\\r\\n\\r\\n'
size = str(len(hidden)).encode()
end({
  'plain': send(request(close)),
  'both lengths': send(request(b'content-length: ' + size + b'\\r\\ntransfer-encoding: chunked\\r\\n') + b'0\\r\\n\\r\\n' + hidden),
  'two lengths': send(request(b'content-length: 0\\r\\ncontent-length: ' + size + b'\\r\\n') + hidden),
  'unknown coding': send(request(b'transfer-encoding: chunked, x\\r\\n', method=b'POST') + b'0\\r\\n\\r\\n' + hidden),
  'space in a name': send(request(b'content-length : 5\\r\\n') + hidden),
  'folded header': send(request(b'transfer-encoding:\\r\\n chunked, x\\r\\n', method=b'POST') + hidden),
  'second without token': send(request() + hidden),
  'many headers': send(request(b''.join(b'h%d: x\\r\\n' % n for n in range(3000)))),
  # The connection may be closed before the response is read.
  'large header': [code for code in send(request(b'large: ' + b'x' * 1000000 + b'\\r\\n')) if code != 431],
  'long path': [code for code in send(request(close, path=b'/' + b'x' * 100000)) if code != 431],
})`)
  expect(output).toEqual({
    plain: [200],
    'both lengths': [400],
    'two lengths': [400],
    'unknown coding': [400],
    'space in a name': [400],
    'folded header': [400],
    'second without token': [200, 401],
    'many headers': [431],
    'large header': [],
    'long path': [],
  })
})

test('the port is not a proxy: other protocols, other hosts and upgrades lead nowhere', async () => {
  const { output } = await runPython(`
upgrade = b'connection: Upgrade, HTTP2-Settings, close\\r\\nupgrade: h2c\\r\\nhttp2-settings: AAMAAABkAAQAAP__\\r\\n'
end({
  'http2': send(b'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n'),
  'upgrade': 101 in send(request(upgrade)),
  'connect': send(request(close, path=b'169.254.169.254:80', method=b'CONNECT')),
  'other host': send(request(close, path=b'http://169.254.169.254/latest/meta-data')),
  'public routes': [send(request(close, path=path)) for path in (b'/v1/tasks', b'/health', b'/v1/internal/../tasks', b'/metrics')],
})`)
  expect(output).toEqual({
    http2: [400],
    upgrade: false,
    connect: [],
    'other host': [404],
    'public routes': [[404], [404], [404], [404]],
  })
})

test('a thousand half-sent requests of one agent do not disturb the service or other runs, and end with it', async () => {
  const flood = `
held = []
for number in range(1000):
    try:
        held.append(connect())
        held[-1].sendall(b'GET /v1/internal/records/notes HTTP/1.1\\r\\nslow: ')
    except OSError: pass
print(json.dumps({'event': 'progress', 'data': {'text': 'flooded'}}), flush=True)
signal.pause()`
  const { id } = await app().createTask({ input: { python: HELPERS + flood } })
  await waitForEvent(app(), id, 'progress')
  expect((await app().call('GET', '/health')).status).toBe(200)
  const other = await runPython(`end([send(request(close)) for _ in range(5)])`)
  expect(other.output).toEqual([[200], [200], [200], [200], [200]])
  await app().call('POST', `/v1/tasks/${id}/cancel`)
  expect((await app().finished(id)).status).toBe('cancelled')
})

test('an agent cannot end, trace or read the process that forwards its port', async () => {
  const { output } = await runPython(`
def attempt(action):
    try: return str(action())
    except OSError as error: return type(error).__name__
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace(16, 1, 0, 0)
traced = os.strerror(ctypes.get_errno())
os.kill(1, signal.SIGKILL)
os.kill(1, signal.SIGSTOP)
end({
  'trace': traced,
  'files': [attempt(lambda: open('/proc/1/' + name, 'rb').read(1)) for name in ('environ', 'mem', 'maps', 'auxv')],
  'pipes': attempt(lambda: os.listdir('/proc/1/fd')),
  'still forwards': send(request(close)),
})`)
  expect(output).toEqual({
    trace: 'Operation not permitted',
    files: Array.from({ length: 4 }, () => 'PermissionError'),
    pipes: 'PermissionError',
    'still forwards': [200],
  })
})

test('the token of another run is refused, while both runs work', async () => {
  const waiting = await startScript(
    app(),
    `await ask('POST', '/v1/internal/records/shared/token', { value: process.env.OPENAI_API_KEY })
     while ((await ask('GET', '/v1/internal/records/shared/done')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
     say({ output: 'done' })`,
  )
  const curious = await startScript(
    app(),
    `let stolen
     while ((stolen = await ask('GET', '/v1/internal/records/shared/token')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
     const get = async (headers) => (await fetch(process.env.SVC_BASE_URL + '/v1/internal/records/notes', { headers })).status
     const answers = [await get({ 'x-api-key': stolen.body.value }), await get({ authorization: 'Bearer ' + stolen.body.value })]
     await ask('POST', '/v1/internal/records/shared/done', { value: true })
     say({ output: answers })`,
  )
  expect((await app().finished(curious)).output).toEqual([401, 401])
  expect((await app().finished(waiting)).output).toBe('done')
})
