import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a server is told that asks a person in the midst of a call. */
export type Answered =
  | { action: 'accept'; content: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' };

/**
 * Answers what a server asks a person by a form. What it throws ends the session: the server is given
 * no answer, so it goes no further.
 */
export type Answering = (asked: Record<string, unknown>) => Answered | Promise<Answered>;

/** Streams beside the answers in one session. */
const mostStreams = 3;
/** How long it may take to tell a server that a call is over, ms. */
const partMs = 1000;

const fault = (code: number, message: string) => Object.assign(new Error(message), { code });

export type Questions = ReturnType<typeof createQuestions>;

/**
 * What a server may ask back in one session: nothing, or a person by a form.
 * @param answering left out: nobody can be asked, which the server is told
 * @param stop ends the session
 */
export const createQuestions = (answering: Answering | undefined, stop: (why: Error) => void) => {
  let left: { why: unknown } | null = null;
  let told: Promise<unknown> = Promise.resolve();
  const answer: NonNullable<Client['fallbackRequestHandler']> = async ({ method, params }) => {
    if (!answering || method !== 'elicitation/create') throw fault(-32_601, 'Method not found');
    if ((params?.['mode'] ?? 'form') !== 'form') throw fault(-32_602, 'only forms are shown');
    try {
      return await answering(params ?? {});
    } catch (why) {
      left ??= { why };
      stop(new Error('its person is asked first'));
      return new Promise(() => undefined);
    }
  };
  return {
    answer,
    capabilities: answering ? { elicitation: { form: {} } } : {},
    streams: answering ? mostStreams : 0,

    /** Notes when the server is told that a call is cancelled. */
    watch(transport: Transport): Transport {
      const send = transport.send.bind(transport);
      transport.send = (message, options) => {
        const sent = send(message, options);
        if ('method' in message && message.method === 'notifications/cancelled')
          told = sent.catch(() => undefined);
        return sent;
      };
      return transport;
    },

    /** Where a question ended the session: waits until the server was told, and throws why. */
    async end(): Promise<void> {
      if (!left) return;
      await Promise.race([told, sleep(partMs, undefined, { ref: false })]);
      throw left.why;
    },
  };
};
