import { useChatModels } from '#src/platform/queries.ts';
import { sayOnce } from '#src/platform/say-once.ts';
import { copyText } from '#src/platform/copy.ts';
import { Button } from '#src/ui/button.tsx';
import { Fragment, useEffect, useRef, useState } from 'react';
import css from './api.module.css';
import { setFreshKey, useFreshKey } from './fresh-key.ts';
import type { OpenCall, OpenField } from './open-document.ts';

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

/** Answers longer than this are cut, characters: an image as text helps nobody. */
const longest = 20_000;

const now = (): number => performance.now();

/** What a call may be told, and what becomes of it. */
const FieldTable = ({ call: { method, fields, refused } }: { call: OpenCall }) => {
  const withFates = fields.some(({ fate }) => fate !== '');
  return (
    <>
      {fields.length > 0 && (
        <table className={css.fields}>
          <thead>
            <tr>
              <th scope="col">字段</th>
              <th scope="col">类型</th>
              {withFates && <th scope="col">怎样处理</th>}
            </tr>
          </thead>
          <tbody>
            {fields.map(({ name, kind, required, fate }) => (
              <tr key={name}>
                <td>
                  <code>
                    {name.split('_').map((word, at) => (
                      <Fragment key={at}>
                        {at > 0 && '_'}
                        {at > 0 && <wbr />}
                        {word}
                      </Fragment>
                    ))}
                  </code>
                </td>
                <td>
                  {kind || '任意'}
                  {required && '，必填'}
                </td>
                {withFates && <td>{fate}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {refused.length > 0 && (
        <details className={css.refused}>
          <summary>会拒绝的字段和原因</summary>
          <ul>
            {refused.map(({ name, note }) => (
              <li key={name}>
                <code>{name}</code> {note}
              </li>
            ))}
          </ul>
        </details>
      )}
      {method === 'POST' && <p className={css.hint}>不认识的字段会指名拒绝，不会悄悄丢掉。</p>}
    </>
  );
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
  const [failed, setFailed] = useState('');
  const [busy, setBusy] = useState(false);
  const files = useRef(new Map<string, File>());
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const hasBody = call.method === 'POST';
  const text = body ?? bodyFor(call, model);
  const beside = call.fields.filter(({ where }) => where === 'query' || where === 'path');
  const given = (name: string) => query[name] ?? (name === 'model' ? model : '');

  const send = async () => {
    setFailed('');
    setShown(null);
    const stop = new AbortController();
    running.current = stop;
    let path = call.path;
    const search = new URLSearchParams();
    for (const { name, where } of beside)
      if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(given(name)));
      else if (given(name) !== '') search.set(name, given(name));
    const headers: Record<string, string> = { authorization: `Bearer ${key}` };
    let sent: BodyInit | undefined;
    if (hasBody) {
      let read: Record<string, unknown>;
      try {
        read = JSON.parse(text) as Record<string, unknown>;
      } catch {
        setFailed('请求内容不是有效的 JSON');
        return;
      }
      if (call.form) {
        const form = new FormData();
        for (const [name, value] of Object.entries(read)) form.set(name, String(value));
        for (const [name, file] of files.current) form.set(name, file);
        sent = form;
      } else {
        headers['content-type'] = 'application/json';
        sent = JSON.stringify(read);
      }
    }
    setBusy(true);
    const begun = now();
    try {
      const response = await fetch(path + (search.size > 0 ? `?${search.toString()}` : ''), {
        method: call.method,
        headers,
        ...(sent === undefined ? {} : { body: sent }),
        signal: stop.signal,
      });
      const head = {
        status: `${response.status} ${response.statusText}`,
        took: Math.round(now() - begun),
        audio: '',
      };
      sayOnce(`回答 ${head.status}`);
      const type = response.headers.get('content-type') ?? '';
      if (type.startsWith('audio/')) {
        const audio = URL.createObjectURL(await response.blob());
        setShown({ ...head, text: type, audio });
      } else if (type.startsWith('text/event-stream') && response.body) {
        let come = '';
        const decoder = new TextDecoder();
        const reader = response.body.getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          come += decoder.decode(value, { stream: true });
          setShown({ ...head, text: come.slice(-longest) });
        }
      } else {
        const raw = await response.text();
        let pretty = raw;
        try {
          const answer = JSON.parse(raw) as object;
          remember(answer);
          pretty = JSON.stringify(answer, null, 2);
        } catch {
          // It is shown as it came.
        }
        const cut = pretty.length > longest ? '\n……（后面的省略）' : '';
        setShown({ ...head, text: pretty.slice(0, longest) + cut });
      }
    } catch (error) {
      if (!stop.signal.aborted) setFailed((error as Error).message || '没有连上服务器');
    } finally {
      setBusy(false);
    }
  };

  return (
    <div className={css.console}>
      <p>{call.summary}</p>
      <FieldTable call={call} />
      <h3>试一试</h3>
      <label className={css.line}>
        <span>API-KEY</span>
        <input
          type="text"
          autoComplete="off"
          spellCheck={false}
          placeholder="粘贴完整的 API-KEY，不会保存"
          value={key}
          onChange={(event) => setFreshKey(event.target.value)}
        />
      </label>
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
      <div className={css.acts}>
        <Button
          kind="primary"
          disabled={key === ''}
          onClick={() => (busy ? running.current?.abort() : void send())}
        >
          {busy ? '停止' : '发送'}
        </Button>
        {key === '' && <span className={css.hint}>先填 API-KEY</span>}
      </div>
      {failed !== '' && (
        <p className={css.fault} role="alert">
          {failed}
        </p>
      )}
      {shown && (
        <section className={css.answer} aria-label="回答">
          <header>
            <strong>{shown.status}</strong>
            <span>{shown.took} ms</span>
            <Button size="small" kind="ghost" onClick={() => void copyText(shown.text)}>
              复制
            </Button>
          </header>
          {shown.audio !== '' && <audio controls src={shown.audio} />}
          <pre>{shown.text}</pre>
        </section>
      )}
    </div>
  );
};
