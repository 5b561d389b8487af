/**
 * A durable transaction writes an even number into the row of its connection, each time a larger one, so that its outcome
 * can be looked up if the connection breaks during the commit. The id of the transaction would not do: after a crash the
 * server gives the ids of transactions that it lost to new ones.
 *
 * This fails, by a division by zero, if the outcome was looked up first: the service then repeats the transaction.
 */
export const WRITE_COMMIT_MARK = `insert into commit_marks (connection, number, written_at) values ($1, $2, $3)
  on conflict (connection) do update set written_at = excluded.written_at, number =
    case when commit_marks.number < excluded.number then excluded.number
      else 1 / (excluded.number - excluded.number) end`

/**
 * Returns the number of the mark if its transaction was committed; `$2` is that number plus one. Waits for a transaction
 * that the server has not ended, because it has not noticed that the client is gone. If the transaction has not written
 * its mark, the odd number is stored, so that the transaction fails when it writes the mark later.
 */
export const LOOK_UP_COMMIT_MARK = `insert into commit_marks (connection, number, written_at) values ($1, $2, $3)
  on conflict (connection) do update set number =
    case when commit_marks.number = excluded.number - 1 then commit_marks.number else excluded.number end
  returning number`
