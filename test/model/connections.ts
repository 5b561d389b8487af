import { withChange, type ConnectionState, type ModelState, type StepResult } from './model-state.ts'

/** The name of a connection is unique in the project. */
export function createConnection(state: ModelState, { label }: { label: string }): StepResult {
  if (isTaken(state, label)) return [state, { status: 409 }]
  const name = `n${state.connections.length + 1}`
  const connection = { name, label, hasSecret: false, deleted: false }
  return [
    { ...state, connections: [...state.connections, connection] },
    { status: 201, subject: name },
  ]
}

export function renameConnection(state: ModelState, found: ConnectionState, { label }: { label: string }): StepResult {
  if (found.deleted) return [state, { status: 404 }]
  if (label !== found.label && isTaken(state, label)) return [state, { status: 409 }]
  return [withConnection(state, found, { label }), { status: 200 }]
}

export function writeSecret(state: ModelState, found: ConnectionState): StepResult {
  return found.deleted ? [state, { status: 404 }] : [withConnection(state, found, { hasSecret: true }), { status: 200 }]
}

export function deleteConnection(state: ModelState, found: ConnectionState): StepResult {
  return found.deleted ? [state, { status: 404 }] : [withConnection(state, found, { deleted: true }), { status: 204 }]
}

const isTaken = (state: ModelState, label: string) =>
  state.connections.some((connection) => !connection.deleted && connection.label === label)

function withConnection(state: ModelState, { name }: ConnectionState, change: Partial<ConnectionState>): ModelState {
  return { ...state, connections: withChange(state.connections, (connection) => connection.name === name, change) }
}
