import { maskName, spanText } from '#src/platform/format.ts';
import { copyText } from '#src/platform/copy.ts';
import { Citing } from '#src/widgets/markdown/citations.tsx';
import { BlocksView } from '#src/widgets/markdown/markdown.tsx';
import { useModel } from '#src/platform/queries.ts';
import { readQuestion } from '#src/platform/question.ts';
import { Icon } from '#src/ui/icon.tsx';
import type { Block } from '#common/markdown/document.ts';
import type { Message } from '#contract/chat.ts';
import type { ToolCall } from '#contract/tool.ts';
import { lazyPart } from '#src/platform/lazy-chunk.ts';
import { memo, useMemo, useState, useSyncExternalStore } from 'react';
import { useLongPress } from '#src/widgets/conversation/long-press.ts';
import { OnItsWay } from '#src/widgets/conversation/on-its-way.tsx';
import { Separator } from '#src/widgets/conversation/separator.tsx';
import { useChatActs, useRowMode } from '#src/widgets/conversation/chat-context.ts';
import type { Segment } from '#src/widgets/conversation/live-reply.ts';
import {
  ActsRow,
  MoreAct,
  ModelName,
  ReplyActs,
  SmallAct,
} from '#src/widgets/conversation/message-acts.tsx';
import {
  segmentsOfMessage,
  type QuestionRow,
  type ReplyRow,
} from '#src/widgets/conversation/rows.ts';
import { Sources } from '#src/widgets/conversation/sources.tsx';
import { replyText } from '#src/widgets/conversation/message-store.ts';
import rowCss from '#src/widgets/conversation/conversation.module.css';

const parts = () => import('./question-parts.tsx');
const Attachments = lazyPart(
  () => parts().then((module) => ({ default: module.Attachments })),
  <span className={rowCss.attachmentsSpace} />,
);
const ToolCards = lazyPart(() => import('#src/widgets/conversation/tool-cards.tsx'));
const QuestionEditor = lazyPart(() =>
  parts().then((module) => ({ default: module.QuestionEditor })),
);

/** Questions longer than this are folded. */
const longQuestion = 1_200;
export const Question = memo(function Question({ row }: { row: QuestionRow }) {
  const { message } = row;
  const acts = useChatActs();
  const [open, setOpen] = useState(false);
  const editing = useRowMode('edit', message.id);
  const press = useLongPress(() => acts.openMenu(message, 'question'));
  const { text, images, files } = readQuestion(message);
  const long = text.length > longQuestion;
  const more = images.length + files.length > 0;
  return (
    <div
      className={rowCss.rowQuestion}
      data-message={message.id}
      role="article"
      aria-label={`${acts.owner ? '我' : maskName(message.user_name)}的消息`}
    >
      <Separator time={row.time} />
      <div className={rowCss.question}>
        {!acts.owner && <span className={rowCss.speaker}>{maskName(message.user_name)}</span>}
        {more && <Attachments images={images} files={files} />}
        {editing ? (
          <QuestionEditor message={message} />
        ) : (
          (text !== '' || !more) && (
            <div className={`${rowCss.bubble} ${rowCss.bubbleMine}`} data-bubble="mine" {...press}>
              {long && !open ? `${text.slice(0, longQuestion)}…` : text}
              {long && (
                <button type="button" className={rowCss.unfold} onClick={() => setOpen(!open)}>
                  {open ? '收起' : `展开全部 ${text.length} 字`}
                </button>
              )}
              {message.id < 0 && <OnItsWay />}
            </div>
          )
        )}
        {message.id > 0 && !editing && acts.pointer && (
          <ActsRow className={`${rowCss.acts} ${rowCss.actsQuestion}`}>
            {() => (
              <>
                <SmallAct icon="copy" label="复制问题" onClick={() => void copyText(text)} />
                {acts.owner && acts.writable && !acts.temporary && (
                  <SmallAct
                    icon="edit"
                    label="编辑后重新生成"
                    onClick={() => acts.toggle('edit', message.id)}
                  />
                )}
                <MoreAct message={message} of="question" />
              </>
            )}
          </ActsRow>
        )}
      </div>
    </div>
  );
});

const sourceOf = (block: Block): string =>
  block.kind === 'code'
    ? `\`\`\`${block.language}\n${block.pieces.join('\n')}\n\`\`\``
    : block.text.trimEnd();

const Body = memo(function Body({
  segment,
  raw,
  last,
}: {
  segment: Segment;
  raw: boolean;
  last: boolean;
}) {
  if (raw)
    return (
      <pre className={rowCss.raw} data-raw>
        {segment.map(sourceOf).join('\n\n')}
      </pre>
    );
  return <BlocksView groups={[segment]} last={last} />;
});

const Reasoning = ({
  text,
  thinking,
  ms = 0,
}: {
  text: string;
  thinking: boolean;
  /** How long it was thought; 0: nobody knows. */
  ms?: number | undefined;
}) => {
  const [open, setOpen] = useState(false);
  if (text === '') return null;
  return (
    <div className={rowCss.reasoning}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="spark" size={14} />
        {thinking ? '正在思考…' : ms >= 100 ? `思考了 ${spanText(ms)}` : '思考过程'}
        <Icon name={open ? 'up' : 'down'} size={14} />
      </button>
      {open && <div className={rowCss.reasoningText}>{text}</div>}
    </div>
  );
};

export const Typing = () => (
  <span className={rowCss.typing} role="status" aria-label="正在回复">
    <i />
    <i />
    <i />
  </span>
);

const nothing: Segment = [];
const never = () => () => {};
const noSegment = () => nothing;

/** Follows the row that is being written; finished rows follow nothing. */
const useOpenSegment = (row: ReplyRow): Segment => {
  const follows = row.segment === null && row.live !== null;
  return useSyncExternalStore(
    follows && row.live ? row.live.subscribe : never,
    follows && row.live ? row.live.open : noSegment,
  );
};

const noCalls: readonly ToolCall[] = [];
const noneCalled = () => noCalls;

/** What a reply called, as it is told. */
const useCalls = ({ live, message, first }: ReplyRow): readonly ToolCall[] => {
  const follows = live !== null && first;
  const calls = useSyncExternalStore(
    follows ? live.subscribe : never,
    follows ? live.calls : noneCalled,
  );
  return follows ? calls : first ? (message.tools ?? noCalls) : noCalls;
};

/** A few words: their bubble is as wide as they are. Measuring longer text for that costs a layout. */
const isShort = (segment: Segment, reasoning: string): boolean => {
  const [only, more] = segment;
  if (reasoning !== '' || more) return false;
  return !only || (only.kind === 'text' && only.text.length < 80 && !only.text.includes('|'));
};

/** What the numbers in a reply open. */
const useCiting = (message: Message) => {
  const { openSource } = useChatActs();
  return useMemo(() => {
    const { sources } = message;
    if (!sources) return null;
    const of = (n: number) => sources.find((source) => source.n === n);
    return {
      has: (n: number) => of(n) !== undefined,
      open: (n: number, said: string) => {
        const source = of(n);
        if (source) openSource(message, source, said);
      },
    };
  }, [message, openSource]);
};

export const Reply = memo(function Reply({ row }: { row: ReplyRow }) {
  const { message, live } = row;
  const acts = useChatActs();
  const open = useOpenSegment(row);
  const raw = useRowMode('raw', message.id);
  const press = useLongPress(() => acts.openMenu(message, 'reply'));
  const segment = row.segment ?? (live ? open : (segmentsOfMessage(message)[0] ?? nothing));
  const writing = message.state === 'streaming';
  const reasoning = live?.reasoning ?? message.reasoning;
  const empty = segment.length === 0;
  const calls = useCalls(row);
  const named = message.model !== '' && (acts.people || message.model !== acts.model);
  const citing = useCiting(message);
  const model = useModel(message.model);
  return (
    <div
      className={rowCss.reply}
      role={row.first ? 'article' : undefined}
      aria-label={row.first ? `${(model?.label ?? message.model) || '模型'}的回复` : undefined}
      data-reply
      data-message={row.first ? message.id : undefined}
      data-first={row.first || undefined}
      data-faced={(acts.people && named) || undefined}
      data-short={
        (row.first && row.last && calls.length === 0 && isShort(segment, reasoning)) || undefined
      }
      data-last={row.last || undefined}
      data-writing={(writing && row.last) || undefined}
    >
      {row.first && named && <ModelName name={message.model} face={acts.people} />}
      <div className={`${rowCss.bubble} ${rowCss.bubbleTheirs}`} {...press}>
        {row.first && (
          <Reasoning
            text={reasoning}
            thinking={writing && empty}
            ms={live?.thoughtMs || message.thought_ms}
          />
        )}
        {calls.length > 0 && <ToolCards calls={calls} message={message} />}
        {empty && row.first ? (
          writing && <Typing />
        ) : (
          <Citing value={citing}>
            <Body segment={segment} raw={raw} last={row.last} />
          </Citing>
        )}
      </div>
      {row.last && !writing && message.sources && (
        <Sources answer={message} onOpen={(source) => acts.openSource(message, source)} />
      )}
      {row.last && !writing && (
        <ReplyActs message={message} text={() => replyText(message, live)} raw={raw} />
      )}
    </div>
  );
});
