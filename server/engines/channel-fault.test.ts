import { expect, test } from 'vitest';
import { channelFault } from './channel-fault.ts';
import { EngineError } from './chat-engine.ts';
import { faultError, readFault } from './openai-compatible/upstream-error.ts';

const kindOf = (status: number, error: object = {}): string =>
  channelFault(faultError(readFault(status, { error }), { begun: false })).kind;

test('what a question brings about is told apart from what a service does', () => {
  expect(kindOf(400)).toBe('asker');
  expect(kindOf(413)).toBe('asker');
  expect(kindOf(400, { code: 'context_length_exceeded' })).toBe('asker');
  expect(kindOf(403, { code: 'content_filter' })).toBe('asker');
  // Who asks for more than is left uses up nobody's key.
  expect(kindOf(402, { message: 'You requested 9 tokens, but can only afford 3' })).toBe('asker');
  expect(kindOf(402, { message: 'Insufficient Balance' })).toBe('money');
  expect(kindOf(429, { code: 'insufficient_quota' })).toBe('money');
  expect(kindOf(401)).toBe('key');
  expect(kindOf(403, { code: 'invalid_api_key' })).toBe('key');
  expect(kindOf(403)).toBe('doubt');
  expect(kindOf(429)).toBe('full');
  expect(kindOf(404)).toBe('model');
  expect(kindOf(400, { code: 'model_not_found' })).toBe('model');
  expect(kindOf(500)).toBe('failed');
  expect(kindOf(504)).toBe('silent');
});

test('a 404 that a question may have brought about is not certain to be the service’s', () => {
  const certain = (status: number, error: object) =>
    channelFault(faultError(readFault(status, { error }), { begun: false })).certain;
  expect(certain(404, { code: 404, message: 'No endpoints found that support tool use' })).toBe(
    false,
  );
  expect(certain(404, { code: 'model_not_found' })).toBe(true);
  expect(certain(400, { code: 'model_not_found' })).toBe(true);
  expect(certain(500, {})).toBe(false);
});

test('only what was never sent counts for all, whoever asked', () => {
  const cut = (code: string) =>
    channelFault(
      new EngineError('upstream', '', {
        retriable: true,
        cause: Object.assign(new Error(code), { code }),
      }),
    ).kind;
  expect(cut('ECONNREFUSED')).toBe('connection');
  expect(cut('UND_ERR_CONNECT_TIMEOUT')).toBe('connection');
  // A poisoned question may bring a service down while it reads it.
  expect(cut('ECONNRESET')).toBe('failed');
  expect(cut('UND_ERR_SOCKET')).toBe('failed');
});
