import { prepareQuery } from '../store/prepared-query.ts'

/** The client of a task, and the last message of the client in the task's thread. */
export const findClientMessage = prepareQuery<{ task_id: string }, { client: string | null; body: string | null }>(
  (db, arg) =>
    db
      .selectFrom('tasks')
      .leftJoin('clients', 'clients.id', 'tasks.client_id')
      .select((eb) => [
        'clients.display_name as client',
        eb
          .selectFrom('messages')
          .select('messages.body')
          .whereRef('messages.thread_id', '=', 'tasks.thread_id')
          .where('messages.direction', '=', 'inbound')
          .orderBy('messages.n', 'desc')
          .limit(1)
          .as('body'),
      ])
      .where('tasks.id', '=', arg('task_id')),
)
