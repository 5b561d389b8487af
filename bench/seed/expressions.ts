/** SQL that both stores understand, for the row of number `i`. `FOUNDING` and `MINUTE` are replaced before it runs. */

/** The id of a row. It sorts before the ids that the service creates. */
export const idOf = (prefix: string, number = 'i') =>
  `'${prefix}_00000000000000' || cast(100000000000 + ${number} as text)`

export const seededId = (prefix: string, n: number) => `${prefix}_00000000000000${100_000_000_000 + n}`

/** Fifty tasks in a row belong to one client. More than half of the clients belong to the first project. */
export const TASKS_PER_CLIENT = 50
export const OTHER_PROJECTS = 7

export const otherProjectId = (n: number) => `prj_0000000000000000000000000${n}`

export const PROJECT = `case when i / ${TASKS_PER_CLIENT} % 16 < 9 then 'FOUNDING'
  else 'prj_0000000000000000000000000' || cast(i / ${TASKS_PER_CLIENT} % ${OTHER_PROJECTS} + 1 as text) end`

/** One task of fifty in the first project belongs to the same large client. */
export const CLIENT = `case when i % ${TASKS_PER_CLIENT} = 0 and i / ${TASKS_PER_CLIENT} % 16 < 9 then ${idOf('cli', '0')}
  else ${idOf('cli', `i / ${TASKS_PER_CLIENT}`)} end`

export const CHANNEL = `case when i / ${TASKS_PER_CLIENT} % 16 < 9 then ${idOf('chan', '0')}
  else ${idOf('chan', `(i / ${TASKS_PER_CLIENT} % ${OTHER_PROJECTS} + 1)`)} end`

export const WEBHOOK = CHANNEL.replaceAll('chan_', 'hook_')

export const WEDGE = "case i / 7 % 5 when 0 then 'workshop' when 1 then 'intake' else 'bench' end"

/** Rows that wait are few: one task of a thousand. */
export const WAITS = 'i % 1000 = 0'

/** The time of a row: the minute of its page, with seconds and milliseconds that grow with its number. */
const MILLISECONDS = 'cast(100000 + i % 60000 as text)'
export const AT = `'MINUTE:' || substr(${MILLISECONDS}, 2, 2) || '.' || substr(${MILLISECONDS}, 4, 3) || 'Z'`
