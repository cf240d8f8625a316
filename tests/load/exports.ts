import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ExportEvent } from '#contract/export.ts';
import { conversation } from '#scripts/demo-text.ts';
import { TestClient } from '../support/client.ts';
import { startServer } from '../support/server.ts';
import { memory, now, quantile } from './lib/measure.ts';

/**
 * A conversation of 10,000 messages goes in and out over the wire, in every format: how long that
 * takes, how large the file is, what the server takes meanwhile (its threads included), and how long
 * a small call of somebody else waits.
 *
 * npx tsx tests/load/exports.ts [--messages 10000] [--formats json,markdown,pdf]
 */
const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '10000' },
    formats: { type: 'string', default: 'json,markdown,pdf' },
  },
});
const count = Number(values.messages);

const server = await startServer({
  embedded: true,
  startTimeout: 90_000,
  env: { RATE_LIMIT: '1000000' },
});
try {
  const client = await TestClient.register(server.baseURL);
  const other = await TestClient.register(server.baseURL);

  /** Does something and prints what it took, beside the calls of another person. */
  const measured = async (name: string, act: () => Promise<string>): Promise<void> => {
    const waits: number[] = [];
    let most = 0;
    const done = new AbortController();
    const beside = async () => {
      while (!done.signal.aborted) {
        const asked = now();
        await other.call('userInfo', {});
        waits.push(now() - asked);
        most = Math.max(most, memory(server.pid));
        await sleep(50);
      }
    };
    const before = memory(server.pid);
    const watching = beside();
    const started = now();
    const what = await act();
    const taken = now() - started;
    done.abort();
    await watching;
    console.log(
      `${name}: ${(taken / 1000).toFixed(1)} s, ${what}; server ${before.toFixed(0)} → ${most.toFixed(0)} MB; others' calls p50 ${quantile(waits, 0.5).toFixed(0)} ms, p95 ${quantile(waits, 0.95).toFixed(0)} ms, most ${Math.max(...waits).toFixed(0)} ms`,
    );
  };

  const talk = conversation();
  const messages = Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    prev: at,
    shown: true,
    human: talk.ask(at),
    ai: talk.answer(),
    model: 'builtin-assistant',
    state: 'done',
    created_at: new Date(Date.now() - (count - at) * 60_000).toISOString(),
  }));
  const sessions = [{ title: '一万条消息', model: 'builtin-assistant', messages }];
  let uuid = '';
  await measured('import', async () => {
    const data = { queqiao: 1, sessions };
    const key = { 'idempotency-key': randomUUID() };
    const imported = await client.call('importSessions', { data }, key);
    uuid = imported.uuid ?? '';
    return `${imported.messages} messages`;
  });

  for (const format of values.formats.split(','))
    await measured(format, async () => {
      const response = await fetch(
        `${server.baseURL}/api/export_session?session_id=${uuid}&format=${format}`,
        { headers: client.headers() },
      );
      const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data:'));
      const last = JSON.parse(lines.at(-1)?.slice(5) ?? '{}') as ExportEvent;
      if (!('key' in last)) throw new Error(`${format}: ${JSON.stringify(last)}`);
      const file = await fetch(`${server.baseURL}/api/export_file?key=${last.key}`);
      const { byteLength } = await file.arrayBuffer();
      return `${(byteLength / 1e6).toFixed(1)} MB, told of ${lines.length} times`;
    });
} finally {
  await server.stop();
}
