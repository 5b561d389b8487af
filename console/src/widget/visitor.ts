/** What the browser remembers about a visitor. Pages may forbid storage: then it lasts as long as the page. */
export interface VisitorMemory {
  /** The key of the conversation; null before the first message. */
  key: string | null
  /** Whether the address was sent. */
  hasContact: boolean
}

export interface Visitor extends VisitorMemory {
  /** The key, made at the first use. */
  requireKey(): string
  save(): void
}

export function loadVisitor(channel: string): Visitor {
  const name = `agent-work-chat:${channel}`
  const visitor: Visitor = {
    ...readMemory(name),
    requireKey() {
      visitor.key ??= randomId()
      visitor.save()
      return visitor.key
    },
    save() {
      try {
        localStorage.setItem(name, JSON.stringify({ key: visitor.key, hasContact: visitor.hasContact }))
      } catch {}
    },
  }
  return visitor
}

function readMemory(name: string): VisitorMemory {
  try {
    const stored: Partial<VisitorMemory> = JSON.parse(localStorage.getItem(name) ?? '{}')
    const { key, hasContact } = stored
    return { key: typeof key === 'string' ? key : null, hasContact: hasContact === true }
  } catch {
    return { key: null, hasContact: false }
  }
}

/** 256 random bits, so that nobody can guess the key of another visitor. `randomUUID` needs https. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
