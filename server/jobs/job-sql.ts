/** NOTIFY channels: a job changed (`userId:id:what`), and one that shall be stopped (its id). */
export const changedChannel = 'queqiao_job';
export const stopChannel = 'queqiao_job_stop';

/**
 * The queue's names of what is done with its entries: each holds the number of a job. Those of guests
 * have a name of their own, so that some workers do others' alone.
 */
export const task = 'job';
export const guestTask = 'job_of_guest';

/** The columns `id`, `guest` and `turn` of a job stand in the row that it is made of. */
export const enqueue = (id: string, runAt = 'now()') =>
  `graphile_worker.add_job(CASE WHEN guest THEN '${guestTask}' ELSE '${task}' END,
    json_build_object('id', ${id}), run_at => ${runAt}, max_attempts => 1,
    job_key => '${task}:' || ${id}, priority => turn)`;
export const tell = (what: string) =>
  `pg_notify('${changedChannel}', user_id || ':' || id || ':${what}')`;
