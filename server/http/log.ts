import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { quietRepeats } from './quiet-log.ts';
import { loggable } from './failure.ts';
import { inWords } from './log-words.ts';

/** Of the settings. */
interface LogSettings {
  logLevel: string;
  logFormat: 'json' | 'words';
}

/** The server's log: lines without passwords, tokens, queries or what people wrote. */
export const createLog = ({ logLevel: level, logFormat }: LogSettings): FastifyBaseLogger =>
  pino(
    {
      level,
      base: null,
      hooks: quietRepeats(),
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: loggable },
      redact: {
        paths: ['authorization', 'password', 'password2', 'token', 'ticket', 'apiKey'].flatMap(
          (name) => [name, `*.${name}`, `*.*.${name}`],
        ),
        censor: '…',
      },
    },
    logFormat === 'words'
      ? { write: (line) => process.stdout.write(inWords(line)) }
      : pino.destination(1),
  );
