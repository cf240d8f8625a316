import { mark, postForm, type Player, type Stage } from './stage.ts';
import { draw } from './stage.ts';
import { forumTexts, grouped, readParts } from './texts.ts';
import { strToU8, zipSync } from 'fflate';

/** All questions, the newest beside each other from different groups. */
const questions = ({ chance }: Stage) => {
  const all = forumTexts().flatMap(({ group, parts }) =>
    grouped(parts, '问').map((question) => ({ ...question, group })),
  );
  return chance.some(all, all.length);
};

/** Questions of people to people, with answers, votes, accepted ones and those that stand out. */
export const fillForum = async (stage: Stage): Promise<void> => {
  const { regulars, manager, chance } = stage;
  const { list } = await manager.client.call('forumGroups', {});
  const groups = new Map(list.map(({ name, id }) => [name, id]));
  for (const { head, rest, group } of questions(stage)) {
    const [title = '', sign = ''] = head.words;
    const asker = chance.pick(regulars);
    const session = await asker.client.call('newSession', {
      type: 2,
      private: 0,
      group_id: groups.get(group) ?? 1,
    });
    const asked = await asker.client.call('sendMessage', {
      session_id: session.uuid,
      msg: head.body,
      title,
    });
    await like(stage, asker, session.uuid, asked.id);
    const others = chance.some(
      regulars.filter((each) => each !== asker),
      rest.length,
    );
    for (const [at, part] of rest.entries()) {
      // Who asked says a word, too.
      const speaker = part.kind === '追' ? asker : others[at]!;
      const said = await speaker.client.call('sendMessage', {
        session_id: session.uuid,
        msg: part.body,
      });
      if (part.kind !== '追') await like(stage, speaker, session.uuid, said.id);
      if (part.kind === '采')
        await asker.client.call('acceptAnswer', {
          session_id: session.uuid,
          history_id: said.id,
        });
    }
    if (sign !== '')
      await manager.client.call('markQuestion', {
        session_id: session.uuid,
        ...(sign === '精华' ? { essence: 1 } : { pinned: 1 }),
      });
  }
};

const like = async ({ players, chance }: Stage, writer: Player, uuid: string, id: number) => {
  const fans = chance.some(players, Math.floor(chance.next() ** 2 * 9));
  await Promise.all(
    fans
      .filter((fan) => fan !== writer)
      .map((fan) => fan.client.call('historyLike', { session_id: uuid, history_id: id })),
  );
};

/** What the guide keeps: questions worth coming back to, and a key for a program of theirs. */
export const furnishGuide = async ({ pool, guide }: Stage): Promise<void> => {
  const { rows } = await pool.query<{ uuid: string }>(
    `SELECT uuid FROM sessions WHERE essence AND user_id IN
       (SELECT id FROM demo_things WHERE kind = 'users') ORDER BY id LIMIT 4`,
  );
  for (const { uuid } of rows) await guide.client.call('addToFavorites', { session_id: uuid });
  await guide.client.call('genKey', { name: '笔记软件里的助手' });
};

/** What waits for a manager: two questions that somebody found unsuitable. */
export const complain = async ({ pool, players }: Stage): Promise<void> => {
  const { rows } = await pool.query<{ uuid: string; user_id: string }>(
    `SELECT uuid, user_id FROM sessions WHERE type = 2 AND user_id = ANY($1) ORDER BY id DESC LIMIT 2`,
    [players.map(({ id }) => id)],
  );
  const notes = ['和别的帖子重复了，建议合并', '标题像广告，请看一下'];
  for (const [at, { uuid, user_id }] of rows.entries()) {
    const teller = players.find(({ id }) => id !== Number(user_id))!;
    await teller.client.call('report', {
      session_id: uuid,
      reason: at === 0 ? 'other' : 'spam',
      note: notes[at]!,
    });
  }
};

/** Talks with a model that are worth reading, brought in as anybody brings in an export. */
export const bringTalks = async ({ regulars, guide, chance }: Stage): Promise<void> => {
  for (const [nth, { head, rest }] of grouped(readParts('talks'), '话').entries()) {
    const [title = ''] = head.words;
    const messages: Record<string, unknown>[] = [];
    for (let at = 0; at + 1 < rest.length; at += 2)
      messages.push({
        id: at + 1,
        prev: at === 0 ? 0 : at - 1,
        shown: true,
        human: rest[at]!.body,
        ai: rest[at + 1]!.body,
        state: 'done',
        model: 'builtin-assistant',
        created_at: new Date().toISOString(),
      });
    // Whoever looks around as the one person that may be entered finds most of them as their own.
    const mine = nth % 3 < 2;
    const { client } = mine ? guide : chance.pick(regulars);
    const { uuid } = await client.call('importSessions', {
      data: { queqiao: 1, sessions: [{ title, type: 0, model: 'builtin-assistant', messages }] },
    });
    if (!uuid) continue;
    await client.call('setSession', { session_id: uuid, private: 0 });
    if (!mine) await guide.client.call('addToFavorites', { session_id: uuid });
  }
};

/** So many begin a talk with it; they count as uses, and an empty talk is nothing to keep. */
const useScenario = async ({ players, chance }: Stage, id: number, uses: number): Promise<void> => {
  for (const { client } of chance.some(players, uses)) {
    const { uuid } = await client.call('newSession', { type: 0, scenario_id: id });
    // Its maker gives no stars, and not everybody does.
    if (chance.whole(1, 3) > 1)
      await client.raw('rateScenario', { scenario_id: id, stars: chance.whole(3, 5) });
    await client.call('deleteSession', { session_id: uuid });
  }
};

/** Scenarios that people made and a manager let through, and talks that began with them. */
export const makeScenarios = async (stage: Stage): Promise<void> => {
  const { regulars, manager, chance } = stage;
  const { list } = await manager.client.call('scenarioCategory', {});
  for (const { words, body } of readParts('scenarios')) {
    const [category = '', name = '', color = '', desc_ = ''] = words;
    const written = {
      name,
      color,
      desc_,
      prompt: body,
      category: list.find((each) => each.name === category)?.id ?? list[0]!.id,
    };
    const { id } = await chance.pick(regulars).client.call('saveScenario', {
      ...written,
      publish: 1,
    });
    await manager.client.call('manageScenario', { ...written, id, state: 'public' });
    await useScenario(stage, id, chance.whole(2, 12));
  }
  // Those that were there before are used, too.
  const { list: there } = await manager.client.call('scenarioList', { page_size: 50 });
  for (const { id } of there) await useScenario(stage, id, chance.whole(0, 5));
};

/** Public knowledge bases that are read and ready. */
export const makeBases = async ({ regulars, chance }: Stage): Promise<void> => {
  for (const { head, rest } of grouped(readParts('bases'), '库')) {
    const [name = '', desc = ''] = head.words;
    const { client } = chance.pick(regulars);
    const { model } = await client.call('newTrainModel', { name, desc, type: 0, private: 0 });
    for (const { words, body } of rest)
      await postForm(
        client,
        `/api/train/upload_file?model_id=${model.id}`,
        {},
        { file: { data: new Blob([body], { type: 'text/markdown' }), name: words[0] ?? 'a.md' } },
      );
  }
};

/** Apps with covers, files and what people say of them. */
export const fillMarket = async ({ pool, players, manager, chance }: Stage): Promise<void> => {
  let seed = 40;
  for (const { head, rest } of grouped(readParts('apps'), '应用')) {
    const [title = '', type = '', developer = '', version = '', cover = ''] = head.words;
    const face = await draw(cover, seed++, 512, 512);
    const file = zipSync({
      '说明.md': strToU8(`# ${title}\n\n${head.body}\n`),
      '封面.png': new Uint8Array(await face.arrayBuffer()),
    });
    const { id } = await postForm(
      manager.client,
      '/api/product/save_app',
      {
        title,
        type,
        developer,
        version,
        version_desc: version.endsWith('.0') ? '新的一版，更快了' : '修好了大家提到的几处毛病',
        price: '0',
        md_description: head.body,
      },
      {
        cover_image: { data: face, name: 'cover.png' },
        file: { data: new Blob([new Uint8Array(file)]), name: `${title}.zip` },
      },
    );
    await mark(pool, 'apps', Number(id));
    const people = chance.some(players, rest.length + chance.whole(2, 8));
    for (const [at, player] of people.entries()) {
      await player.client.call('payApp', { id: Number(id) });
      const { url } = await player.client.call('appDownloadLink', { id: Number(id) });
      await (await fetch(new URL(url, player.client.baseURL))).arrayBuffer();
      const review = rest[at];
      if (review)
        await player.client.call('sendAppComment', {
          app_id: Number(id),
          comment_content: review.body,
          rating: Number(review.words[0]),
        });
    }
  }
};

export const pinUp = async ({ pool, manager }: Stage): Promise<void> => {
  for (const { body } of readParts('notices')) {
    const { id } = await postForm(manager.client, '/api/admin/save_notice', { notice: body }, {});
    await mark(pool, 'notices', Number(id));
  }
};

/** Orders that were paid at the play till, and some that were let go. */
export const shop = async ({ regulars, chance }: Stage): Promise<void> => {
  for (const { client } of regulars)
    for (let left = chance.whole(1, 4); left > 0; left -= 1) {
      const vip = chance.next() < 0.3;
      const order = await client.call('recharge', {
        type: vip ? 'vip' : 'token',
        num: chance.whole(1, vip ? 3 : 5),
        provider: 'sandbox',
      });
      const key = new URL(order.url, client.baseURL).searchParams.get('key') ?? '';
      await client.call('sandboxSettle', { key, pay: chance.next() < 0.8 ? 1 : 0 });
      await client.call('tradeStatus', { platform_order_id: order.trade_no });
    }
};
