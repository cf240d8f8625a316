import { api } from '@/platform/api.ts';
import { inIdleTime } from '@/platform/idle.ts';

interface Watched {
  model: string;
  /** ms since the epoch. */
  asked: number;
  first: number;
  stopped: boolean;
}

/** How long replies take that this page asked for; told to the server quietly, once each. */
export class Stopwatch {
  private asked = 0;
  private readonly running = new Map<number, Watched>();

  /** A reply is being asked for. */
  start(): void {
    this.asked = Date.now();
  }

  /** What was asked for is being read, or failed: a reply that begins now is another's. */
  settle(): void {
    this.asked = 0;
  }

  /** The reply with this number is one that was asked for. */
  watch(id: number, model: string): void {
    if (this.asked === 0 || model === '') return;
    this.running.set(id, { model, asked: this.asked, first: 0, stopped: false });
  }

  chunk(id: number): void {
    const reply = this.running.get(id);
    if (reply?.first === 0) reply.first = Date.now();
  }

  stopped(id: number): void {
    const reply = this.running.get(id);
    if (reply) reply.stopped = true;
  }

  end(id: number, state: 'success' | 'error'): void {
    const reply = this.running.get(id);
    if (!reply) return;
    this.running.delete(id);
    const now = Date.now();
    const report = {
      state: reply.stopped ? 'stop' : state,
      first_time: (reply.first || now) - reply.asked,
      time: now - reply.asked,
      model: reply.model,
      request_time: new Date(reply.asked).toISOString(),
    } as const;
    // Nobody waits for it, and its loss harms nobody.
    inIdleTime(() => {
      api.modelStat(report, { quiet: true, keepalive: true }).catch(() => {});
    });
  }
}
