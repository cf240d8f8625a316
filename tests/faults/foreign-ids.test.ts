import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallSpec } from '#contract/call.ts';
import { type CallName, calls } from '#contract/calls.ts';
import {
  createWorld,
  goodInputs,
  type RawAnswer,
  type Role,
  secretOfOther,
  sendRaw,
  type World,
} from '../support/world.ts';

let world: World;
let database: pg.Client;
beforeAll(async () => {
  world = await createWorld();
  database = new pg.Client({ connectionString: world.server.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database.end();
  await world.stop();
});

/** Fields that name a thing by its id, and the kind of thing. `id` is history's in the calls at hand. */
const idFields: Readonly<Record<string, 'session' | 'history'>> = {
  session_id: 'session',
  sessionId: 'session',
  uuid: 'session',
  history_id: 'history',
  id: 'history',
  before: 'history',
  after: 'history',
  replace: 'history',
};

const fieldsOf = (spec: CallSpec): string[] =>
  Object.keys((spec.input as unknown as { def: { shape: object } }).def.shape);

/** Names for what is to be made: one that is taken is refused, and says nothing of what it names. */
const madeByAsker: ReadonlySet<string> = new Set(['newSession.uuid']);

/** Their ids are of keywords and templates, which belong to nobody, or only narrow what is one's own. */
const ofNobody: ReadonlySet<CallName> = new Set([
  'topKeyword',
  'hideKeyword',
  'topPrompt',
  'hidePrompt',
  // What they change has tests of its own; without an id they make something.
  'saveScenario',
  'savePrompt',
  'jobEvents',
  // Providers are the site's, and a passkey's is of its own device.
  'finishProvider',
  'signInByPasskey',
  'savePasskey',
]);

const withIds = (Object.entries(calls) as [CallName, CallSpec][])
  .filter(([name]) => !ofNobody.has(name))
  .map(([name, spec]) => [name, fieldsOf(spec).filter((field) => field in idFields)] as const)
  .filter(([, fields]) => fields.length > 0);

const outcome = ({ status, envelope }: RawAnswer) => ({ status, code: envelope?.code });

/** Everything of the other person that an intruder could have changed. */
const stateOfOther = async () => {
  const { id } = world.talks.other;
  const session = await database.query('SELECT * FROM sessions WHERE id = $1', [id]);
  const history = await database.query('SELECT * FROM history WHERE session_id = $1', [id]);
  return { session: session.rows as unknown[], history: history.rows as unknown[] };
};

describe('an id of somebody else', () => {
  test('the calls with ids are all here', () => {
    expect(withIds.length).toBeGreaterThanOrEqual(8);
  });

  test.each(withIds)('%s answers it like one that does not exist', async (name, fields) => {
    const foreign = world.talks.other;
    const before = await stateOfOther();
    // Who may not call it at all is refused by the walk over all calls.
    const { access } = calls[name];
    const intruders: Role[] = ['user'];
    if (access === 'public' || access === 'guest') intruders.push('guest');
    if (access === 'public') intruders.push('none');
    for (const role of intruders) {
      for (const field of fields) {
        const own = world.talks.user;
        const good = goodInputs(own)[name] as Record<string, unknown>;
        const tries =
          idFields[field] === 'session'
            ? [
                [foreign.uuid, randomUUID()],
                [foreign.id, 999_999_999],
                // However it is written, once.
                ...(role === 'user'
                  ? [
                      [foreign.uuid.toUpperCase(), randomUUID()],
                      [String(foreign.id), '999999999'],
                    ]
                  : []),
              ]
            : [[foreign.historyId, 999_999_999]];
        for (const [theirs, nobodys] of tries) {
          const what = `${name}.${field} = ${theirs} as ${role}`;
          const answer = await sendRaw(world.people[role], name, { ...good, [field]: theirs });
          const missing = await sendRaw(world.people[role], name, { ...good, [field]: nobodys });
          expect(answer.text, what).not.toContain(secretOfOther);
          expect(answer.text, what).not.toContain('芝麻开门');
          expect(answer.status, what).toBeLessThan(500);
          // What may be read when it is public says that it is private; the rest says nothing.
          if (answer.envelope?.code === 1432) expect(answer.envelope.data, what).toBeNull();
          else if (madeByAsker.has(`${name}.${field}`) && answer.status === 409)
            expect(answer.envelope?.data, what).toBeNull();
          else expect(outcome(answer), what).toEqual(outcome(missing));
        }
      }
    }
    expect(await stateOfOther(), name).toEqual(before);
  });

  test('both ids of somebody else together open nothing either', async () => {
    const foreign = world.talks.other;
    const before = await stateOfOther();
    for (const [name, fields] of withIds) {
      const input = goodInputs(foreign)[name];
      // Without an id nobody's is named.
      if (!fields.some((field) => field in input)) continue;
      for (const role of ['none', 'guest', 'user'] as const) {
        const answer = await sendRaw(world.people[role], name, input);
        const what = `${name} as ${role}: ${answer.status} ${answer.text.slice(0, 100)}`;
        expect(answer.text, what).not.toContain('芝麻开门');
        const code = answer.envelope?.code;
        // Guests are sent to register before anything is looked up.
        const refused =
          answer.status === 404 ||
          answer.status === 401 ||
          code === 1432 ||
          (code === 1001 && role === 'guest' && calls[name].access === 'user');
        expect(refused, what).toBe(true);
      }
    }
    expect(await stateOfOther()).toEqual(before);
  });

  test('lists show nobody else’s private sessions', async () => {
    const { id } = await world.people.other.call('userInfo', {});
    for (const role of ['none', 'guest', 'user'] as const) {
      for (const channel of ['public', 'private', 'favorites']) {
        const answer = await sendRaw(world.people[role], 'sessionList', { channel, user_id: id });
        expect(answer.text, `${channel} as ${role}`).not.toContain(world.talks.other.uuid);
      }
    }
  });
});
