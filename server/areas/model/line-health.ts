import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelFault } from '#server/engines/channel-fault.ts';
import type { Database } from '#server/db/database.ts';
import type { createChannelHealth } from './channel-health.ts';
import type { ChannelRoom } from './channel-room.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createFirstWords, type Form } from './first-words.ts';
import { type AsideFor, createKeyRests } from './key-rests.ts';
import type { KeyMark, LineOutcome } from './channel-figures.store.ts';
import { createLineRecord } from './line-record.ts';

interface Way {
  channelId: number;
  key: KeyMark;
  takesKey: (() => Promise<boolean | null>) | null;
}

/** What was asked. */
interface Question {
  model: string;
  userId: number;
  form: Form;
  /** Characters. */
  size: number;
}

/** Tokens of a question, roughly: for figures alone. */
const charsPerToken = 2;

/** Keys take turns, so that none is used up before the others. */
const createTurns = () => {
  const turns = new Map<number, number>();
  return <L>(channelId: number, own: readonly L[]): L[] => {
    const turn = turns.get(channelId) ?? 0;
    turns.set(channelId, turn + 1);
    return own.map((_, at) => own[(at + turn) % own.length]!);
  };
};

interface Ranked<L> {
  line: L;
  /** What speaks against it now; 0: nothing. */
  rank: number;
  /** Until when it is set aside, ms since 1970; 0: it is not. */
  until: number;
  place: number;
}

const byRank = <L>(ranked: Ranked<L>[]): L[] =>
  ranked
    .sort((a, b) => a.rank - b.rank || a.until - b.until || a.place - b.place)
    .map(({ line }) => line);

/** Writes down what lines did, and hears what other processes set aside. */
const recordWith = (db: Database, rests: ReturnType<typeof createKeyRests>) =>
  createLineRecord(db, (row) =>
    rests.heard(Number(row.channel_id), row.key_mark, row.model, {
      reason: row.aside_reason as AsideFor,
      strikes: row.strikes,
      until: new Date(row.aside_until).getTime(),
    }),
  );

/** What is known of the lines of chat models, and in which order they are to be asked for it. */
export const createLineHealth = (deps: {
  db: Database;
  health: Pick<ReturnType<typeof createChannelHealth>, 'note'>;
  /** Who somebody is where people are counted. */
  askers: (userId: number) => Promise<string>;
  hedgeFloorMs: number;
  room: Pick<ChannelRoom, 'enter'>;
}) => {
  const { health, hedgeFloorMs } = deps;
  const breaker = createCircuitBreaker();
  const words = createFirstWords(hedgeFloorMs);
  const rests = createKeyRests();
  const record = recordWith(deps.db, rests);
  const turns = createTurns();
  /** Counted with all whom nobody knows. */
  const personOf = (userId: number): Promise<string> => deps.askers(userId).catch(() => '');

  const lineOf = (way: Way, { model }: Question) => ({
    channelId: way.channelId,
    model,
    key: way.key,
  });

  const against = async (way: Way, { model, userId }: Question, certain: boolean) => {
    const person = await personOf(userId);
    breaker.report({ channelId: way.channelId, model, ok: false, person, full: false, certain });
  };

  const noteFull = async (way: Way, { model, userId }: Question, retryAfterMs: number | null) => {
    const person = await personOf(userId);
    rests.put(
      { channelId: way.channelId, mark: way.key.mark, model, person },
      'full',
      retryAfterMs,
    );
  };

  /** What was asked may be what it refused: the key is asked about alone. */
  const doubt = async (way: Way, asked: Question, note: Omit<LineOutcome, 'at'>) => {
    if ((await way.takesKey?.()) === false)
      record.note(lineOf(way, asked), { ...note, result: 'key' }, setAside(way, asked, 'key'));
    else await against(way, asked, false);
  };

  const setAside = (way: Way, asked: Question, reason: 'key' | 'money') =>
    rests.put(
      { channelId: way.channelId, mark: way.key.mark, model: asked.model, person: null },
      reason,
      null,
    );

  return {
    words,
    rests: (channelId: number, model: string): boolean => breaker.rests(channelId, model),
    /** Best first, none left out: those that fail, and keys that are set aside, come last. */
    order: async <L extends Way>(
      model: string,
      lines: readonly L[],
      userId: number,
    ): Promise<L[]> => {
      words.called(model);
      const channels = [...new Map(lines.map((line) => [line.channelId, line])).values()];
      const person = await personOf(userId);
      const { channels: inOrder, waitMs } = breaker.order(model, channels, person);
      if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
      const place = new Map(inOrder.map(({ channelId }, at) => [channelId, at]));
      const ways = channels.flatMap(({ channelId }) =>
        turns(
          channelId,
          lines.filter((line) => line.channelId === channelId),
        ),
      );
      const ranked = ways.map((line) => {
        const until = rests.until(line.channelId, line.key.mark, model, person);
        const rank = (until > 0 ? 2 : 0) + (breaker.rests(line.channelId, model) ? 1 : 0);
        return { line, until, rank, place: place.get(line.channelId) ?? 0 };
      });
      const sorted = byRank(ranked);
      const [first] = sorted;
      if (first) rests.tried(first.channelId, first.key.mark, model, person);
      return sorted;
    },
    /** Takes a place at a channel that may have so many calls at once; gives what leaves it, or null. */
    enter: deps.room.enter,
    /** It said its first word after so many ms. */
    spoke: (way: Way, asked: Question, ms: number): void => {
      words.learn(way.channelId, asked.model, asked.form, ms, asked.size);
      const was = rests.clear(way.channelId, way.key.mark, asked.model);
      void personOf(asked.userId).then((person) =>
        rests.clearOwn(way.channelId, way.key.mark, asked.model, person),
      );
      record.note(lineOf(way, asked), { result: 'ok', ms, status: 200 }, was ? null : undefined);
    },
    /** Its answer is whole. */
    answered: ({ channelId }: Way, { model }: Question): void => {
      health.note(channelId, true);
      breaker.report({ channelId, model, ok: true });
    },
    /** Another line was sooner, while this one took longer than it usually does. */
    lost: (way: Way, asked: Question, ms: number): void => {
      const { channelId } = way;
      const { model, form, size } = asked;
      // Until its times are known this one tells as much as any.
      if (words.p95(channelId, model, form) === null) words.learn(channelId, model, form, ms, size);
      record.note(lineOf(way, asked), { result: 'cut', ms, status: 0 });
      record.noteCut(lineOf(way, asked), Math.ceil(size / charsPerToken));
      void against(way, asked, false);
    },
    failed: (way: Way, asked: Question, fault: ChannelFault, ms: number, told: string): void => {
      const { kind, status, retryAfterMs, certain } = fault;
      const line = lineOf(way, asked);
      const note = { result: kind as string, ms, status };
      if (kind === 'asker') {
        record.note(line, note);
        return;
      }
      health.note(way.channelId, false, told);
      if (kind === 'key' || kind === 'money') {
        record.note(line, note, setAside(way, asked, kind));
        return;
      }
      record.note(line, note);
      if (kind === 'full') void noteFull(way, asked, retryAfterMs);
      else if (kind === 'doubt') void doubt(way, asked, note);
      else void against(way, asked, certain);
    },
    /** How a work went that is no chat. */
    note: record.note,
    close: record.close,
  };
};
export type LineHealth = ReturnType<typeof createLineHealth>;
