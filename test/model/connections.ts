import { withChange, type ConnectionState, type ModelState, type StepResult } from './model-state.ts'

/** Names are unique per owner. */
export function createConnection(state: ModelState, { called }: { called: string }): StepResult {
  if (isTaken(state, called)) return [state, { status: 409 }]
  const name = `n${state.connections.length + 1}`
  const connection = { name, called, hasSecret: false, gone: false }
  return [
    { ...state, connections: [...state.connections, connection] },
    { status: 201, shows: name },
  ]
}

export function renameConnection(
  state: ModelState,
  found: ConnectionState,
  { called }: { called: string },
): StepResult {
  if (found.gone) return [state, { status: 404 }]
  if (called !== found.called && isTaken(state, called)) return [state, { status: 409 }]
  return [withConnection(state, found, { called }), { status: 200 }]
}

export function writeSecret(state: ModelState, found: ConnectionState): StepResult {
  return found.gone ? [state, { status: 404 }] : [withConnection(state, found, { hasSecret: true }), { status: 200 }]
}

export function deleteConnection(state: ModelState, found: ConnectionState): StepResult {
  return found.gone ? [state, { status: 404 }] : [withConnection(state, found, { gone: true }), { status: 204 }]
}

const isTaken = (state: ModelState, called: string) =>
  state.connections.some((one) => !one.gone && one.called === called)

function withConnection(state: ModelState, { name }: ConnectionState, change: Partial<ConnectionState>): ModelState {
  return { ...state, connections: withChange(state.connections, (one) => one.name === name, change) }
}
