import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CallName, calls, type In } from '#contract/calls.ts';
import { TestClient } from '../support/client.ts';
import { makeFilm } from '../support/films.ts';
import { paint } from '../support/images.ts';
import { createWorld, sendRaw, talk, type World } from '../support/world.ts';

/** What is public of somebody who is disabled or forced to be private, on every public surface. */

let world: World;
let database: pg.Client;
beforeAll(async () => {
  world = await createWorld({
    env: { RATE_LIMIT: '1000000' },
  });
  database = new pg.Client({ connectionString: world.server.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await world?.stop();
});

/** Reading calls for strangers in which nothing of another person's stands. A new call is put here, or walked. */
const ofNobody = new Set<CallName>([
  ...(['authCheck', 'captcha', 'userInfo', 'models', 'modelHealth', 'health', 'siteInfo'] as const),
  // The operator's texts, and what one has agreed to oneself.
  ...(['agreements', 'agreement', 'thirdParties'] as const),
  // What is set here, and how one signs in oneself.
  ...(['signInWays', 'signInMeans'] as const),
  // Whether a model made an image, for whoever has its address.
  'imageOrigins',
  // One's own upload alone.
  'uploadState',
  ...(['helpList', 'helpPage', 'forumGroups', 'scenarioCategory', 'keywordList'] as const),
  ...(['promptList', 'translateModelList', 'trainEngines', 'appList', 'appVersionNext'] as const),
  ...(['noticeInfo', 'noticeList', 'downloadSourceCode', 'noticeFile', 'updateNotice'] as const),
  ...(['paymentInfo', 'sandboxTrade', 'pushKey', 'promptParameter', 'downloadApp'] as const),
  // One's own, of which the person who asks is the owner.
  ...(['minorState', 'ownSafetyCases'] as const),
  ...(['usage', 'transactionList', 'transactionFile', 'jobList', 'jobEvents'] as const),
  // What one's own model reads of one's own session.
  'sessionContext',
  // A number about everybody's tools and one's own.
  'toolTokens',
  ...(['imageProgress', 'uploadedFiles', 'privateImages', 'shareInfo', 'attachedText'] as const),
  ...(['imageMetadata', 'exportFile', 'trainLog', 'passageTokens'] as const),
  // A file of a model, behind the same rule as the list of its files; a passage, as its base.
  ...([
    'trainFileContent',
    'segmentList',
    'knowledgePassage',
    'passagePage',
    'replySource',
  ] as const),
]);

const mark = `暗香${randomUUID().slice(0, 6)}`;
let person: TestClient;
let id: number;
/** What each surface is asked to show what the person has there. */
const surfaces = new Map<string, { call: CallName; input: object; who?: 'asker' }>();
let asker: TestClient;
let stranger: TestClient;

const surface = <K extends CallName>(name: string, call: K, input: Partial<In<K>>, who?: 'asker') =>
  void surfaces.set(name, { call, input, ...(who && { who }) });

beforeAll(async () => {
  const { baseURL } = world.server;
  const { manager } = world.people;
  [person, asker, stranger] = await Promise.all([
    TestClient.register(baseURL),
    TestClient.register(baseURL),
    TestClient.register(baseURL),
  ]);
  ({ id } = await person.call('userInfo', {}));
  const open = (uuid: string) => person.call('setSession', { session_id: uuid, private: 0 });

  const said = await talk(person, `${mark} 一次公开的谈话`);
  await open(said.uuid);
  const { key } = await person.call('shareSession', { session_id: said.uuid });
  surface('public sessions', 'sessionList', { channel: 'public' });
  surface('sessions of a person', 'sessionList', { channel: 'public', user_id: id });
  surface('words in public sessions', 'sessionList', { channel: 'public', query: mark });
  surface('a session', 'getSession', { uuid: said.uuid });
  surface('its messages', 'historyList', { session_id: said.uuid });
  surface('its newest messages', 'lastMessages', { sessionId: said.uuid, maxHistoryId: 0 });
  surface('words in it', 'searchMessages', { session_id: said.uuid, query: mark });
  surface('its file', 'exportSession', { session_id: said.uuid, format: 'markdown' });
  surface('its drawings', 'exportDrawn', { session_id: said.uuid, format: 'pdf' });
  surface('its diagrams', 'exportDiagrams', { session_id: said.uuid });
  surface('its stream', 'eventStream', { session_id: said.uuid, history_id: said.historyId });
  surface('a shared page', 'sharedSession', { key });

  const asked = await person.call('newSession', { type: 2, private: 0 });
  const title = `${mark} 的提问`;
  await person.call('sendMessage', { session_id: asked.uuid, msg: '请教各位', title });
  surface('questions', 'sessionList', { channel: 'forum' });
  surface('words in the forum', 'sessionList', { channel: 'forum', query: mark });
  surface('a question', 'getSession', { uuid: asked.uuid });

  const theirs = await asker.call('newSession', { type: 2, private: 0 });
  const of = { session_id: theirs.uuid };
  await asker.call('sendMessage', { ...of, msg: '有谁知道吗', title: '别人的提问' });
  const answer = await person.call('sendMessage', { ...of, msg: `${mark} 的旧回答` });
  const changed = { ...of, id: answer.id, content: `${mark} 的回答` };
  await person.call('updateMessage', changed);
  surface('an answer', 'historyList', of);
  surface('the newest answers', 'lastMessages', { sessionId: theirs.uuid, maxHistoryId: 0 });
  surface('an answer by its link', 'historyList', { ...of, id: answer.id });
  surface('answers by likes', 'historyList', { ...of, sort: 'votes' });
  surface('its former texts', 'messageEdits', { ...of, history_id: answer.id });
  surface('words in an answer', 'searchMessages', { ...of, query: mark });
  surface('news of an answer', 'newsList', {}, 'asker');

  const painted = await paint(person, `${mark} 的画`);
  await open(painted.sent.uuid);
  const { list: works } = await person.call('imageIndex', { private: 1 });
  surface('the gallery', 'imageIndex', {});
  surface('the web gallery', 'imageExplore', { sort: 'newest' });
  surface('a picture', 'imageInfo', { image_id: works[0]?.id ?? 0 });
  const { sent: filmed } = await makeFilm(person, { prompt: `${mark} 的短片` });
  await open(filmed.uuid);
  surface('films', 'videoIndex', {});

  const { list: categories } = await person.call('scenarioCategory', {});
  const scenario = { name: `${mark} 的场景`, prompt: '你是园丁', category: categories[0]?.id ?? 1 };
  const kept = await person.call('saveScenario', { ...scenario, publish: 1 });
  await manager.call('manageScenario', { ...scenario, id: kept.id, state: 'public' });
  surface('scenarios', 'scenarioList', { query: mark });

  const base = `base${randomUUID().slice(0, 8)}`;
  const { model: made } = await person.call('newTrainModel', {
    name: `${mark} 的资料`,
    key: base,
    type: 0,
  });
  await person.call('setTrainModel', { model_id: made.id, private: 0 });
  surface('knowledge bases', 'embeddingList', {});
  surface('words in one', 'askKnowledge', { embedding_key: base, question: mark });
  surface('models of people', 'trainModelList', { public: 1 });
  surface('a model of theirs', 'trainModel', { model_id: made.id });
  surface('its files', 'trainFileList', { model_id: made.id });

  const { rows } = await database.query<{ id: number }>(
    `WITH app AS (INSERT INTO apps (title, state, published_at) VALUES ('应用', 'published', now())
       RETURNING id)
     INSERT INTO app_comments (app_id, user_id, rating, content)
     SELECT id, $1, 8, $2 FROM app RETURNING app_id::float8 AS id`,
    [id, `${mark} 的评论`],
  );
  const appId = rows[0]?.id ?? 0;
  surface('an app', 'appDetails', { id: appId });
  surface('its comments', 'appCommentNext', { id: appId, comment_page: 1 });
}, 90_000);

/** Where a stranger finds something of the person. */
const found = async (as?: TestClient): Promise<string[]> => {
  const names: string[] = [];
  for (const [name, { call, input, who }] of surfaces) {
    const client = as ?? (who === 'asker' ? asker : stranger);
    const { status, text, envelope } = await sendRaw(client, call, input as never);
    const shows = text.includes(mark) || (emptyOnes.has(name) && (envelope?.code ?? 0) === 0);
    if (status === 200 && shows) names.push(name);
  }
  return names;
};
/** Those that show nothing of it even to friends, but must refuse. */
const emptyOnes = new Set([
  'its diagrams',
  'its drawings',
  'its files',
  'its stream',
  'words in one',
]);

test('every call that strangers may read by is walked here, or shows nobody’s things', () => {
  const walked = new Set<CallName>([...surfaces.values()].map(({ call }) => call));
  const reading = Object.entries(calls).filter(
    ([, spec]) => (spec.access === 'public' || spec.access === 'guest') && spec.method === 'GET',
  );
  const unknown = reading
    .map(([name]) => name as CallName)
    .filter((name) => !walked.has(name) && !ofNobody.has(name));
  expect(unknown).toEqual([]);
});

test('of somebody disabled strangers find nothing, managers find it, and enabled all is as it was', async () => {
  const { manager } = world.people;
  const all = await found();
  expect([...surfaces.keys()].filter((name) => !all.includes(name))).toEqual([]);

  await manager.call('updateUser', { user_id: id, disabled: 1 });
  expect(await found()).toEqual([]);
  const seen = await found(manager);
  for (const name of ['a session', 'its messages', 'a question', 'an answer', 'its former texts'])
    expect(seen).toContain(name);
  const { list } = await manager.call('adminSessionList', { user_id: id });
  expect(list.length).toBeGreaterThanOrEqual(4);

  await manager.call('updateUser', { user_id: id, disabled: 0 });
  await expect.poll(() => found(), { timeout: 10_000 }).toEqual(all);
});

test('forced to be private, their sessions are private meanwhile; what was made so stays so', async () => {
  const { manager } = world.people;
  const before = await found();
  const uuidOf = (name: string) => (surfaces.get(name)!.input as { uuid: string }).uuid;
  const force = (on: 0 | 1) =>
    manager.call('updateUserSession', { user_id: id, session_private: on });
  expect((await force(1)).changed).toBeGreaterThanOrEqual(4);
  const left = await found();
  for (const name of [
    'sessions of a person',
    'a session',
    'a shared page',
    'a question',
    'the gallery',
  ])
    expect(left).not.toContain(name);
  expect(left).toContain('an answer');
  // Nobody opens it meanwhile, and both disabled and forced must end.
  await manager.call('adminSetSession', { session_id: uuidOf('a session'), private: 0 });
  await manager.call('updateUser', { user_id: id, disabled: 1 });
  await force(0);
  expect(await found()).toEqual([]);
  await manager.call('updateUser', { user_id: id, disabled: 0 });
  await expect.poll(() => found(), { timeout: 10_000 }).toEqual(before);

  // Their own word, and a manager's to hide what there is, outlast it.
  await force(1);
  await person.call('setSession', { session_id: uuidOf('a question'), private: 1 });
  await force(0);
  const kept = await found();
  expect(kept).toContain('a session');
  expect(kept).not.toContain('a question');
  await force(1);
  const hidden = await manager.call('updateUserSession', { user_id: id, history_private: 1 });
  expect(hidden.changed).toBeGreaterThanOrEqual(3);
  await force(0);
  expect(await found()).not.toContain('a session');
});
