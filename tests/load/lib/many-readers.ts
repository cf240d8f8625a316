import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { readStamped } from './measure.ts';

/** What a process that only reads is told, and what it tells once it has read all. */
export interface Readings {
  streams: { url: string; headers: Record<string, string> }[];
  /** They are opened over this time, ms. */
  over: number;
}
export interface Heard {
  delays: number[];
  chunks: number;
  whole: number;
  failed: string[];
  /** How late the reading process itself was, p99, ms. */
  ownDelay: number;
}

process.once('message', (given) => {
  void (async () => {
    const { streams, over } = given as Readings;
    const late = monitorEventLoopDelay({ resolution: 5 });
    late.enable();
    const heard: Heard = { delays: [], chunks: 0, whole: 0, failed: [], ownDelay: 0 };
    await Promise.all(
      streams.map(async ({ url, headers }, at) => {
        await sleep((at / streams.length) * over);
        try {
          const read = await readStamped(url, { headers });
          // The first chunks may have been written before the stream was open.
          for (const delay of read.openDelays.slice(1)) heard.delays.push(delay);
          heard.chunks += read.chunks;
          if (read.done) heard.whole += 1;
        } catch (error) {
          heard.failed.push(String(error));
        }
      }),
    );
    heard.ownDelay = late.percentile(99) / 1e6 - 5;
    process.send!(heard, () => process.exit(0));
  })();
});
