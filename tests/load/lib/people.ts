import { randomUUID } from 'node:crypto';
import { TestClient } from '#tests/support/client.ts';
import { startServer, type TestServer } from '#tests/support/server.ts';
import { postJson, readStamped, type StreamResult } from './measure.ts';

/**
 * The shipped server with its embedded database and one channel to the given service.
 * @param dataDir of another server, to stand beside it on the same database
 */
export const startLoadedServer = (
  upstreamURL: string,
  dataDir?: string,
  env: Record<string, string> = {},
): Promise<TestServer> =>
  startServer({
    embedded: true,
    // Beside other work a start takes its time.
    startTimeout: 180_000,
    ...(dataDir === undefined ? {} : { dataDir }),
    env: {
      OPENAI_BASE_URL: `${upstreamURL}/v1`,
      OPENAI_API_KEY: 'sk-load',
      OPENAI_MODELS: 'load',
      SIGNUP_TOKENS: '1000000000',
      RATE_LIMIT: '1000000000',
      LOG_LEVEL: 'warn',
      ...env,
    },
  });

export interface Seat {
  uuid: string;
  headers: Record<string, string>;
}

/** Nobody reads more at once. Replies to one person wait for each other's wallet where they are paid. */
const mostSeats = 20;

/** Sessions of one's own for that many streams. */
export const makeSeats = async (
  server: TestServer,
  count: number,
  aPerson = mostSeats,
): Promise<Seat[]> => {
  const seats: Seat[] = [];
  while (seats.length < count) {
    const client = await TestClient.register(server.baseURL);
    const models = await client.call('models', {});
    const model = models.models.find(({ name }) => name.startsWith('load'))?.name;
    for (let made = 0; made < aPerson && seats.length < count; made += 1) {
      const { uuid } = await client.call('newSession', { type: 0, model });
      seats.push({ uuid, headers: client.headers() });
    }
  }
  return seats;
};

/** Sends a question and reads its reply, as the page does; from another process where one is given. */
export const askAndRead = async (
  baseURL: string,
  seat: Seat,
  question: string,
  readURL = baseURL,
): Promise<StreamResult> => {
  const sent = await postJson(
    `${baseURL}/api/send_message?session_id=${seat.uuid}`,
    { msg: question, max_history: 0 },
    { ...seat.headers, 'idempotency-key': randomUUID() },
  );
  if (sent.code !== 0) throw new Error(`send_message: ${sent.code} ${sent.message}`);
  return readStamped(
    `${readURL}/api/event_stream?session_id=${seat.uuid}&history_id=${String(sent.data['id'])}`,
    { headers: seat.headers },
  );
};
