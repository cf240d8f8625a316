import { ChartError, chartSvg } from './chart-svg.ts';

export interface ProgramFile {
  name: string;
  data: Uint8Array;
}

/** What one run leaves: files, and bytes of one and of all. */
const most = { files: 8, bytes: 2 * 1024 * 1024, all: 6 * 1024 * 1024 };

const nameOf = (given: string): string =>
  given
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .split(/[/\\]/)
    .at(-1)!
    .replace(/^\.+/, '')
    .slice(-100);

/** Files that a program writes, and charts that it has drawn. `refused` is told behind its output. */
export const createLeavings = () => {
  const files = new Map<string, Uint8Array>();
  let charts = 0;
  const refused = new Set<string>();
  const keep = (given: string, data: Uint8Array): void => {
    const name = nameOf(given);
    const others = [...files].reduce(
      (sum, [each, { length }]) => sum + (each === name ? 0 : length),
      0,
    );
    if (name === '') refused.add('有个文件没有名字');
    else if (data.length > most.bytes || others + data.length > most.all)
      refused.add(`${name} 太大，没有保存`);
    else if (!files.has(name) && files.size >= most.files)
      refused.add(`至多保存 ${most.files} 个文件`);
    else files.set(name, data);
  };
  return {
    keep,
    /** @throws ChartError */
    chart: (json: string): void => {
      let given: unknown;
      try {
        given = JSON.parse(json);
      } catch {
        throw new ChartError('chart：参数里有不能写成 JSON 的值');
      }
      charts += 1;
      keep(`图表 ${charts}.svg`, Buffer.from(chartSvg(given)));
    },
    end: (text: string): { text: string; files: ProgramFile[] } => {
      const told = [...refused].map((each) => `（${each}）`);
      const all = [text.trim(), ...told].filter((each) => each !== '').join('\n');
      return {
        text: all === '' ? '（没有输出）' : all,
        files: [...files].map(([name, data]) => ({ name, data })),
      };
    },
  };
};
