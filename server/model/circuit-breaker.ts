/** Failures in a row after which a channel is left alone. */
const opensAfter = 5;
/** How long it is left alone at first; doubled each time that its trial fails too, ms. */
const firstRest = 15_000;
const longestRest = 240_000;
/** A trial that nobody reported on counts as not made after this, ms. */
const trialMs = 30_000;

interface Channel {
  failures: number;
  rest: number;
  /** 0: closed. */
  openUntil: number;
  trialUntil: number;
}

export interface CircuitBreaker {
  /** Whether a request may go there now. In the half-open state it grants one at a time. */
  allows(channelId: number): boolean;
  report(channelId: number, ok: boolean): void;
}

/** Keeps requests from services that fail again and again. Each process learns by itself. */
export const createCircuitBreaker = (now: () => number = Date.now): CircuitBreaker => {
  const channels = new Map<number, Channel>();
  return {
    allows(channelId) {
      const channel = channels.get(channelId);
      if (!channel || channel.openUntil === 0) return true;
      const time = now();
      if (time < channel.openUntil || time < channel.trialUntil) return false;
      channel.trialUntil = time + trialMs;
      return true;
    },
    report(channelId, ok) {
      if (ok) {
        channels.delete(channelId);
        return;
      }
      const channel = channels.get(channelId) ?? {
        failures: 0,
        rest: firstRest,
        openUntil: 0,
        trialUntil: 0,
      };
      channels.set(channelId, channel);
      channel.failures += 1;
      if (channel.failures < opensAfter) return;
      const time = now();
      // Requests that were under way when it opened say nothing new.
      if (time < channel.openUntil) return;
      if (channel.openUntil > 0) channel.rest = Math.min(channel.rest * 2, longestRest);
      channel.openUntil = time + channel.rest;
      channel.trialUntil = 0;
    },
  };
};
