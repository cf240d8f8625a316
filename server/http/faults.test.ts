import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { countedStatus, reportFault } from './faults.ts';

const broken = (destroyed: boolean) => {
  const lines: [string, string][] = [];
  const line =
    (level: string) =>
    (_about: object, text: string): void =>
      void lines.push([level, text]);
  const request = {
    url: '/api/upload?ticket=1',
    raw: { socket: { destroyed } },
    log: { info: line('info'), error: line('error') },
  } as unknown as FastifyRequest;
  reportFault(request, new Error('Premature close'), 'it broke');
  const counted = countedStatus(request, { statusCode: 500 } as FastifyReply);
  return { lines, counted };
};

test('what breaks because its caller hung up is no fault, neither in the log nor in the figures', () => {
  expect(broken(true)).toEqual({ lines: [['info', 'the caller hung up']], counted: 499 });
  expect(broken(false)).toEqual({ lines: [['error', 'it broke']], counted: 500 });
});
