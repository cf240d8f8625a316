import { useChatModels } from '#src/platform/queries.ts';
import { useRef, useState } from 'react';
import css from './api.module.css';
import { type ApiRequest, callApi, isEvents, longestShown, piecesOf } from './call-api.ts';
import { FieldTable } from './call-fields.tsx';
import { AnswerBox, SendRow } from './call-parts.tsx';
import { useFreshKey } from './fresh-key.ts';
import { KeyChoice } from './key-choice.tsx';
import type { OpenCall, OpenField } from './open-document.ts';
import { useApiCall } from './use-api-call.ts';

/** Of the answers so far: the calls after them ask for it. */
const told = { request_id: '', image_url: '' };

const remember = (answer: { request_id?: unknown; images?: unknown }): void => {
  if (typeof answer.request_id === 'string') told.request_id = answer.request_id;
  const [image] = Array.isArray(answer.images) ? (answer.images as { url?: unknown }[]) : [];
  if (typeof image?.url === 'string') told.image_url = image.url;
};

/** Models of the calls that do not talk. */
const otherModels: Readonly<Record<string, string>> = {
  '/v1/embeddings': 'builtin-embedding',
  '/v1/audio/speech': 'builtin-voice',
  '/v1/audio/transcriptions': 'whisper-1',
};

/** What a field is filled with at first, by its name. */
const usual = (model: string): Readonly<Record<string, unknown>> => ({
  model,
  messages: [{ role: 'user', content: '你好，用一句话介绍自己' }],
  stream: false,
  prompt: '月光下的石桥，水墨画',
  n: 1,
  text: 'The moon is bright tonight.',
  to: 'zh',
  input: '你好',
  scale: 2,
  bg_color: '#ffffff',
  image_url: told.image_url,
});

const shownAlways: readonly string[] = ['stream', 'to', 'scale', 'image_url', 'bg_color'];

/** Fields that show how to call it; the rest stands in the list above. */
const worth = (call: OpenCall): OpenField[] =>
  call.fields.filter(
    ({ name, where, required }) => where === 'body' && (required || shownAlways.includes(name)),
  );

const bodyFor = (call: OpenCall, model: string): string => {
  const filled = usual(otherModels[call.path] ?? model);
  const body: Record<string, unknown> = {};
  for (const { name } of worth(call)) body[name] = filled[name] ?? '';
  return JSON.stringify(body, null, 2);
};

interface Shown {
  status: string;
  /** Milliseconds until the head of the answer. */
  took: number;
  text: string;
  audio: string;
}

const now = (): number => performance.now();

/** An answer to be read; what the calls after it ask for is kept. */
const prettyOf = (raw: string): string => {
  let pretty = raw;
  try {
    const answer = JSON.parse(raw) as object;
    remember(answer);
    pretty = JSON.stringify(answer, null, 2);
  } catch {
    // It is shown as it came.
  }
  return pretty.length > longestShown
    ? `${pretty.slice(0, longestShown)}\n……（后面的省略）`
    : pretty;
};

const addressOf = (call: OpenCall, given: (name: string) => string): string => {
  let { path } = call;
  const search = new URLSearchParams();
  for (const { name, where } of call.fields)
    if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(given(name)));
    else if (where === 'query' && given(name) !== '') search.set(name, given(name));
  return path + (search.size > 0 ? `?${search.toString()}` : '');
};

const formOf = (fields: Record<string, unknown>, files: ReadonlyMap<string, File>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  for (const [name, file] of files) form.set(name, file);
  return form;
};

/** The fields of a call, and a form that sends it with one's own key and shows what comes. */
export const Console = ({ call }: { call: OpenCall }) => {
  const models = useChatModels().data ?? [];
  const model = models[0]?.name ?? 'builtin-assistant';
  const key = useFreshKey();
  const [body, setBody] = useState<string>();
  const [query, setQuery] = useState<Record<string, string>>(() => ({
    request_id: told.request_id,
  }));
  const [shown, setShown] = useState<Shown | null>(null);
  const sending = useApiCall();
  const files = useRef(new Map<string, File>());
  const hasBody = call.method === 'POST';
  const text = body ?? bodyFor(call, model);
  const beside = call.fields.filter(({ where }) => where === 'query' || where === 'path');
  const given = (name: string) => query[name] ?? (name === 'model' ? model : '');

  const show = async (request: ApiRequest): Promise<void> => {
    const begun = now();
    const response = await callApi(request);
    const head = {
      status: `${response.status} ${response.statusText}`,
      took: Math.round(now() - begun),
      audio: '',
    };
    const type = response.headers.get('content-type') ?? '';
    if (type.startsWith('audio/')) {
      setShown({ ...head, text: type, audio: URL.createObjectURL(await response.blob()) });
    } else if (isEvents(response)) {
      let come = '';
      for await (const piece of piecesOf(response)) {
        come = (come + piece).slice(-longestShown);
        setShown({ ...head, text: come });
      }
    } else setShown({ ...head, text: prettyOf(await response.text()) });
  };

  const send = (): void => {
    setShown(null);
    let read: Record<string, unknown> = {};
    try {
      if (hasBody) read = JSON.parse(text) as Record<string, unknown>;
    } catch {
      sending.setFailed('请求内容不是有效的 JSON');
      return;
    }
    const path = addressOf(call, given);
    const sent = !hasBody ? undefined : call.form ? formOf(read, files.current) : read;
    const { method } = call;
    void sending.run((signal) => show({ path, method, key, body: sent, signal }));
  };

  return (
    <div className={css.console}>
      <p>{call.summary}</p>
      <FieldTable call={call} />
      <h3>试一试</h3>
      <div className={css.filled}>
        <KeyChoice />
      </div>
      {beside.map(({ name }) => (
        <label key={name} className={css.line}>
          <span>{name}</span>
          <input
            type="text"
            value={given(name)}
            onChange={(event) => setQuery({ ...query, [name]: event.target.value })}
          />
        </label>
      ))}
      {call.form &&
        call.fields
          .filter(({ where, name }) => where === 'file' && !name.endsWith('[]'))
          .map(({ name }) => (
            <label key={name} className={css.line}>
              <span>{name}</span>
              <input
                type="file"
                onChange={(event) => {
                  const [file] = event.target.files ?? [];
                  if (file) files.current.set(name, file);
                  else files.current.delete(name);
                }}
              />
            </label>
          ))}
      {hasBody && (
        <label className={css.line}>
          <span>{call.form ? '其余字段（JSON）' : '请求内容（JSON）'}</span>
          <textarea
            className={css.json}
            rows={Math.min(14, text.split('\n').length + 1)}
            spellCheck={false}
            value={text}
            onChange={(event) => setBody(event.target.value)}
          />
        </label>
      )}
      <SendRow call={sending} onSend={send} />
      {shown && (
        <AnswerBox status={shown.status} took={`${shown.took} ms`} text={shown.text}>
          {shown.audio !== '' && <audio controls src={shown.audio} />}
          <pre>{shown.text}</pre>
        </AnswerBox>
      )}
    </div>
  );
};
