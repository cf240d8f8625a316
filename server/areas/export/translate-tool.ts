import { createHash } from 'node:crypto';
import { trainLimits, translationEndings } from '#contract/train-limits.ts';
import type { Jobs } from '#server/jobs/jobs.ts';
import { madeByCall } from '../file/made-files.ts';
import type { FileService } from '../file/file.service.ts';
import { telling, tookText, untilEnded } from '../tool/job-tool.ts';
import { type Tool, type ToolContext, ToolFailure } from '../tool/tool.ts';
import * as translations from '../train/one-file.service.ts';
import { filesOfTalk, noSuchFile, type TalkFiles } from './files-of-talk.ts';

/** A document may have a thousand sentences, s. */
const seconds = 3600;

const languages = { zh: 1, en: 2 } as const;
const ways = { 1: '译成中文', 2: '译成英文' } as const;

const endings: readonly string[] = translationEndings;
const isDocument = (name: string): boolean =>
  endings.includes(name.split('.').at(-1)?.toLowerCase() ?? '');

const directionOf = ({ to }: Record<string, unknown>) => {
  if (to === undefined || to === null || to === '') return null;
  if (to !== 'zh' && to !== 'en') throw new ToolFailure('to 应是 zh 或 en');
  return languages[to];
};

/** The document that is meant: the one of a name, or the newest one. @throws ToolFailure */
const documentOf = async (
  files: TalkFiles,
  given: Record<string, unknown>,
  context: Parameters<typeof filesOfTalk>[1],
) => {
  const { file: named = '' } = given;
  if (typeof named !== 'string') throw new ToolFailure('参数 file 应是文件名');
  const there = (await filesOfTalk(files, context)).filter(({ name }) => isDocument(name));
  const [newest] = there;
  if (!newest) throw new ToolFailure('这次对话里还没有可以翻译的文件，请用户上传');
  const wanted = named.trim();
  const meant = wanted === '' ? newest : there.find(({ name }) => name === wanted);
  if (!meant) throw noSuchFile(wanted, there);
  const data = await meant.bytes(trainLimits.fileBytes);
  if (!data) throw new ToolFailure(`“${meant.name}”的原件已经不在，或超过 4 MB，请重新上传`);
  return { name: meant.name, data };
};

/** Projects have names of letters and digits; that of a call tells nobody which one. */
const projectKeyOf = (call: string): string =>
  `talk_${createHash('sha256').update(`translation of ${call}`).digest('hex').slice(0, 32)}`;

/** Translates a file of the conversation as the page of translations does, keeping its form. */
export const createTranslateFile = (
  deps: translations.OneFileDeps & {
    files: TalkFiles & Pick<FileService, 'keepToolFile'>;
    jobs: Pick<Jobs, 'cancel'>;
  },
): Tool => {
  const { files } = deps;

  const quoted = async (
    given: Record<string, unknown>,
    context: Omit<ToolContext, 'signal' | 'key'>,
  ) => {
    const { db, user } = context;
    if (user.guest) throw new ToolFailure('翻译文件要先登录');
    const document = await documentOf(files, given, context);
    const direction = directionOf(given);
    const quote = await translations.quoteFile(deps, db, { ...document, direction }, user);
    return { ...document, ...quote };
  };

  /** Waits until the file is translated, beginning that first unless it began before. */
  const translated = async (given: Record<string, unknown>, context: ToolContext) => {
    const { db, user, signal } = context;
    const key = projectKeyOf(context.key);
    const find = () => translations.stateOfFile(db, key, user.id);
    if (!(await find())) {
      const document = await quoted(given, context);
      await translations.beginFile(deps, db, { ...document, key }, user);
    }
    return untilEnded(signal, {
      look: async () => {
        const found = await find();
        if (!found) throw new ToolFailure('翻译已经不在了');
        if (found.state === 'failed') throw new ToolFailure(found.error || '没有翻译成功');
        return found.state === 'done' ? found : null;
      },
      stop: async () => {
        const found = await find();
        const open = found ? await translations.jobsOfProject(db, found.projectId) : [];
        for (const id of open) await deps.jobs.cancel(id);
      },
    });
  };

  return {
    label: '翻译文件',
    seconds,
    again: true,
    perReply: 3,
    spec: {
      name: 'translate_file',
      description:
        '把对话里的一个文件（Word、PDF、网页、字幕、文本）中英互译，排版不变，给出译文文件',
      parameters: {
        type: 'object',
        properties: {
          file: { type: 'string', description: '文件名；默认最新的' },
          to: { type: 'string', enum: Object.keys(languages) },
        },
      },
    },
    asks: (given, context) =>
      telling(async () => {
        const { name, tokens, direction, label } = await quoted(given, context);
        return tokens === 0
          ? null
          : `用「${label}」把“${name}”${ways[direction]}，约 ${tokens} tokens`;
      }),
    run: (given, context) =>
      telling(async () => {
        const { db, user, key } = context;
        const { id, projectId, token, sentences } = await translated(given, context);
        if (!(await madeByCall(db, key))) {
          const { name, data } = await translations.writtenFile(deps, db, id, user);
          await files.keepToolFile(db, { name, data, call: key }, user);
        }
        const made = await madeByCall(db, key);
        if (!made) throw new ToolFailure('译文已经不在了');
        return {
          text: `译好了“${made.name}”，共 ${sentences} 句${tookText({ deduct_tokens: token })}，用户可以在卡片上下载。逐句对照与修改：/translate?model_id=${projectId}`,
          files: [made],
        };
      }),
  };
};
