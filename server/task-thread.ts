import { Worker } from 'node:worker_threads';

export interface TaskThread<Task> {
  /** How many tasks are in it. */
  load: () => number;
  /** Gives the number under which the thread is to speak of the task. */
  add: (task: Task) => number;
  get: (id: number) => Task | undefined;
  /** The task is over: it counts no longer. */
  take: (id: number) => Task | undefined;
  post: (message: unknown) => void;
  /** Ends it, and with it the tasks that it still has. */
  end: () => void;
}

export interface TaskThreadOptions<Task, Message> {
  url: URL;
  /** How long it stays without a task, ms. */
  idleMs: number;
  /** How long the tasks may take without one of them coming to its end, ms; without it: for ever. */
  workMs?: number;
  onMessage: (message: Message, thread: TaskThread<Task>) => void;
  /** It is gone, by itself or because it failed, and these tasks with it. */
  onEnd: (left: Task[], thread: TaskThread<Task>) => void;
}

/** A thread that stays for several tasks and ends by itself; no process waits for it. */
export const startTaskThread = <Task, Message>(
  options: TaskThreadOptions<Task, Message>,
): TaskThread<Task> => {
  const { url, idleMs, workMs } = options;
  const worker = new Worker(url);
  const tasks = new Map<number, Task>();
  let made = 0;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    options.onEnd([...tasks.values()], thread);
    tasks.clear();
    void worker.terminate();
  };
  const watchTime = (): void => {
    clearTimeout(timer);
    const ms = tasks.size > 0 ? workMs : idleMs;
    if (ms !== undefined) timer = setTimeout(end, ms).unref();
  };
  const thread: TaskThread<Task> = {
    load: () => tasks.size,
    add: (task) => {
      made += 1;
      tasks.set(made, task);
      watchTime();
      return made;
    },
    get: (id) => tasks.get(id),
    take: (id) => {
      const task = tasks.get(id);
      tasks.delete(id);
      watchTime();
      return task;
    },
    post: (message) => worker.postMessage(message, []),
    end,
  };
  worker.on('message', (message: Message) => options.onMessage(message, thread));
  worker.on('error', end);
  worker.on('exit', end);
  worker.unref();
  return thread;
};
