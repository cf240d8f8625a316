import { type ChildProcess, spawn } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { workerUrl } from '#server/worker-url.ts';

export type LlamaOrder =
  | {
      kind: 'write';
      /** Absolute path of the model. */
      file: string;
      /** Most tokens of a talk. */
      context: number;
      /** What was said before the prompt. */
      messages: { role: 'system' | 'user' | 'assistant'; text: string }[];
      prompt: string;
      temperature: number;
      maxTokens: number;
    }
  | {
      kind: 'embed';
      file: string;
      texts: string[];
    }
  | {
      kind: 'rank';
      file: string;
      question: string;
      texts: string[];
    }
  /** Ends what is done now at the next word or text. */
  | { kind: 'stop' };

export type LlamaAnswer =
  | { kind: 'text' | 'reasoning'; text: string }
  | { kind: 'done'; promptTokens: number; completionTokens: number }
  /** Vectors of 32-bit floats in base64; none where it was stopped. */
  | { kind: 'vectors'; vectors: string[]; tokens: number }
  /** How well each text answers, 0 to 1; none where it was stopped. */
  | { kind: 'scores'; scores: number[] }
  | { kind: 'failed'; message: string };

type Written = LlamaAnswer & { kind: 'done' };

/** So long a process keeps its model for the next question, ms. */
const idleMs = 5 * 60_000;
/** A process that was told to stop writing and does not is ended after this, ms. */
const stopMs = 3_000;
/** So many may wait besides the one that is written. */
const mostWaiting = 8;

export class LlamaBusy extends Error {}

/** The process in which a model works, at a lower priority than whatever serves people. */
const startLlama = (): ChildProcess => {
  const entry = workerUrl('./llama-worker.ts', import.meta.url);
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', `await import(${JSON.stringify(entry.href)})`],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    },
  );
  child.once('spawn', () => {
    try {
      setPriority(child.pid ?? 0, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // It works all the same where that may not be said.
    }
  });
  child.on('error', () => undefined);
  return child;
};

/** One process that stays with its model until another one is wanted, or nothing for some minutes. */
export const holdLlama = () => {
  let held: { child: ChildProcess; file: string } | null = null;
  let idle: NodeJS.Timeout | undefined;

  const drop = (): void => {
    clearTimeout(idle);
    held?.child.kill('SIGKILL');
    held = null;
  };

  return {
    /** The process for the model in this file; one that is held for another ends. */
    of: (file: string): ChildProcess => {
      clearTimeout(idle);
      if (held && (held.file !== file || held.child.exitCode !== null || !held.child.connected))
        drop();
      held ??= { child: startLlama(), file };
      return held.child;
    },
    /** It ended by itself. */
    lost: (child: ChildProcess): void => {
      if (held?.child === child) held = null;
    },
    /** Its work is done: it waits for more, and ends where none comes. */
    rest: (): void => {
      idle = setTimeout(drop, idleMs).unref();
    },
    drop,
  };
};

/**
 * Writes with the models of this machine in a process of its own: one reply at a time, the others
 * wait in their order. Nobody's question keeps the memory for longer than some minutes.
 */
export const createLlamaProcess = () => {
  const held = holdLlama();
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  const write = (
    order: Omit<LlamaOrder & { kind: 'write' }, 'kind'>,
    signal: AbortSignal,
    take: (part: LlamaAnswer & { kind: 'text' | 'reasoning' }) => void,
  ): Promise<Written> =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const child = held.of(order.file);
      let killer: NodeJS.Timeout | undefined;
      const end = (act: () => void) => {
        clearTimeout(killer);
        child.off('message', told);
        child.off('exit', broken);
        signal.removeEventListener('abort', stop);
        held.rest();
        act();
      };
      const broken = () => {
        held.lost(child);
        end(() => reject(new Error('the process of the model ended')));
      };
      const stop = () => {
        if (child.connected) child.send({ kind: 'stop' } satisfies LlamaOrder);
        // A prompt that is still being read is not left off by itself.
        killer = setTimeout(held.drop, stopMs);
        const last = () => end(() => reject(signal.reason as Error));
        child.off('exit', broken);
        child.once('exit', last);
        child.off('message', told);
        child.once('message', function over(answer: LlamaAnswer) {
          if (answer.kind !== 'done' && answer.kind !== 'failed') {
            child.once('message', over);
            return;
          }
          child.off('exit', last);
          last();
        });
      };
      const told = (answer: LlamaAnswer) => {
        if (answer.kind === 'done') end(() => resolve(answer));
        else if (answer.kind === 'failed') {
          end(() => reject(new Error(answer.message)));
          held.drop();
        } else if (answer.kind === 'text' || answer.kind === 'reasoning') take(answer);
      };
      child.on('message', told);
      child.once('exit', broken);
      signal.addEventListener('abort', stop);
      child.send({ ...order, kind: 'write' } satisfies LlamaOrder, (error) => {
        if (error) broken();
      });
    });

  return {
    /** @throws LlamaBusy where too many wait already */
    write: async (...asked: Parameters<typeof write>): Promise<Written> => {
      if (waiting > mostWaiting) throw new LlamaBusy('too many wait for the model');
      waiting += 1;
      const turn = last.then(() => write(...asked));
      last = turn.catch(() => undefined);
      try {
        return await turn;
      } finally {
        waiting -= 1;
      }
    },
    close: held.drop,
  };
};

export type LlamaProcess = ReturnType<typeof createLlamaProcess>;
