import { byteSize, spanText } from '#src/platform/format.ts';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from '#src/ui/button.tsx';
import { dropFormDraft } from '#src/ui/form/form-draft.ts';
import { Icon } from '#src/ui/icon.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { lazyPart } from '#src/platform/lazy-chunk.ts';
import { useAct } from '#src/platform/use-act.ts';
import { useMedia } from '#src/platform/use-media.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';
import type { Message } from '#contract/chat.ts';
import type { ToolCall, ToolFile, ToolState } from '#contract/tool.ts';
import { ImageViewer, tileOf, warmViewer } from '#src/widgets/viewer/image-viewer.tsx';
import type { ViewedTile } from '#src/widgets/viewer/image-viewer-props.ts';
import { smallImage } from '#src/widgets/image/image-sources.ts';
import { authorize } from '#src/widgets/tool/authorize.ts';
import { useChatActs, type ToolAnswer } from './chat-context.ts';
import { DrawnFile } from './drawn-file.tsx';
import css from './tool-cards.module.css';
import { useRefusal } from './use-refusal.ts';

/** Few servers ask: the parts of a form come when one does. */
const QuestionForm = lazyPart(() => import('./question-form.tsx'));

const states: Record<ToolState, string> = {
  writing: '正在写参数…',
  asking: '等您同意',
  agreed: '马上开始…',
  running: '进行中…',
  done: '',
  failed: '没有成功',
  refused: '您没有同意',
  unknown: '结果不明',
  stopped: '已停止',
};
const busy: ReadonlySet<ToolState> = new Set(['writing', 'agreed', 'running']);
const bad: ReadonlySet<ToolState> = new Set(['failed', 'unknown']);

/** The names of tools of servers, as models call them. */
const isForeign = /^m\d+_/;

const names: Readonly<Record<string, string>> = {
  question: '问题',
  query: '要找的词',
  url: '网址',
  code: '代码',
  prompt: '画面',
  count: '张数',
  shape: '形状',
  name: '名称',
  format: '格式',
  content: '内容',
  text: '文字',
  image: '图片',
  way: '做法',
  language: '语言',
  files: '文件',
  file: '文件',
  to: '译成',
};

/** Arguments as lines of names and values; what is no whole JSON yet stays as it is. */
const readArguments = (given: string): { name: string; value: string }[] | null => {
  try {
    const read: unknown = JSON.parse(given);
    if (typeof read !== 'object' || read === null || Array.isArray(read)) return null;
    return Object.entries(read).map(([name, value]) => ({
      name: names[name] ?? name,
      value: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
    }));
  } catch {
    return null;
  }
};

/** The first argument in a few words, beside the tool's name. */
const gist = (given: string): string =>
  (readArguments(given)?.[0]?.value ?? '').replaceAll(/\s+/g, ' ').slice(0, 200);

const Arguments = ({ given }: { given: string }) => {
  const read = readArguments(given);
  if (!read) return <pre>{given}</pre>;
  return (
    <dl>
      {read.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <pre>{value}</pre>
          </dd>
        </div>
      ))}
    </dl>
  );
};

/** How a call stands, in words. */
const stateText = ({ state, sign_in: server, question }: ToolCall): string => {
  if (state !== 'asking') return states[state];
  if (question) return '等您回答';
  return server === undefined ? states.asking : '等您授权';
};

const titleOf = ({ sign_in: server, question, label }: ToolCall): string => {
  if (question) return `${question.from} 问您`;
  return `${server === undefined ? '可以吗？' : '要先授权：'}${label}`;
};

const signInText = '要先到它那里登录、授权。回来以后这一步接着做，不用再问一次。';

/**
 * The question of a call that waits: the reply goes on once it is answered, or once its person has
 * signed in where it asks for that. On a phone it comes as a sheet, the first of several; put away,
 * it stands in the card.
 */
const Consent = ({ call, message }: { call: ToolCall; message: Message }) => {
  const { answerTool, uuid } = useChatActs();
  const refuse = useRefusal({ uuid });
  const { busy: leaving, run } = useAct();
  const server = call.sign_in;
  const wide = useMedia(wideEnoughForMenu);
  const [away, setAway] = useState(false);
  const first = message.tools?.find(({ state }) => state === 'asking')?.id === call.id;
  const [answered, setAnswered] = useState<ToolAnswer | null>(null);
  const draft = `tool:${message.id}:${call.id}`;
  const answer = (given: ToolAnswer) => {
    setAnswered(given);
    if (call.question) dropFormDraft(draft);
    void answerTool(message, call.id, given)
      .catch(refuse)
      .finally(() => setAnswered(null));
  };
  const button = (given: ToolAnswer, label: string, kind: 'primary' | 'plain' | 'ghost') => (
    <Button
      kind={kind}
      busy={answered === given}
      disabled={answered !== null || leaving}
      onClick={() => answer(given)}
    >
      {label}
    </Button>
  );
  const group = { role: 'group', 'aria-label': `${call.label}：${stateText(call)}` };
  const sheet = !wide && !away && first;
  const question = call.question ? (
    <div className={css.consent} {...group}>
      <QuestionForm
        key={JSON.stringify(call.question)}
        question={call.question}
        draft={draft}
        titled={!sheet}
        onAnswer={(answers) => answerTool(message, call.id, 'once', answers)}
        declining={button('no', '不回答', 'ghost')}
      />
    </div>
  ) : (
    <div className={css.consent} {...group}>
      <p>{server === undefined ? call.ask : signInText}</p>
      <div className={css.answers}>
        {server === undefined ? (
          <>
            {button('once', '这一次', 'primary')}
            {button('session', '这个会话里总是', 'plain')}
          </>
        ) : (
          <>
            <Button
              kind="primary"
              busy={leaving}
              disabled={answered !== null}
              onClick={() => void run(() => authorize(server))}
            >
              去授权
            </Button>
            {button('once', '再试', 'plain')}
          </>
        )}
        {button('no', '不要', 'ghost')}
      </div>
    </div>
  );
  if (!sheet) return question;
  return (
    <Sheet open title={titleOf(call)} onClose={() => setAway(true)}>
      {question}
    </Sheet>
  );
};

/** Images that a call made; one opens in the viewer. */
const Drawn = ({ files }: { files: NonNullable<ToolCall['files']> }) => {
  const [at, setAt] = useState<number | null>(null);
  const [from, setFrom] = useState<ViewedTile | null>(null);
  const images = files.flatMap(({ url, image }) => (image ? [{ ...image, url }] : []));
  return (
    <div className={css.drawn}>
      {images.map(({ id, url, width, height }, place) => (
        <button
          key={id}
          type="button"
          aria-label={`看第 ${place + 1} 张图片`}
          style={{ aspectRatio: `${width || 1} / ${height || 1}` }}
          onPointerEnter={warmViewer}
          onClick={(event) => {
            setFrom(tileOf(event.currentTarget));
            setAt(place);
          }}
        >
          <img src={smallImage(url, 320)} alt="" loading="lazy" />
        </button>
      ))}
      {at !== null && (
        <ImageViewer
          images={images}
          at={at}
          from={from}
          onTurn={setAt}
          onClose={() => setAt(null)}
        />
      )}
    </div>
  );
};

/** A film that a call made. */
const Film = ({ file }: { file: ToolFile & { film: NonNullable<ToolFile['film']> } }) => (
  <video
    className={css.film}
    src={file.url}
    poster={file.film.poster}
    style={{ aspectRatio: `${file.film.width || 1} / ${file.film.height || 1}` }}
    controls
    loop
    playsInline
    preload="none"
    aria-label={file.name}
  />
);

/** A sound that a call made: its address gives a file, so it is heard from memory. */
const Sound = ({ file }: { file: ToolFile }) => {
  const [url, setUrl] = useState('');
  const [state, setState] = useState<'still' | 'busy' | 'failed'>('still');
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  if (url !== '')
    return <audio className={css.sound} src={url} controls autoPlay aria-label={file.name} />;
  const hear = async () => {
    setState('busy');
    try {
      const answer = await fetch(file.url);
      if (!answer.ok) throw new Error(String(answer.status));
      setUrl(
        URL.createObjectURL(new Blob([await answer.arrayBuffer()], { type: file.sound ?? '' })),
      );
    } catch {
      setState('failed');
    }
  };
  return (
    <div className={css.sound}>
      <Button kind="plain" busy={state === 'busy'} onClick={() => void hear()}>
        <Icon name="sound" size={16} />听
      </Button>
      {state === 'failed' && <span role="alert">声音取不到，请再试一次</span>}
    </div>
  );
};

/** A call of a tool server that came to nothing, until its person does something about the server. */
const Mend = ({ result }: { result: string }) => (
  <p className={css.mend}>
    {result.slice(0, 200)} <Link to="/tools">去工具服务</Link>
  </p>
);

const Card = ({ call, message }: { call: ToolCall; message: Message }) => {
  const [open, setOpen] = useState(false);
  const { owner, me } = useChatActs();
  const { name, state, label, ms, result, files = [] } = call;
  const plain = files.filter(({ image }) => !image);
  // Whoever asked is the one who is asked.
  const asks = state === 'asking' && message.state === 'waiting' && owner && message.user_id === me;
  const mends = state === 'failed' && isForeign.test(name) && result.includes('“工具服务”');
  const told = state === 'done' ? spanText(ms) : stateText(call);
  return (
    <li
      data-state={state}
      data-busy={busy.has(state) || undefined}
      data-bad={bad.has(state) || undefined}
    >
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className={css.mark}>
          <Icon
            name={state === 'done' ? 'check' : bad.has(state) ? 'warning' : 'settings'}
            size={14}
          />
        </span>
        <b>{label}</b>
        <span className={css.gist}>{gist(call.arguments)}</span>
        <span className={css.told}>{told}</span>
        <Icon name={open ? 'up' : 'down'} size={14} />
      </button>
      {asks && <Consent call={call} message={message} />}
      {mends && !open && <Mend result={result} />}
      {open && (
        <div className={css.inside}>
          {call.arguments !== '' && <Arguments given={call.arguments} />}
          {call.ask !== '' && !asks && <p className={css.asked}>问过您：{call.ask}</p>}
          {result !== '' && (
            <>
              <h4>结果</h4>
              <pre>{result}</pre>
              {mends && <Link to="/tools">去工具服务</Link>}
              {call.condensed && (
                <p className={css.asked}>这个结果较长，快放不下了：模型后面读的是它的摘要。</p>
              )}
            </>
          )}
          {call.arguments === '' && result === '' && <p>内容只有提问的人能看。</p>}
        </div>
      )}
      {files.some(({ image }) => image) && <Drawn files={files} />}
      {files.map((file) =>
        file.film ? <Film key={file.url} file={{ ...file, film: file.film }} /> : null,
      )}
      {files.map((file) => (file.shown ? <DrawnFile key={file.url} file={file} /> : null))}
      {files.map((file) => (file.sound ? <Sound key={file.url} file={file} /> : null))}
      {plain.map((file) => (
        <a key={file.url} className={css.file} href={file.url} download={file.name}>
          <Icon name="download" size={16} />
          <span>{file.name}</span>
          {file.size > 0 && <small>{byteSize(file.size)}</small>}
        </a>
      ))}
    </li>
  );
};

/** What a reply called, folded: each with its state and time, its arguments and its result inside. */
const ToolCards = ({ calls, message }: { calls: readonly ToolCall[]; message: Message }) => {
  const open = message.state === 'streaming' || message.state === 'waiting';
  const spent = open ? Math.max(...calls.map((call) => call.spent ?? 0)) : 0;
  return (
    <>
      <ul className={css.cards} aria-label="用到的工具">
        {calls.map((call) => (
          <Card key={call.id} call={call} message={message} />
        ))}
      </ul>
      {spent > 0 && <p className={css.spent}>到这里用了 {spent} tokens</p>}
    </>
  );
};

export default ToolCards;
