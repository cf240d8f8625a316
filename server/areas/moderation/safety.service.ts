import { createHash } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import { allBlockedWords } from './blocked-words.store.ts';
import { createCheckFigures } from './check-figures.ts';
import { createJudgedLetters, pictureLetters, refusedPicture } from './judged-letters.ts';
import { type Level, passed, type Verdict } from './safety-forms.ts';
import { byModel, byService, type Judge, mostByService } from './safety-judges.ts';
import { insertCase, readSafety } from './safety.store.ts';
import { createWordFinder } from './word-finder.ts';

export { readSafety };
export type { Verdict };

/** What is sealed is bound to this. */
const sealedFor = 'safety';

/** Keeps secrets: a channel's box of keys does. */
interface Box {
  seal: (text: string, of: string) => Buffer;
  /** Null: it was sealed by another. */
  open: (sealed: Buffer, of: string) => string | null;
}

interface SafetyDeps {
  db: Database;
  box: () => Box;
  /** What a model that judges is asked with. Null: there is no such model. */
  judge: Judge;
  hasPaid: (userId: number) => Promise<boolean>;
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Whose content is checked. */
export interface Checked {
  userId: number;
  /** What was judged may stand with its case; false: of what is nowhere kept. */
  keep: boolean;
  /** Whether it belongs to what its person pays for; left out: it does not. */
  paid?: () => Promise<boolean>;
  /** Somebody looks at it already: what is doubtful makes no case of its own. */
  noted?: boolean;
  /** Whoever asked has gone when it is aborted: what is not judged yet is not handed on. */
  signal?: AbortSignal;
}

type Way = 'in' | 'out';
type State = Awaited<ReturnType<typeof load>>;

/** Changes of a manager are seen within this, ms. */
const seenMs = 3_000;
/** Characters that two requests share: nothing that is forbidden is cut in two and passes. */
const overlap = 30;
const mostExcerpt = 300;
/** How long a question that may be asked is not judged again, ms, and how many of them are known. */
const knownMs = 600_000;
const mostKnown = 2_000;

const ranks: Readonly<Record<Level, number>> = { pass: 0, review: 1, refuse: 2 };

const load = async ({ db, box }: SafetyDeps) => {
  const { settings, secret } = await readSafety(db);
  const words = settings.words === 1 ? await allBlockedWords(db) : [];
  return {
    settings,
    secret: secret ? (box().open(secret, sealedFor) ?? '') : '',
    find: createWordFinder(words),
    /** What it is judged by. */
    rules: JSON.stringify([settings, words]),
  };
};

/** Pieces of so many letters at most. */
const piecesOf = (text: string, most: number): string[] => {
  const pieces: string[] = [];
  for (let at = 0; at === 0 || at + overlap < text.length; at += most - overlap)
    pieces.push(text.slice(at, at + most));
  return pieces;
};

/** Questions that may be asked: each round of a loop, and each try, asks the same one again. */
const createAllowed = () => {
  const known = new Map<string, { verdict: Verdict; until: number }>();
  return {
    keyOf: (text: string, userId: number, { rules }: State): string =>
      createHash('sha256')
        .update(JSON.stringify([rules, userId, text]))
        .digest('base64url'),
    find: (key: string): Verdict | null => {
      const found = known.get(key);
      return found && found.until > Date.now() ? found.verdict : null;
    },
    keep: (key: string, verdict: Verdict): void => {
      known.delete(key);
      known.set(key, { verdict, until: Date.now() + knownMs });
      const [oldest] = known.keys();
      if (known.size > mostKnown && oldest !== undefined) known.delete(oldest);
    },
  };
};

const worse = (one: Verdict, other: Verdict): Verdict =>
  ranks[other.level] > ranks[one.level] ? other : one;

/** What was found, written down; what is doubtful is refused where the operator wants that. */
const settled = async (
  db: Database,
  found: { verdict: Verdict; by: string },
  { settings }: State,
  about: Checked & { way: Way; kind: 'text' | 'picture'; excerpt: string },
): Promise<Verdict> => {
  const { verdict, by } = found;
  if (verdict.level === 'pass') return verdict;
  const { userId, way, kind, excerpt, keep } = about;
  const isNew = verdict.level === 'refuse' || !about.noted;
  if (isNew)
    await insertCase(db, {
      userId,
      way,
      kind,
      level: verdict.level,
      by,
      reason: verdict.reason,
      excerpt: keep ? excerpt.slice(0, mostExcerpt) : '',
    });
  return verdict.level === 'review' && settings.doubtful === 'refuse'
    ? { ...verdict, level: 'refuse' }
    : verdict;
};

export type SafetyService = ReturnType<typeof createSafety>;

/** The one way in which texts and pictures are judged: by words, by a service, by a model. */
export const createSafety = (deps: SafetyDeps) => {
  const { db, log } = deps;
  const figures = createCheckFigures(db, log);
  let known: { state: Promise<State>; until: number } | null = null;
  const state = (): Promise<State> => {
    if (known && Date.now() < known.until) return known.state;
    const loading = load(deps);
    known = { state: loading, until: Date.now() + seenMs };
    // What failed is asked for again at once.
    loading.catch(() => (known = null));
    return loading;
  };

  /** By blocked words alone, which takes no wait. */
  const byWords = (text: string, { settings, find }: State): Promise<Verdict> =>
    figures.counting('words', text.length, settings, () => {
      const word = find(text);
      return word === null ? passed : { level: 'refuse', reason: `不允许的词“${word}”` };
    });

  const allowed = createAllowed();
  const letters = createJudgedLetters(db, deps.hasPaid);

  /** @throws Refusal too_many, where so much of its person was judged today at the house's cost */
  const checkText = async (way: Way, text: string, of: Checked): Promise<Verdict> => {
    const now = await state();
    const { settings } = now;
    if (settings[way === 'in' ? 'text_in' : 'text_out'] !== 1 || text.trim() === '') return passed;
    const key = way === 'in' ? allowed.keyOf(text, of.userId, now) : null;
    const before = key && allowed.find(key);
    if (before) return before;
    let found = { verdict: settings.words === 1 ? await byWords(text, now) : passed, by: 'words' };
    let failed = false;
    let judged = 0;
    const ask = async (by: string, most: number, judge: (piece: string) => Promise<Verdict>) => {
      for (const piece of piecesOf(text, most)) {
        if (found.verdict.level === 'refuse') return;
        of.signal?.throwIfAborted();
        await letters.take(of, way, piece.length);
        judged += piece.length;
        const verdict = await figures.counting(by, piece.length, settings, () =>
          judge(piece).catch((error: unknown) => {
            failed = true;
            throw error;
          }),
        );
        if (worse(found.verdict, verdict) === verdict && verdict.level !== 'pass')
          found = { verdict, by };
      }
    };
    if (settings.service !== '')
      await ask(settings.service, mostByService(settings), (piece) =>
        byService({ text: piece, way }, now),
      );
    if (settings.judge !== '') {
      const judge = await deps.judge(settings.judge, of.userId);
      await ask(`model ${settings.judge}`, judge?.most ?? text.length, (piece) =>
        byModel(judge, piece, settings.judge),
      );
    }
    const verdict = await settled(db, found, now, { ...of, way, kind: 'text', excerpt: text });
    if (verdict.level === 'refuse') await letters.refused(of, judged);
    else if (key && !failed) allowed.keep(key, verdict);
    return verdict;
  };

  return {
    checkText,

    /**
     * A picture that a person brought, or a model drew; without a service it passes.
     * @throws Refusal too_many, as of a text
     */
    async checkPicture(way: Way, picture: Buffer, of: Checked): Promise<Verdict> {
      const now = await state();
      const { settings } = now;
      const wanted = settings[way === 'in' ? 'pictures_in' : 'pictures'] === 1;
      if (!wanted || settings.service === '') return passed;
      await letters.take(of, way, pictureLetters);
      const verdict = await figures.counting(settings.service, 0, settings, () =>
        byService({ picture }, now),
      );
      const found = { verdict, by: settings.service };
      const end = await settled(db, found, now, { ...of, way, kind: 'picture', excerpt: '' });
      if (way === 'out' && end.level === 'refuse') await letters.refused(of, refusedPicture);
      return end;
    },

    /**
     * A service is about to be paid for pictures: what is refused of them is paid by nobody.
     * @throws Refusal too_many, where so much of what its person had made was refused today
     */
    async requirePictures(of: Checked): Promise<void> {
      const { settings } = await state();
      if (settings.pictures === 1 && settings.service !== '') await letters.take(of, 'in', 0);
    },

    /** How answers are checked: not at all, while they pass, or held back until they are judged. */
    async manner(): Promise<'none' | 'words' | 'held'> {
      const { settings } = await state();
      if (settings.text_out !== 1) return 'none';
      if (settings.service !== '' || settings.judge !== '') return 'held';
      return settings.words === 1 ? 'words' : 'none';
    },

    canJudge: async (model: string, userId: number): Promise<boolean> =>
      (await deps.judge(model, userId)) !== null,

    /** A secret of a service as it is kept. */
    seal: (secret: string): Buffer => deps.box().seal(secret, sealedFor),

    /** Settings were changed here. */
    forget: (): void => {
      known = null;
    },

    flush: figures.flush,
    close: figures.close,
  };
};
