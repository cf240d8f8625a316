import type { Executor } from '#server/db/database.ts';
import { madeInSession } from '../chat/image-messages.service.ts';
import { namedImage } from '../file/image-address.ts';
import { ToolFailure, type ToolContext } from '../tool/tool.ts';
import { anyImage, ownOfKey, type ImageRow } from './image.store.ts';

/** Pictures that are told to a model that named none of them. */
const mostTold = 8;
/** Pictures that are looked at. */
const mostLooked = 40;
/** Characters of a picture's words that are told. */
const wordsTold = 40;

export const pictureArgument = {
  type: 'string',
  description: '哪张：画它的词，或编号“图片 12”；默认最新的',
} as const;

type Before = Pick<ToolContext, 'user' | 'sessionId' | 'historyId' | 'round'>;

/**
 * A person's pictures in what is shown of their conversation before a round of calls, newest first:
 * what came meanwhile is not what was agreed to.
 */
const picturesOf = async (
  db: Executor,
  { sessionId, historyId, round, user: { id: userId } }: Before,
): Promise<ImageRow[]> => {
  const found: ImageRow[] = [];
  const take = (row: ImageRow | null) => {
    const there = row?.deletedAt === null && row.key !== '' && row.userId === userId;
    if (row && there && !found.some(({ id }) => id === row.id)) found.push(row);
  };
  const rows = await madeInSession(db, { sessionId, upTo: historyId, userId });
  for (const { id: message, tools, request } of rows) {
    const ids = (tools ?? [])
      .filter((call) => message !== historyId || call.round < round)
      .flatMap(({ files = [] }) => files.flatMap(({ image }) => image?.id ?? []));
    for (const id of ids.reverse()) take(await anyImage(db, id));
    const brought = [...(request?.images ?? []), request?.image?.base_image ?? ''];
    for (const url of brought.reverse()) {
      const named = namedImage(url);
      if (named) take(await ownOfKey(db, named.key, userId));
    }
    if (found.length >= mostLooked) break;
  }
  return found;
};

const toldOf = ({ id, prompt, origin }: ImageRow): string =>
  `图片 ${id}（${prompt.replaceAll(/\s+/g, ' ').slice(0, wordsTold) || (origin === 'uploaded' ? '用户上传的' : '没有文字')}）`;

/**
 * The picture of a conversation that a call means: the newest one, the one of a number, or the
 * newest one whose words hold what it names. Nobody else's is ever found.
 * @throws ToolFailure which says what there is
 */
export const pictureOfTalk = async (
  given: Record<string, unknown>,
  { db, ...before }: Before & Pick<ToolContext, 'db'>,
): Promise<ImageRow> => {
  const { image = '' } = given;
  if (typeof image !== 'string' && typeof image !== 'number')
    throw new ToolFailure('参数 image 应是一段文字');
  const named = String(image).trim().slice(0, 200);
  const pictures = await picturesOf(db, before);
  const [newest] = pictures;
  if (!newest) throw new ToolFailure('这次对话里还没有图片，请先画一张，或请用户上传');
  if (/^(?:|last|latest|最后一张|最新的?(?:一张)?|上一张|刚才(?:那张|的)?)$/i.test(named))
    return newest;
  const number = Number(/^(?:图片|image)?\s*#?(\d{1,12})$/i.exec(named)?.[1] ?? NaN);
  const key = namedImage(named)?.key;
  const found = pictures.find(
    (each) => each.id === number || each.key === key || each.prompt.includes(named),
  );
  if (found) return found;
  const told = pictures.slice(0, mostTold).map(toldOf).join('、');
  throw new ToolFailure(`没有“${named}”这张图片。对话里有，新的在前：${told}`);
};
