import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from './db/startup-error.ts';
import { createLifetime, type Lifetime } from './lifetime.ts';

/** A terminal and npm may both pass one Ctrl+C on: within this time it counts as one, ms. */
const sameSignal = 1_000;
/** How often the process looks whether npm still lives, ms. */
const lookMs = 500;
/** How long what was opened may take to close when the start fails or is given up, ms. */
const failedMs = 4_000;

export const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** Says why a program ends: for what its operator must settle, the text alone. */
export const complain = (error: unknown): void => {
  const text = error instanceof StartupError ? error.message : error;
  process.stderr.write(`${text instanceof Error ? (text.stack ?? text.message) : String(text)}\n`);
};

/**
 * Resolves when the process is asked to stop; asked again, it ends where it stands. npm does not
 * always pass a signal on: started by it, the end of its shell counts as one.
 */
const untilAsked = (): Promise<void> =>
  new Promise((resolve) => {
    let first = 0;
    const ask = () => {
      if (first > 0 && Date.now() - first > sameSignal) process.exit(1);
      first ||= Date.now();
      resolve();
    };
    process.on('SIGTERM', ask);
    process.on('SIGINT', ask);
    if (process.env['npm_lifecycle_event'] === undefined) return;
    const parent = process.ppid;
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      ask();
    }, lookMs);
    timer.unref();
  });

/**
 * Runs a process from its start until it is asked to stop. A start that fails says why in one line
 * and ends with code 1; one that is given up half-way ends with 0.
 * @param start gives what lets the work that runs come to its end; `life` holds what it opens
 */
export const runProcess = async (
  start: (life: Lifetime) => Promise<() => Promise<void>>,
): Promise<never> => {
  const life = createLifetime();
  const asked = untilAsked();
  let code = 0;
  try {
    const drain = await Promise.race([start(life), asked]);
    if (drain) {
      await asked;
      await drain();
      await life.end();
    }
  } catch (error) {
    complain(error);
    code = 1;
  }
  await Promise.race([life.end(), sleep(failedMs)]);
  process.exit(code);
};
