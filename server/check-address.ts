import type { Settings } from './settings.ts';

/** What was looked at, in Chinese; `advice` says what to do where it is not well. */
export interface Finding {
  area: string;
  /** `note`: it works, and somebody may want to know. */
  state: 'well' | 'note' | 'broken';
  text: string;
  advice?: string;
}

export type Checks = AsyncGenerator<Finding, void>;

/** How long an address may take to answer, ms. */
export const answerMs = 10_000;
/** The pauses between two pieces of /api/health/stream, and what a proxy may add to one, ms. */
const streamPauseMs = 250;
const streamSlackMs = 150;

export const well = (area: string, text: string): Finding => ({ area, state: 'well', text });
export const note = (area: string, text: string, advice: string): Finding => ({
  area,
  state: 'note',
  text,
  advice,
});
export const broken = (area: string, text: string, advice: string): Finding => ({
  area,
  state: 'broken',
  text,
  advice,
});
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message || error.name : String(error);

/** When the pieces of a stream arrive, ms after the first. */
const arrivals = async (response: Response): Promise<number[]> => {
  const times: number[] = [];
  for await (const _ of response.body ?? []) times.push(performance.now());
  return times.map((each) => each - (times[0] ?? 0));
};

/** From where people come: whether the address answers, and whether a proxy holds streams back. */
export async function* checkAddress({
  publicUrl,
  trustProxy,
}: Pick<Settings, 'publicUrl' | 'trustProxy'>): Checks {
  if (publicUrl === '') {
    yield note('公开地址', '没有设置', '别人要用时设置 PUBLIC_URL，支付通知、分享链接都用它');
    return;
  }
  const signal = () => AbortSignal.timeout(answerMs);
  try {
    const health = await fetch(`${publicUrl}/api/health/live`, { signal: signal() });
    await health.body?.cancel();
    if (health.status !== 200) {
      yield broken(
        '公开地址',
        `${publicUrl} 答 ${health.status}`,
        '先 npm start，再看反向代理的设置',
      );
      return;
    }
    yield publicUrl.startsWith('https:')
      ? well('公开地址', `${publicUrl} 有回答`)
      : note(
          '公开地址',
          `${publicUrl} 有回答，但不是 https`,
          '没有 https，安装、录音、通知都用不了',
        );
    const times = await arrivals(
      await fetch(`${publicUrl}/api/health/stream`, { signal: signal() }),
    );
    const late = (times.at(-1) ?? 0) < streamPauseMs * 2 - streamSlackMs;
    yield late
      ? broken(
          '反向代理',
          '把流攒在一起才放出来，回答会一下子全出现',
          'nginx：proxy_buffering off（见 deploy/nginx.conf）',
        )
      : well('反向代理', '流是一段一段到的');
    if (trustProxy === '')
      yield note(
        '反向代理',
        '没有设置 TRUST_PROXY',
        '前面有代理时，设成代理的地址，否则所有人算一个地址',
      );
  } catch (error) {
    yield broken('公开地址', `${publicUrl} 打不开：${reasonOf(error)}`, '检查域名、证书与端口');
  }
}
