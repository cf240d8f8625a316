import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import { allBlockedWords } from './blocked-words.store.ts';
import { createCheckFigures } from './check-figures.ts';
import { type Level, passed, type Verdict } from './safety-forms.ts';
import { byModel, byService, type Judge } from './safety-judges.ts';
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
  log: Pick<FastifyBaseLogger, 'warn'>;
}

/** Whose content is checked. */
export interface Checked {
  userId: number;
  /** What was judged may stand with its case; false: of what is nowhere kept. */
  keep: boolean;
  /** Somebody looks at it already: what is doubtful makes no case of its own. */
  noted?: boolean;
  /** Whoever asked has gone when it is aborted: what is not judged yet is not handed on. */
  signal?: AbortSignal;
}

type Way = 'in' | 'out';
type State = Awaited<ReturnType<typeof load>>;

/** Changes of a manager are seen within this, ms. */
const seenMs = 3_000;
/** Characters of one request: services take 600 to 10,000. */
const mostAsked = 600;
/** Characters that two requests share: nothing that is forbidden is cut in two and passes. */
const overlap = 30;
const mostExcerpt = 300;

const ranks: Readonly<Record<Level, number>> = { pass: 0, review: 1, refuse: 2 };

const load = async ({ db, box }: SafetyDeps) => {
  const { settings, secret } = await readSafety(db);
  const words = settings.words === 1 ? await allBlockedWords(db) : [];
  return {
    settings,
    secret: secret ? (box().open(secret, sealedFor) ?? '') : '',
    find: createWordFinder(words),
  };
};

/** Pieces that services take. */
const piecesOf = (text: string): string[] => {
  const pieces: string[] = [];
  for (let at = 0; at === 0 || at + overlap < text.length; at += mostAsked - overlap)
    pieces.push(text.slice(at, at + mostAsked));
  return pieces;
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

  const checkText = async (way: Way, text: string, of: Checked): Promise<Verdict> => {
    const now = await state();
    const { settings } = now;
    if (settings[way === 'in' ? 'text_in' : 'text_out'] !== 1 || text.trim() === '') return passed;
    let found = { verdict: settings.words === 1 ? await byWords(text, now) : passed, by: 'words' };
    const ask = async (by: string, judge: (piece: string) => Promise<Verdict | null>) => {
      for (const piece of piecesOf(text)) {
        if (found.verdict.level === 'refuse') return;
        of.signal?.throwIfAborted();
        const verdict = await figures.counting(
          by,
          piece.length,
          settings,
          async () => (await judge(piece)) ?? passed,
        );
        if (worse(found.verdict, verdict) === verdict && verdict.level !== 'pass')
          found = { verdict, by };
      }
    };
    if (settings.service !== '')
      await ask(settings.service, (piece) => byService({ text: piece, way }, now));
    if (settings.judge !== '')
      await ask(`model ${settings.judge}`, (piece) =>
        byModel(deps.judge, piece, settings.judge, of.userId),
      );
    return settled(db, found, now, { ...of, way, kind: 'text', excerpt: text });
  };

  return {
    checkText,

    /** A picture that a person brought, or a model drew; without a service it passes. */
    async checkPicture(way: Way, picture: Buffer, of: Checked): Promise<Verdict> {
      const now = await state();
      const { settings } = now;
      const wanted = settings[way === 'in' ? 'pictures_in' : 'pictures'] === 1;
      if (!wanted || settings.service === '') return passed;
      const verdict = await figures.counting(
        settings.service,
        0,
        settings,
        async () => (await byService({ picture }, now)) ?? passed,
      );
      const found = { verdict, by: settings.service };
      return settled(db, found, now, { ...of, way, kind: 'picture', excerpt: '' });
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
