import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DOVECOT, POSTFIX } from '../../scripts/machine.mjs'
import { freePort } from '../free-port.ts'
import { DOVECOT_CONF, MAIN_CF, MASTER_CF } from './mail-server-settings.ts'

/**
 * A real mail server: Postfix for SMTP, with Dovecot for logins and IMAP. It has the mailboxes `agent@test.example` and
 * `kim@test.example`, and accepts mail for `gone@test.example` that it then returns to the sender.
 */
export interface MailServer {
  /** Requires STARTTLS and a login, and then accepts mail for `test.example` only. */
  submissionPort: number
  /** Accepts mail for `test.example` from everybody, like the server that others deliver to. */
  smtpPort: number
  imapPort: number
  username: string
  password: string
  /** The certificate of the server, which signs itself. */
  ca: string
  /** The messages in a mailbox, oldest first. Waits until there are `count` of them. */
  receivedMail(count: number, username?: string): Promise<string[]>
  /** Puts a mail into the agent's mailbox as it is. Dovecot cannot read one without permissions. */
  putMail(raw: Buffer, mode?: number): void
  /** Gives every mail of the agent a new UID, as after a restored backup. */
  forgetUids(): void
  /** What both programs have logged. */
  logged(): string
  stop(): Promise<void>
}

const USERNAME = 'agent@test.example'
const OTHER_USERNAME = 'kim@test.example'
const PASSWORD = 'pa55-word-of-the-m@ilbox'

export async function startMailServer(): Promise<MailServer> {
  for (let attempt = 1; ; attempt++) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-mail-'))
    const ports = { submission: await freePort(), smtp: await freePort(), imap: await freePort() }
    writeServerFiles(folder, ports)
    const server = toMailServer(folder, ports, runServers(folder))
    // Another program may have taken one of the ports meanwhile.
    const areOpen = await Promise.all(Object.values(ports).map(isPortOpenSoon))
    if (areOpen.every(Boolean)) return server
    const logged = server.logged()
    await server.stop()
    if (attempt === MAX_ATTEMPTS) throw new Error(`the mail servers do not start: ${logged}`)
  }
}

const MAX_ATTEMPTS = 4

/** The config of a channel that reads the server's mailbox. */
export const mailboxConfig = (server: MailServer) => ({
  host: 'localhost',
  port: server.imapPort,
  secure: false,
  username: server.username,
  ca: server.ca,
})

function toMailServer(
  folder: string,
  ports: { submission: number; smtp: number; imap: number },
  servers: ChildProcess,
): MailServer {
  return {
    submissionPort: ports.submission,
    smtpPort: ports.smtp,
    imapPort: ports.imap,
    username: USERNAME,
    password: PASSWORD,
    ca: readFileSync(join(folder, 'cert.pem'), 'utf8'),
    receivedMail: (count, username = USERNAME) => waitForMail(join(folder, 'mail', username, 'new'), count),
    putMail: (raw, mode = 0o600) => putMail(join(folder, 'mail', USERNAME), raw, mode),
    forgetUids: () => {
      const mailbox = join(folder, 'mail', USERNAME)
      for (const name of readdirSync(mailbox)) if (name.startsWith('dovecot')) rmSync(join(mailbox, name))
    },
    logged: () =>
      ['dovecot.log', 'data/postfix.log', 'output.log'].map((file) => readIfExists(join(folder, file))).join(''),
    async stop() {
      const exited = once(servers, 'exit')
      servers.stdin?.end()
      await exited
    },
  }
}

/** Runs until its input is closed, which also happens if the test process is killed. Both programs leave this process. */
const RUN_SERVERS = `
  ${DOVECOT} -c "$PWD/dovecot.conf" && ${POSTFIX} -c "$PWD/etc" start
  cat >/dev/null
  ${POSTFIX} -c "$PWD/etc" abort
  kill "$(cat "$PWD/run/master.pid")"
  while [ -e "$PWD/run/master.pid" ]; do sleep 0.1; done
  rm -rf "$PWD"`

function runServers(folder: string): ChildProcess {
  const output = openSync(join(folder, 'output.log'), 'a')
  // Detached, so that a kill of the process group of the tests does not reach it.
  return spawn('sh', ['-c', RUN_SERVERS], { cwd: folder, stdio: ['pipe', output, output], detached: true })
}

function writeServerFiles(folder: string, ports: { submission: number; smtp: number; imap: number }): void {
  const idOf = (user: string, kind: '-u' | '-g') => Number(execFileSync('id', [kind, user], { encoding: 'utf8' }))
  const nobody = { uid: idOf('nobody', '-u'), gid: idOf('nobody', '-g') }
  execFileSync('chmod', ['755', folder])
  for (const name of ['mail', 'run', 'q', 'data', 'etc']) mkdirSync(join(folder, name))
  chownSync(join(folder, 'mail'), nobody.uid, nobody.gid)
  chownSync(join(folder, 'data'), idOf('postfix', '-u'), idOf('postfix', '-g'))
  createCertificate(folder)
  const users = [USERNAME, OTHER_USERNAME].map((user) => `${user}:{PLAIN}${PASSWORD}::::::\n`)
  writeFileSync(join(folder, 'users'), users.join(''))
  const values = {
    D: folder,
    U: nobody.uid,
    G: nobody.gid,
    SUBMISSION: ports.submission,
    SMTP: ports.smtp,
    IMAP: ports.imap,
  }
  const fill = (text: string) =>
    text.replaceAll(/\$(\w+)/g, (_, name: keyof typeof values) => String(values[name])).replaceAll(/^ {4}/gm, '')
  writeFileSync(join(folder, 'dovecot.conf'), fill(DOVECOT_CONF))
  writeFileSync(join(folder, 'etc/main.cf'), fill(MAIN_CF))
  writeFileSync(join(folder, 'etc/master.cf'), fill(MASTER_CF))
}

/** Writes `key.pem` and `cert.pem` for localhost, which the certificate itself signs. */
export function createCertificate(folder: string): void {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...files, ...names], {
    stdio: 'ignore',
  })
}

let mailsPut = 0

/** A mail server reads a file in `new`, so it must have all bytes when it appears there. */
function putMail(mailbox: string, raw: Buffer, mode: number): void {
  const { uid, gid } = statSync(join(mailbox, '..'))
  for (const path of [mailbox, join(mailbox, 'tmp'), join(mailbox, 'new'), join(mailbox, 'cur')]) {
    mkdirSync(path, { recursive: true })
    chownSync(path, uid, gid)
  }
  const name = `${Math.floor(Date.now() / 1000)}.M${++mailsPut}.bench`
  const written = join(mailbox, 'tmp', name)
  writeFileSync(written, raw, { mode })
  chownSync(written, uid, gid)
  renameSync(written, join(mailbox, 'new', name))
}

async function waitForMail(folder: string, count: number): Promise<string[]> {
  const deadline = Date.now() + 180_000
  for (;;) {
    const names = listIfExists(folder)
    if (names.length >= count) return sortByArrival(names).map((name) => readFileSync(join(folder, name), 'utf8'))
    if (Date.now() > deadline) throw new Error(`${names.length} of ${count} mails arrived`)
    await pause()
  }
}

const sortByArrival = (names: string[]): string[] => names.toSorted((a, b) => arrivalOf(a) - arrivalOf(b))

/** A name has the second and, after an M, the microsecond of the delivery: 1763426068.V803I1a2bM52311.host */
function arrivalOf(name: string): number {
  const [, second, microsecond] = /^(\d+)\..*?M(\d+)/.exec(name) ?? []
  return Number(second) * 1e6 + Number(microsecond)
}

async function isPortOpenSoon(port: number): Promise<boolean> {
  const deadline = Date.now() + 60_000
  while (!(await accepts(port))) {
    if (Date.now() > deadline) return false
    await pause()
  }
  return true
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 50))

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function listIfExists(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
