import { Tag } from '#src/ui/chip.tsx';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { byteSize } from '#src/platform/format.ts';
import { prefsStore } from '#src/platform/prefs.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { ProgressBar } from '#src/ui/progress-bar.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import type { Out } from '#contract/calls.ts';
import type { LocalModel } from '#contract/local-model.ts';
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react';
import { bestModel } from './best-model.ts';
import css from './local-shelf.module.css';

/** While one is on its way the shelf is read so often, ms. */
const watchMs = 1000;

const busy = ({ state }: LocalModel) => state === 'fetching' || state === 'checking';

const isMoving = (shelf: Out<'localModels'> | undefined) =>
  shelf?.list.some(busy) === true ||
  shelf?.ollama.some(({ pulls }) => pulls.some(({ state }) => state === 'pulling')) === true;

/** Where one that is here is put to use; chat models are asked at home. */
const uses: Readonly<Record<Exclude<LocalModel['kind'], 'chat'>, ReactNode>> = {
  embedding: <ButtonLink to="/train">去知识库</ButtonLink>,
  rerank: <ButtonLink to="/train">去知识库</ButtonLink>,
  hear: (
    <ButtonLink to="/" search={{ new: 1 }}>
      说一句
    </ButtonLink>
  ),
  speak: (
    <ButtonLink to="/" search={{ new: 1 }}>
      听一句
    </ButtonLink>
  ),
};

/** What the models of each kind do, in the order of the shelf. */
const shelves: readonly { kind: LocalModel['kind']; name: string; what: string }[] = [
  { kind: 'chat', name: '聊天', what: '回答问题，写文章' },
  {
    kind: 'embedding',
    name: '向量',
    what: '知识库按意思找资料，不只按字。下载后，已有的知识库会自己重读一遍，不收费；删去后仍按文字找',
  },
  {
    kind: 'rerank',
    name: '重排',
    what: '把知识库找到的段落再排一次，更准。机器慢、来不及时按原来的次序',
  },
  { kind: 'hear', name: '听写', what: '把麦克风和录音里的话写成文字' },
  { kind: 'speak', name: '朗读', what: '把回答念出来' },
];

const AskIt = ({ model, label }: { model: string; label?: string }) => (
  <ButtonLink
    kind="primary"
    to="/"
    search={{ new: 1 }}
    aria-label={label && `问一句 ${label}`}
    onClick={() => prefsStore.set({ model })}
  >
    问一句
  </ButtonLink>
);

const Row = ({
  model,
  memory,
  best,
  reason,
  onChange,
}: {
  model: LocalModel;
  memory: number;
  /** It is the one to begin with here. */
  best: boolean;
  reason: string;
  onChange: () => void;
}) => {
  const act = useAct();
  const { key, kind, label, state, bytes, total, error } = model;
  const use = kind === 'chat' ? <AskIt model={key} /> : uses[kind];
  const run = (work: () => Promise<unknown>, said?: string) =>
    void act.run(work, said).then(onChange);
  const fetchIt = (
    <Button
      kind={best || kind !== 'chat' ? 'primary' : 'plain'}
      busy={act.busy}
      disabled={reason !== ''}
      onClick={() => run(() => api.fetchLocalModel({ key }))}
    >
      {state === 'waiting' || bytes > 0 ? '接着下载' : state === 'failed' ? '再下载一次' : '下载'}
    </Button>
  );
  const remove = async () => {
    const text = `从这台机器删去“${label}”的文件（${byteSize(model.size)}）？`;
    if (!(await confirmDialog({ text, ok: '删除', danger: true }))) return;
    run(() => api.removeLocalModel({ key }), '删除成功');
  };
  return (
    <li className={css.row}>
      <div className={css.words}>
        <strong>
          {label}
          {best && state !== 'ready' && <Tag>推荐</Tag>}
          {state === 'ready' && <Tag>可以用了</Tag>}
          {state === 'ready' && !model.checked && <Tag>未校验</Tag>}
        </strong>
        <span>
          {[
            byteSize(model.size),
            model.memory > 0 && `运行时占内存约 ${byteSize(model.memory)}`,
            model.licence,
            model.languages,
          ]
            .filter(Boolean)
            .join(' · ')}
        </span>
        {model.memory > memory && (
          <span className={css.warning}>这台机器的内存不够，会很慢或者停下</span>
        )}
        {busy(model) && (
          <>
            <ProgressBar part={total > 0 ? bytes / total : 0} label={`下载 ${label}`} />
            <span>
              {state === 'checking' ? '正在核对…' : `${byteSize(bytes)} / ${byteSize(total)}`}
            </span>
          </>
        )}
        {state === 'waiting' && <span>下好了 {byteSize(bytes)}，可以接着下</span>}
        {error !== '' && <span className={css.warning}>{error}</span>}
        {state === 'failed' && (
          <span>这台机器没有受影响。再试还是不行，先用别的一款或换一个镜像</span>
        )}
      </div>
      <div className={css.acts}>
        {state === 'ready' ? (
          <>
            {use}
            <Button onClick={() => void remove()}>删除</Button>
          </>
        ) : busy(model) ? (
          <Button busy={act.busy} onClick={() => run(() => api.stopLocalModel({ key }))}>
            停下
          </Button>
        ) : (
          fetchIt
        )}
      </div>
    </li>
  );
};

/** What runs on this machine already: it needs no download. */
const FoundShelf = ({ found }: { found: Out<'localModels'>['found'] }) => (
  <section className={css.kind} aria-label="正在运行的">
    <h2>正在运行的</h2>
    {found.length === 0 && (
      <p className={css.hint}>
        这台机器上没有找到在运行的 Ollama、LM Studio、llama.cpp 或
        vLLM。打开其中一个并放进一个模型，一分钟内会出现在这里。
      </p>
    )}
    {found.map(({ label, models }) => (
      <Fragment key={label}>
        <p className={css.hint}>{label}：</p>
        <ul className={css.list}>
          {models.map((model) => (
            <li key={model.name} className={css.row}>
              <div className={css.words}>
                <strong>{model.label}</strong>
              </div>
              <AskIt model={model.name} label={model.label} />
            </li>
          ))}
        </ul>
      </Fragment>
    ))}
  </section>
);

type Ollama = Out<'localModels'>['ollama'][number];

/** Names of its library that do well in Chinese on an ordinary machine. */
const ollamaNames = ['qwen3:0.6b', 'qwen3:1.7b', 'qwen3:4b', 'qwen3:8b', 'bge-m3'];

const OllamaShelf = ({ place, onChange }: { place: Ollama; onChange: () => void }) => {
  const { base_url, models, pulls } = place;
  const act = useAct();
  const [name, setName] = useState('');
  const model = name.trim();
  const pull = (wanted: string) =>
    void act.run(() => api.pullOllama({ base_url, model: wanted })).then(onChange);
  const stop = (which: string) =>
    void act.run(() => api.stopOllama({ base_url, model: which })).then(onChange);
  return (
    <section className={css.ollama} aria-label="Ollama">
      <h2>Ollama</h2>
      <p className={css.hint}>
        在 {new URL(base_url).host} 运行着，
        {models.length > 0 ? `有 ${models.join('、')}。` : '还没有模型。'}
        写下它的库里的名字，让它拉来：
      </p>
      <form
        className={css.acts}
        onSubmit={(event) => {
          event.preventDefault();
          if (model === '') return;
          pull(model);
          setName('');
        }}
      >
        <input
          className="text-input"
          list="ollama-names"
          aria-label="Ollama 的模型名"
          placeholder="qwen3:4b"
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <datalist id="ollama-names">
          {ollamaNames.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <Button kind="primary" type="submit" busy={act.busy} disabled={model === ''}>
          拉取
        </Button>
      </form>
      {pulls.length > 0 && (
        <ul className={css.list}>
          {pulls.map((each) => (
            <li key={each.model} className={css.row}>
              <div className={css.words}>
                <strong>
                  {each.model}
                  {each.state === 'done' && <Tag>可以用了</Tag>}
                </strong>
                {each.state === 'pulling' && (
                  <>
                    <ProgressBar
                      part={each.total > 0 ? each.bytes / each.total : 0}
                      label={`拉取 ${each.model}`}
                    />
                    <span>
                      {each.total > 0
                        ? `${byteSize(each.bytes)} / ${byteSize(each.total)}`
                        : '正在准备…'}
                    </span>
                  </>
                )}
                {each.error !== '' && <span className={css.warning}>{each.error}</span>}
              </div>
              <div className={css.acts}>
                {each.state === 'failed' && (
                  <Button kind="primary" busy={act.busy} onClick={() => pull(each.model)}>
                    接着拉
                  </Button>
                )}
                <Button busy={act.busy} onClick={() => stop(each.model)}>
                  {each.state === 'pulling' ? '停下' : '不再列出'}
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};

const Mirrors = ({ list, onChange }: { list: readonly string[]; onChange: () => void }) => {
  const act = useAct();
  const [text, setText] = useState(list.join('\n'));
  const save = (mirrors: string[]) =>
    void act
      .run(
        async () => setText((await api.saveLocalMirrors({ mirrors })).mirrors.join('\n')),
        '已保存',
      )
      .then(onChange);
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (
    <details className={css.mirrors}>
      <summary>从哪里下载</summary>
      <label>
        <span>
          一行一个地址，按次序试；{'{repository}'} 与 {'{file}'} 会换成模型的
        </span>
        <textarea
          className="input"
          rows={4}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className={css.acts}>
        <Button kind="primary" busy={act.busy} onClick={() => save(lines)}>
          保存
        </Button>
        <Button busy={act.busy} onClick={() => save([])}>
          恢复原样
        </Button>
      </div>
    </details>
  );
};

/** The models of these kinds that can be brought here. */
const Shelves = ({
  shelf: { list, reason, speech_reason: speechReason, machine },
  kinds,
  onChange,
}: {
  shelf: Out<'localModels'>;
  kinds: typeof shelves;
  onChange: () => void;
}) => {
  const best = bestModel(list, machine);
  return kinds.map(({ kind, name, what }) => {
    const models = list
      .filter((model) => model.kind === kind)
      .sort((a, b) => Number(b.key === best) - Number(a.key === best));
    const missing = kind === 'hear' || kind === 'speak' ? speechReason : reason;
    return (
      models.length > 0 && (
        <section key={kind} className={css.kind} aria-label={name}>
          <h2>{name}</h2>
          <p className={css.hint}>{what}。</p>
          {missing !== '' && <p className={css.warning}>{missing}</p>}
          <ul className={css.list}>
            {models.map((model) => (
              <Row
                key={model.key}
                model={model}
                memory={machine.memory}
                best={model.key === best}
                reason={missing}
                onChange={onChange}
              />
            ))}
          </ul>
        </section>
      )
    );
  });
};

/** Models that run on this very machine: brought here by one press. */
export const LocalShelf = ({
  first = false,
  onAnswers,
}: {
  /** One looks for what answers: the rest waits behind a press. */
  first?: boolean;
  /** What can answer has changed while this was looked at. */
  onAnswers?: () => void;
}) => {
  const shelf = useCall(
    'localModels',
    {},
    { refetchInterval: (query) => (isMoving(query.state.data) ? watchMs : false) },
  );
  const answers = shelf.data?.list.filter(
    ({ kind, state }) => kind === 'chat' && state === 'ready',
  ).length;
  const told = useRef(answers);
  useEffect(() => {
    const changed = told.current !== undefined && answers !== told.current;
    told.current = answers;
    if (changed) onAnswers?.();
  }, [answers, onAnswers]);
  if (shelf.isError) return <QueryFailed query={shelf} />;
  if (!shelf.data) return <Skeleton lines={6} />;
  const { machine, mirrors, folder, found, ollama } = shelf.data;
  const again = () => void shelf.refetch();
  return (
    <section className={css.shelf}>
      <p>
        下载之后在这台机器上运行：不用密钥，不花钱，话不出门。这台机器有 {machine.processors}{' '}
        个处理器、
        {byteSize(machine.memory)} 内存，磁盘剩 {byteSize(machine.disk_free)}。
      </p>
      {found.length > 0 && <FoundShelf found={found} />}
      <Shelves shelf={shelf.data} kinds={first ? shelves.slice(0, 1) : shelves} onChange={again} />
      {ollama.map((place) => (
        <OllamaShelf key={place.base_url} place={place} onChange={again} />
      ))}
      {found.length === 0 && <FoundShelf found={found} />}
      {first && (
        <details className={css.mirrors}>
          <summary>给知识库、听写和朗读的</summary>
          <div className={css.shelf}>
            <Shelves shelf={shelf.data} kinds={shelves.slice(1)} onChange={again} />
          </div>
        </details>
      )}
      <Mirrors list={mirrors} onChange={again} />
      <p className={css.hint}>
        标着“未校验”的，没有人说过它的校验值（sha256），只核对了大小。没有网络时，把 .gguf 文件放进
        <code>{folder}</code>；听写和朗读的，解开成名叫 <code>sense-voice-small</code>、
        <code>kokoro-zh</code> 的文件夹放进去。再打开这一页。
      </p>
    </section>
  );
};
