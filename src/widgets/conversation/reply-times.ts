import { reportRefused, reportTime } from '#src/platform/report-time.ts';

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

  /** What was asked for was not taken. */
  refused(model: string, error: unknown): void {
    if (this.asked !== 0) reportRefused(model, this.asked, error);
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
    reportTime({
      model: reply.model,
      state: reply.stopped ? 'stop' : state,
      asked: reply.asked,
      first: (reply.first || now) - reply.asked,
      time: now - reply.asked,
    });
  }
}
