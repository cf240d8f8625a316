import type { ToolFile } from '#contract/tool.ts';
import type { Executor } from '#server/db/database.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { aigcText } from '#server/labels/aigc.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import type { FileService } from '../file/file.service.ts';
import type { ProgramFile } from '../tool/code-files.ts';
import { telling } from '../tool/job-tool.ts';
import { languages, runProgram } from '../tool/run-code.ts';
import { textOf, type Tool, type ToolContext, ToolFailure } from '../tool/tool.ts';
import { filesOfTalk, noSuchFile, type TalkFiles } from './files-of-talk.ts';

/** Of files that a program may read: how many, and bytes of all. */
const most = { files: 8, bytes: 8 * 1024 * 1024 };

type Files = TalkFiles & Pick<FileService, 'keepToolFile'>;

const pictures: Readonly<Record<string, NonNullable<ToolFile['shown']>>> = {
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  gif: 'image/gif',
};
const endingOf = (name: string): string => name.split('.').at(-1)?.toLowerCase() ?? '';

/** The files of these names, the newest one of each. @throws ToolFailure which says what there is */
const filesNamed = async (
  files: Files,
  context: ToolContext,
  wanted: readonly string[],
): Promise<ProgramFile[]> => {
  if (wanted.length === 0) return [];
  const there = await filesOfTalk(files, context);
  const found: ProgramFile[] = [];
  for (const name of wanted) {
    const data = await there.find((file) => file.name === name)?.words(most.bytes);
    if (!data) throw noSuchFile(name, there);
    found.push({ name, data });
  }
  if (found.reduce((sum, { data }) => sum + data.length, 0) > most.bytes)
    throw new ToolFailure('这些文件加起来太大');
  return found;
};

const namesOf = ({ files = [] }: Record<string, unknown>): string[] => {
  if (
    !Array.isArray(files) ||
    files.length > most.files ||
    files.some((n) => typeof n !== 'string')
  )
    throw new ToolFailure(`files 应是至多 ${most.files} 个文件名`);
  return [...new Set(files as string[])];
};

const labelledSvg = (data: Buffer, label: string): Buffer =>
  Buffer.from(
    data
      .toString()
      .replace(
        /<svg\b[^>]*>/i,
        (root) => `${root}<metadata>${label.replaceAll('<', '')}</metadata>`,
      ),
  );

/** Keeps what a program left, for its person alone; pictures are shown. @throws Refusal */
const keep = async (
  files: Files,
  db: Executor,
  made: readonly ProgramFile[],
  { user, key }: Pick<ToolContext, 'user' | 'key'>,
): Promise<ToolFile[]> => {
  if (made.length === 0) return [];
  const label = await makeLabel(db, { kind: 'export', userId: user.id, model: 'run_code', key });
  return inTransaction(db, async (tx) => {
    const kept: ToolFile[] = [];
    for (const { name, data: bytes } of made) {
      const shown = pictures[endingOf(name)];
      const plain = Buffer.from(bytes);
      const data = shown === 'image/svg+xml' ? labelledSvg(plain, aigcText(label)) : plain;
      const url = await files.keepToolFile(tx, { name, data }, user);
      kept.push({ name, url, size: data.length, ...(shown && { shown }) });
    }
    return kept;
  });
};

/** Runs a program that a model wrote; what it draws is shown, what it writes can be downloaded. */
export const createRunCode = ({ files }: { files: Files }): Tool => ({
  label: '运行代码',
  // Others may be before it.
  seconds: 60,
  spec: {
    name: 'run_code',
    description:
      '运行程序：Python 3.12（只有标准库，open 读写文件）或 JavaScript（readFile、writeFile）。没有网络，10 秒。chart({type: bar|line|pie|scatter, title, labels, series: [{name, values}]}) 画图，Python 写作 chart(type=…)；图与写的文件直接给用户',
    parameters: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        language: { type: 'string', enum: languages },
        files: { type: 'array', items: { type: 'string' }, description: '要读的文件名' },
      },
      required: ['code', 'language'],
    },
  },
  run: (given, context) =>
    telling(async () => {
      const { db, user, signal } = context;
      const code = textOf(given, 'code', 20_000);
      const { language: named = 'javascript' } = given;
      const language = languages.find((each) => each === named);
      if (!language) throw new ToolFailure(`language 应是 ${languages.join('、')} 之一`);
      const read = await filesNamed(files, context, namesOf(given));
      const { text, files: made } = await runProgram({ language, code, files: read }, user);
      signal.throwIfAborted();
      const kept = await keep(files, db, made, context);
      const told = kept.map(
        ({ name, shown }) => `（${shown ? '图片已显示' : '文件已给出'}：${name}）`,
      );
      return { text: [text, ...told].join('\n'), files: kept };
    }),
});
