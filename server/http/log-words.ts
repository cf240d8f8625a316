import { pino } from 'pino';

interface Failure {
  type?: string;
  message?: string;
  stack?: string;
  cause?: Failure;
}

interface Line extends Record<string, unknown> {
  level: number;
  time: string;
  msg?: string;
  err?: Failure;
}

const error = 50;

const inOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

const causes = ({ type = '', message = type, cause }: Failure): string =>
  cause ? `${message}: ${causes(cause)}` : message;

/**
 * A line of the log as whoever sits before a terminal reads it: when, how bad, what, why, and what it
 * is about. Below an error stands where it came from.
 */
export const inWords = (json: string): string => {
  const { level, time, msg = '', err, ...about } = JSON.parse(json) as Line;
  const facts = Object.entries(about).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const said = [
    new Date(time).toTimeString().slice(0, 8),
    `${pino.levels.labels[level] ?? level}:`,
    [msg, ...(err ? [causes(err)] : [])].join(': '),
    ...(facts.length > 0 ? [`(${facts.join(', ')})`] : []),
  ].join(' ');
  const stack = level >= error && err?.stack ? `${err.stack}\n` : '';
  return `${inOneLine(said)}\n${stack}`;
};
