import { changed, type ConnectionState, type State, type Step } from './state.ts'

/** Names are unique per owner. */
export function createConnection(state: State, { called }: { called: string }): Step {
  if (isTaken(state, called)) return [state, { status: 409 }]
  const name = `n${state.connections.length + 1}`
  const connection = { name, called, hasSecret: false, gone: false }
  return [
    { ...state, connections: [...state.connections, connection] },
    { status: 201, shows: name },
  ]
}

export function renameConnection(state: State, found: ConnectionState, { called }: { called: string }): Step {
  if (found.gone) return [state, { status: 404 }]
  if (called !== found.called && isTaken(state, called)) return [state, { status: 409 }]
  return [withConnection(state, found, { called }), { status: 200 }]
}

export function writeSecret(state: State, found: ConnectionState): Step {
  return found.gone ? [state, { status: 404 }] : [withConnection(state, found, { hasSecret: true }), { status: 200 }]
}

export function deleteConnection(state: State, found: ConnectionState): Step {
  return found.gone ? [state, { status: 404 }] : [withConnection(state, found, { gone: true }), { status: 204 }]
}

const isTaken = (state: State, called: string) => state.connections.some((one) => !one.gone && one.called === called)

function withConnection(state: State, { name }: ConnectionState, change: Partial<ConnectionState>): State {
  return { ...state, connections: changed(state.connections, (one) => one.name === name, change) }
}
