import { holdLlama, type LlamaAnswer, LlamaBusy, type LlamaOrder } from './llama-process.ts';

type Order = Extract<LlamaOrder, { kind: 'embed' | 'rank' }>;
type Answer = Extract<LlamaAnswer, { kind: 'vectors' | 'scores' }>;

/** One that says nothing for so long hangs, ms: a large model is loaded within. */
const hangMs = 180_000;
/** Of questions that people wait for, and of other works. */
const mostWaiting = { urgent: 16, other: 64 } as const;

interface Task {
  order: Order;
  signal: AbortSignal;
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

/**
 * Has texts read by a model of this machine in a process of its own, one order at a time, what
 * somebody waits for before everything else. Who waits no more does not hold the process up: what it
 * reads for them ends at the next text, and a model that was being loaded stays for the next one.
 */
export const createLlamaReader = () => {
  const urgent: Task[] = [];
  const other: Task[] = [];
  const held = holdLlama();
  let working = false;

  /** Resolves once the process is free again, however the task ended. */
  const run = (task: Task): Promise<void> =>
    new Promise((free) => {
      const child = held.of(task.order.file);
      const end = (): void => {
        clearTimeout(hanging);
        child.off('message', told);
        child.off('exit', broken);
        task.signal.removeEventListener('abort', stop);
        held.rest();
        free();
      };
      const broken = (): void => {
        held.lost(child);
        task.reject(new Error('the process of the model ended'));
        end();
      };
      const stop = (): void => {
        task.reject(task.signal.reason as Error);
        if (child.connected) child.send({ kind: 'stop' } satisfies LlamaOrder);
      };
      const told = (answer: LlamaAnswer): void => {
        if (answer.kind === 'failed') {
          task.reject(new Error(answer.message));
          held.drop();
        } else if (answer.kind === 'vectors' || answer.kind === 'scores') task.resolve(answer);
        else return;
        end();
      };
      const hanging = setTimeout(held.drop, hangMs);
      child.on('message', told);
      child.once('exit', broken);
      task.signal.addEventListener('abort', stop);
      child.send(task.order, (error) => {
        if (error) broken();
      });
    });

  const next = async (): Promise<void> => {
    if (working) return;
    working = true;
    for (let task = urgent.shift() ?? other.shift(); task; task = urgent.shift() ?? other.shift())
      if (task.signal.aborted) task.reject(task.signal.reason as Error);
      else await run(task);
    working = false;
  };

  return {
    /**
     * @param isUrgent somebody waits for it
     * @throws LlamaBusy where too many wait already, or the signal's reason
     */
    read: (order: Order, signal: AbortSignal, isUrgent: boolean): Promise<Answer> => {
      const line = isUrgent ? urgent : other;
      if (line.length >= (isUrgent ? mostWaiting.urgent : mostWaiting.other))
        return Promise.reject(new LlamaBusy('too many wait for the model'));
      return new Promise((resolve, reject) => {
        line.push({ order, signal, resolve, reject });
        void next();
      });
    },
    close: held.drop,
  };
};
