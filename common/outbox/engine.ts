import {
  type Act,
  type ActStore,
  type Failure,
  isFailure,
  judge,
  type Line,
  nextOf,
  type Sent,
  staysWhenRefused,
} from './act.ts';
import { sendAct } from './send-act.ts';

/**
 * What is to be done on the server, in order, once, when it can be reached. This part knows neither
 * screen nor storage: page and service worker give it both.
 */

/** After so many faults of the server over one act it is for the person to say. */
const mostFaults = 6;
const waits = { first: 1_000, most: 60_000, busyFirst: 700, busyMost: 5_000 } as const;
/** So many lanes at once. */
const lanesAtOnce = 4;

/** Until when lanes rest that could not go on, on the clock that nobody sets. */
const createRests = () => {
  const rests = new Map<string, { until: number; times: number; busy: boolean }>();
  return {
    /** Rests longer each time. @param asked at least so long, ms */
    begin: (lane: string, busy: boolean, asked: number): void => {
      const before = rests.get(lane);
      const times = before?.busy === busy ? before.times + 1 : 0;
      const full = busy
        ? Math.min(waits.busyMost, waits.busyFirst * 1.5 ** times)
        : Math.min(waits.most, waits.first * 2 ** times);
      // Half of it is chance, so that a server that comes back is not met by everybody at once.
      const wait = Math.max(asked, full / 2 + (Math.random() * full) / 2);
      rests.set(lane, { until: performance.now() + wait, times, busy });
    },
    end: (lane: string): void => void rests.delete(lane),
    endAll: (): void => rests.clear(),
    /** How long a lane still rests, ms; `none` where it never began to. */
    left: (lane: string, none = 0): number => {
      const rest = rests.get(lane);
      return rest ? Math.max(0, rest.until - performance.now()) : none;
    },
  };
};

export const createEngine = (store: ActStore, line: Line) => {
  const rests = createRests();

  /** What follows a message that arrived: the next one is newer than it. */
  const finish = async (act: Act, data: unknown) => {
    // The bytes of a part go with their act.
    const whole = act.name === 'sendMessage' && (act.parts ?? []).length === 0;
    const arrived = whole ? await line.outlast?.(act) : undefined;
    await store.remove([act.id]);
    rests.end(act.lane);
    if (act.name === 'sendMessage') {
      const { id } = data as Sent;
      const later = (await store.all()).filter(
        (each) => each.lane === act.lane && each.name === 'sendMessage' && (each.before ?? 0) < id,
      );
      for (const each of later) await store.change(each.id, { before: id });
    }
    line.tell({ type: 'done', act, data });
    arrived?.();
  };

  /** Does one act; false: its lane has to wait. */
  const step = async (act: Act): Promise<boolean> => {
    const account = line.account();
    if (account !== act.account) return false;
    // From here on the server may have it: written down before, for whoever comes after a crash.
    const begun = await store.change(act.id, { tries: act.tries + 1 });
    if (!begun || line.account() !== account) return begun;
    line.tell({ type: 'sending', key: act.key });
    try {
      await finish(act, await sendAct(store, line, act));
      return true;
    } catch (error) {
      if (!isFailure(error)) throw error;
      // Whom it was refused is no longer this person.
      if (line.account() !== account) return false;
      return await settle(act, error);
    }
  };

  const settle = async (act: Act, failure: Failure): Promise<boolean> => {
    const verdict = judge(act.name, failure);
    if (verdict === 'done') {
      await finish(act, {});
      return true;
    }
    const faults = act.faults + (verdict === 'fault' ? 1 : 0);
    const over = verdict === 'refused' || faults >= mostFaults;
    if (over && !staysWhenRefused(act)) {
      await store.remove([act.id]);
      line.tell({ type: 'undone', act, message: failure.message });
      return true;
    }
    if (over) {
      const failed = { code: failure.code, message: failure.message };
      // It was answered: whoever tries again begins anew.
      await store.change(act.id, { failed, faults: 0, tries: 0 });
      line.tell({ type: 'changed' });
      return true;
    }
    // A busy session has answered: nothing of it arrived.
    const heard = verdict === 'busy' || verdict === 'signed-out' || failure.status === 429;
    await store.change(act.id, {
      faults,
      ...(heard ? { tries: act.tries } : {}),
    });
    rests.begin(act.lane, verdict === 'busy', failure.wait);
    line.tell({ type: verdict === 'signed-out' ? 'signed-out' : 'changed' });
    return false;
  };

  const own = async (): Promise<Map<string, Act[]>> => {
    const account = line.account();
    const lanes = new Map<string, Act[]>();
    for (const act of await store.all()) {
      if (act.account !== account) continue;
      lanes.set(act.lane, [...(lanes.get(act.lane) ?? []), act]);
    }
    return lanes;
  };

  const runLane = async (lane: string): Promise<void> => {
    for (;;) {
      if (rests.left(lane) > 0) return;
      // Read anew each time: people cancel and add while it runs.
      const act = nextOf((await own()).get(lane) ?? []);
      if (!act || !(await step(act))) return;
    }
  };

  return {
    /** Does all that can be done now. Gives when something may be tried again, ms; null: nothing is left to do. */
    run: async (): Promise<number | null> => {
      const open = [...(await own()).keys()];
      // A visitor's first session makes the account that all else is sent by.
      const atOnce = line.account() === '' ? 1 : lanesAtOnce;
      const take = async () => {
        for (let lane = open.shift(); lane !== undefined; lane = open.shift()) await runLane(lane);
      };
      await Promise.all(Array.from({ length: atOnce }, take));
      const left = [...(await own())].filter(([, acts]) => nextOf(acts) !== undefined);
      if (left.length === 0) return null;
      return Math.min(...left.map(([lane]) => rests.left(lane, waits.first)));
    },
    /** There is reason to try at once: a network, a person, an answer that has ended. */
    wake: (lane?: string): void => {
      if (lane === undefined) rests.endAll();
      else rests.end(lane);
    },
  };
};
