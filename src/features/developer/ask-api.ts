import { callApi, isEvents, longestShown, piecesOf } from './call-api.ts';

/** One chat that is asked through the public API, as its answer comes. */

export interface Told {
  /** 0: nothing has come. */
  status: number;
  /** Milliseconds until the first word and until now. */
  firstMs: number;
  ms: number;
  text: string;
  thought: string;
  /** As it came, to be read. */
  raw: string;
  usage: Readonly<Record<string, unknown>> | null;
  yuan: number | null;
  failure: string;
}

interface Answer {
  choices?: { message?: Part; delta?: Part }[];
  usage?: Readonly<Record<string, unknown>> | null;
  error?: { message?: string };
}
interface Part {
  content?: string | null;
  reasoning_content?: string | null;
}

const priceIn = (line: string): number | null => {
  const [, yuan] = /x-price-yuan ([\d.]+)/.exec(line) ?? [];
  return yuan === undefined ? null : Number(yuan);
};

/** @param onTold called with what has come so far, more and more */
export const askApi = async (
  { key, body, signal }: { key: string; body: object; signal: AbortSignal },
  onTold: (told: Told) => void,
): Promise<void> => {
  const begun = performance.now();
  let told: Told = {
    status: 0,
    firstMs: 0,
    ms: 0,
    text: '',
    thought: '',
    raw: '',
    usage: null,
    yuan: null,
    failure: '',
  };
  const tell = (more: Partial<Told>): void => {
    told = { ...told, ...more, ms: Math.round(performance.now() - begun) };
    onTold(told);
  };
  const take = (answer: Answer): void => {
    const [choice] = answer.choices ?? [];
    const part = choice?.message ?? choice?.delta ?? {};
    const { content, reasoning_content: thought } = part;
    const first = (content ?? '') !== '' || (thought ?? '') !== '';
    tell({
      ...(first && told.firstMs === 0 ? { firstMs: Math.round(performance.now() - begun) } : {}),
      text: told.text + (content ?? ''),
      thought: told.thought + (thought ?? ''),
      ...(answer.usage ? { usage: answer.usage } : {}),
      ...(answer.error ? { failure: answer.error.message ?? '没有回答' } : {}),
    });
  };
  const path = '/v1/chat/completions';
  const response = await callApi({ path, method: 'POST', key, body, signal });
  const price = response.headers.get('x-price-yuan');
  tell({ status: response.status, ...(price === null ? {} : { yuan: Number(price) }) });
  if (!isEvents(response)) {
    const answer = (await response.json()) as Answer;
    take(answer);
    tell({ raw: JSON.stringify(answer, null, 2).slice(0, longestShown) });
    return;
  }
  let rest = '';
  for await (const piece of piecesOf(response)) {
    tell({ raw: (told.raw + piece).slice(-longestShown) });
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const yuan = line.startsWith(':') ? priceIn(line) : null;
      if (yuan !== null) tell({ yuan });
      if (line.startsWith('data: {')) take(JSON.parse(line.slice(6)) as Answer);
    }
  }
};
