import {
  bodyOf,
  listen,
  paint,
  paintGrid,
  reply,
  replyPicture,
  sizeOf,
  type FakeService,
} from './fake-service.ts';

/** What becomes of the next works. */
export type MjScenario =
  | 'normal'
  /** 22: it waits in the queue before it is worked on. */
  | 'queued'
  /** 23, 24 and an answer without meaning at the order. */
  | 'full'
  | 'banned'
  | 'refused'
  | 'html'
  | '429'
  /** It is taken, and then it fails. */
  | 'failure'
  | 'banned-later'
  | 'invalid-later'
  /** Somebody cancels it at the service. */
  | 'cancelled'
  /** The words must be confirmed first. */
  | 'modal'
  /** Percent that fall. */
  | 'backwards'
  /** It stays at 40 % for ever. */
  | 'endless'
  /** Its picture is none; it lies on somebody's own machine; it has none. */
  | 'wrong-type'
  | 'private-picture'
  | 'no-picture'
  /** Every second question for how it stands breaks. */
  | 'flaky';

interface MjTask {
  id: string;
  action: string;
  scenario: MjScenario;
  prompt: string;
  /** How often it was asked for. */
  looks: number;
  single: boolean;
  /** It stays in a window of the service until that is confirmed, a region with its mask. */
  window: 'region' | 'zoom' | null;
  confirmed: boolean;
  cancelled: boolean;
  describes: boolean;
}

export interface MockMidjourney extends FakeService {
  scenario: MjScenario;
  asked: { path: string; body: Record<string, unknown> }[];
  /** What was wrong with what came; empty when all was well. */
  faults: string[];
  strangers: number;
  cancels: number;
  tasks: Map<string, MjTask>;
  /** Forgets all works, as after a new start without a store. */
  forget(): void;
}

const jobId = '85a4b4c1-8835-46c5-a15c-aea34fad1862';
const button = (customId: string, label: string, emoji = '') => ({
  customId,
  emoji,
  label,
  type: 2,
  style: 2,
});
const gridButtons = [
  ...[1, 2, 3, 4].map((at) => button(`MJ::JOB::upsample::${at}::${jobId}`, `U${at}`)),
  button(`MJ::JOB::reroll::0::${jobId}::SOLO`, '', '🔄'),
  ...[1, 2, 3, 4].map((at) => button(`MJ::JOB::variation::${at}::${jobId}`, `V${at}`)),
];
const singleButtons = [
  button(`MJ::JOB::upsample_v6_2x_subtle::1::${jobId}::SOLO`, 'Upscale (Subtle)'),
  button(`MJ::JOB::high_variation::1::${jobId}::SOLO`, 'Vary (Strong)', '🪄'),
  button(`MJ::Outpaint::50::1::${jobId}::SOLO`, 'Zoom Out 2x', '🔍'),
  button(`MJ::Inpaint::1::${jobId}::SOLO`, 'Vary (Region)', '🖌️'),
  button(`MJ::CustomZoom::${jobId}`, 'Custom Zoom', '🔍'),
  button(`MJ::JOB::pan_left::1::${jobId}::SOLO`, '', '⬅️'),
  button(`MJ::BOOKMARK::${jobId}`, '', '❤️'),
];

/** A proxy to Midjourney in its plain dialect, or in the plus one. */
export const startMockMidjourney = async (
  options: { secret?: string; plus?: boolean; elsewhere?: string } = {},
): Promise<MockMidjourney> => {
  const plus = options.plus ?? true;
  const mock: Omit<MockMidjourney, 'url' | 'close'> = {
    scenario: 'normal',
    asked: [],
    faults: [],
    strangers: 0,
    cancels: 0,
    tasks: new Map(),
    forget: () => mock.tasks.clear(),
  };
  let made = 0;

  const start = (action: string, prompt: string, more: Partial<MjTask> = {}) => {
    made += 1;
    const id = `17${String(made).padStart(14, '0')}`;
    mock.tasks.set(id, {
      id,
      action,
      scenario: mock.scenario,
      prompt,
      looks: 0,
      single: false,
      window: null,
      confirmed: false,
      cancelled: false,
      describes: false,
      ...more,
    });
    return mock.scenario === 'queued'
      ? {
          code: 22,
          description: '排队中，前面还有1个任务',
          result: id,
          properties: { numberOfQueues: 1 },
        }
      : { code: 1, description: '提交成功', result: id };
  };

  const pictures = async (name: string, value: unknown, min: number, max: number) => {
    const list = Array.isArray(value) ? (value as unknown[]) : [];
    if (list.length < min || list.length > max)
      mock.faults.push(`${name}: ${list.length} pictures`);
    for (const each of list)
      if (!String(each).startsWith('data:image/') || !(await sizeOf(each)))
        mock.faults.push(`${name} has what is no picture`);
  };

  /** How a work stands at this look at it, as the service would write it. */
  const standing = (task: MjTask, base: string): Record<string, unknown> => {
    task.looks += 1;
    const { id, action, prompt, scenario, looks } = task;
    const head = { id, action, prompt, promptEn: prompt, properties: {}, failReason: null };
    const running = (progress: string) => ({
      ...head,
      status: 'IN_PROGRESS',
      progress,
      imageUrl: `${base}/attachments/${id}/preview.png`,
    });
    if (task.cancelled || (scenario === 'cancelled' && looks > 2))
      return { ...head, status: 'CANCEL', progress: '0%' };
    if ((scenario === 'modal' || task.window !== null) && !task.confirmed)
      return { ...head, status: 'MODAL', progress: '0%' };
    if (looks === 1)
      return { ...head, status: scenario === 'queued' ? 'NOT_START' : 'SUBMITTED', progress: '0%' };
    if (scenario === 'endless') return running('40%');
    if (scenario === 'backwards' && looks < 6) return running(looks % 2 === 0 ? '70%' : '10%');
    if (looks < 4) return running(`${looks * 20}%`);
    const reasons: Partial<Record<MjScenario, string>> = {
      failure: '[Internal error] Something went wrong',
      'banned-later': '[Banned prompt detected] the prompt is not allowed',
      'invalid-later': '[Invalid parameter] Invalid value provided for argument --chaos',
    };
    const failReason = reasons[scenario];
    if (failReason !== undefined) return { ...head, status: 'FAILURE', progress: '0%', failReason };
    const file = scenario === 'wrong-type' ? 'page.html' : task.single ? 'single.png' : 'grid.png';
    const imageUrl =
      scenario === 'no-picture'
        ? null
        : scenario === 'private-picture'
          ? `${options.elsewhere}/secret.png`
          : `${base}/attachments/${id}/${file}`;
    return {
      ...head,
      status: 'SUCCESS',
      progress: '100%',
      imageUrl,
      properties: task.describes
        ? {
            finalPrompt: '1️⃣ a red square --ar 1:1\n\n2️⃣ a square, red --ar 1:1',
            finalZhPrompt: '1️⃣ 红色方块 --ar 1:1\n\n2️⃣ 方块，红色 --ar 1:1',
          }
        : { finalPrompt: `${prompt} (en)` },
      ...(plus && !task.describes ? { buttons: task.single ? singleButtons : gridButtons } : {}),
    };
  };

  const submit = async (kind: string, body: Record<string, unknown>): Promise<unknown> => {
    const taskId = typeof body['taskId'] === 'string' ? body['taskId'] : '';
    switch (kind) {
      case 'imagine':
        if (typeof body['prompt'] !== 'string' || body['prompt'].trim() === '')
          mock.faults.push('imagine without words');
        await pictures('base64Array', body['base64Array'], 0, 5);
        return start('IMAGINE', String(body['prompt']));
      case 'blend':
        await pictures('base64Array', body['base64Array'], 2, 5);
        if (!['PORTRAIT', 'SQUARE', 'LANDSCAPE'].includes(String(body['dimensions'])))
          mock.faults.push(`dimensions = ${String(body['dimensions'])}`);
        return start('BLEND', '');
      case 'describe':
        await pictures('base64', [body['base64']], 1, 1);
        return start('DESCRIBE', '', { describes: true });
      case 'change': {
        const action = String(body['action']);
        const index = body['index'];
        if (!mock.tasks.has(taskId)) mock.faults.push('change of an unknown work');
        if (!['UPSCALE', 'VARIATION', 'REROLL'].includes(action)) mock.faults.push(action);
        if (action !== 'REROLL' && ![1, 2, 3, 4].includes(Number(index)))
          mock.faults.push(`index = ${String(index)}`);
        return start(action, '', { single: action === 'UPSCALE' });
      }
      case 'action': {
        if (!plus) return null;
        const customId = String(body['customId']);
        if (!mock.tasks.has(taskId)) mock.faults.push('action on an unknown work');
        if (![...gridButtons, ...singleButtons].some((each) => each.customId === customId))
          mock.faults.push(`customId = ${customId}`);
        const window = customId.startsWith('MJ::Inpaint::')
          ? 'region'
          : customId.startsWith('MJ::CustomZoom::')
            ? 'zoom'
            : null;
        const begun = start('ACTION', '', { single: customId.includes('::upsample'), window });
        return window ? { ...begun, code: 21, description: 'Waiting for window confirm' } : begun;
      }
      case 'modal': {
        const task = mock.tasks.get(taskId);
        const { prompt } = body;
        if (!task || typeof prompt !== 'string') mock.faults.push('modal of what?');
        else {
          if (task.window === 'region' && !(await sizeOf(body['maskBase64'])))
            mock.faults.push('a region without its mask');
          if (task.window === 'zoom' && !/ --zoom (?:1(?:\.\d+)?|2)$/.test(prompt))
            mock.faults.push(`zoom by ${prompt}`);
          if (task.window !== null && task.confirmed) mock.faults.push('confirmed twice');
          Object.assign(task, { confirmed: true, prompt });
        }
        return { code: 1, description: '提交成功', result: taskId };
      }
      case 'upload-discord-images': {
        if (!plus) return null;
        await pictures('base64Array', body['base64Array'], 1, 8);
        const list = (body['base64Array'] as unknown[]).map(
          (_, at) => `https://cdn.discordapp.com/attachments/1/2/${at}.png`,
        );
        return { code: 1, description: '提交成功', result: list };
      }
      default:
        return null;
    }
  };

  const service = await listen(async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const base = `http://${request.headers.host ?? ''}`;
    const raw = await bodyOf(request);
    const body = (raw.length > 0 ? JSON.parse(raw.toString('utf8')) : {}) as Record<
      string,
      unknown
    >;
    if (options.secret !== undefined && request.headers['mj-api-secret'] !== options.secret) {
      mock.strangers += 1;
      return reply(response, 401, { code: 401, description: '无权访问' });
    }
    if (request.method === 'POST') mock.asked.push({ path, body });
    const file = /^\/attachments\/\d+\/(\w+)\.(\w+)$/.exec(path);
    if (file) {
      if (file[1] === 'grid') return replyPicture(response, await paintGrid(96));
      if (file[2] === 'png') return replyPicture(response, await paint(96, 96, '#00ffff'));
      response.writeHead(200, { 'content-type': 'image/png' });
      response.end('<html>gone</html>');
      return undefined;
    }
    const submitted = /^\/mj\/submit\/([\w-]+)$/.exec(path);
    if (submitted && request.method === 'POST') {
      switch (mock.scenario) {
        case 'full':
          return reply(response, 200, { code: 23, description: '队列已满，请稍后尝试' });
        case 'banned':
          return reply(response, 200, {
            code: 24,
            description: '可能包含敏感词',
            properties: { promptEn: 'nude', bannedWord: 'nude' },
          });
        case 'refused':
          return reply(response, 200, { code: 9, description: '失败' });
        case '429':
          return reply(response, 429, { code: 429, description: 'slow down' });
        case 'html':
          response.writeHead(200, { 'content-type': 'text/html' });
          response.end('<html>busy</html>');
          return undefined;
        default:
      }
      const answer = await submit(submitted[1] ?? '', body);
      return answer === null
        ? reply(response, 404, { status: 404, error: 'Not Found' })
        : reply(response, 200, answer);
    }
    const asked = /^\/mj\/task\/([\w-]+)\/(fetch|cancel)$/.exec(path);
    const task = mock.tasks.get(asked?.[1] ?? '');
    if (asked?.[2] === 'cancel' && task) {
      mock.cancels += 1;
      task.cancelled = true;
      return reply(response, 200, { code: 1, description: '成功' });
    }
    if (asked?.[2] === 'fetch') {
      if (!task) {
        // An empty answer, as the plain dialect gives it.
        response.writeHead(200, { 'content-length': 0 });
        response.end();
        return undefined;
      }
      if (task.scenario === 'flaky' && task.looks % 2 === 0) {
        task.looks += 1;
        response.destroy();
        return undefined;
      }
      return reply(response, 200, standing(task, base));
    }
    return reply(response, 404, { status: 404, error: 'Not Found' });
  });
  return Object.assign(mock, service);
};
