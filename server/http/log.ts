import type { FastifyBaseLogger } from 'fastify';
import { pino } from 'pino';
import { quietRepeats } from './quiet-log.ts';
import { loggable } from './failure.ts';

/** The server's log: JSON lines without passwords, tokens, queries or what people wrote. */
export const createLog = (level: string): FastifyBaseLogger =>
  pino({
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
  });
