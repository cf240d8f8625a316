import { ChipDot } from '#src/ui/chip.tsx';
import { copyMade } from '#src/platform/copy.ts';
import { useModel, useSettings } from '#src/platform/queries.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Icon, type IconName } from '#src/ui/icon.tsx';
import type { Message } from '#contract/chat.ts';
import type { ReactNode } from 'react';
import { useChatActs } from './chat-context.ts';
import { useIdle } from './use-idle.ts';
import rowCss from './conversation.module.css';

/**
 * A row of such buttons under a message. Its room is there at once; the buttons, which cost more
 * than the message does, come in idle time: nobody reaches for them in a list that is flung.
 */
export const ActsRow = ({
  className = rowCss.acts,
  now = false,
  children,
}: {
  className?: string;
  /** They are looked for at once. */
  now?: boolean;
  children: () => ReactNode;
}) => {
  const drawn = useIdle(now);
  return <div className={className}>{drawn && children()}</div>;
};

/** A quiet button of 36 px with a target of 44. */
export const SmallAct = ({
  icon,
  label,
  count = 0,
  pressed,
  wide = false,
  onClick,
}: {
  icon: IconName;
  label: string;
  /** Shown beside the icon; 0: nothing. */
  count?: number;
  pressed?: boolean;
  /** Only where there is room; a phone has it in the sheet. */
  wide?: boolean;
  onClick: () => void;
}) => (
  <button
    type="button"
    className={wide ? `${rowCss.smallAct} ${rowCss.smallActWide}` : rowCss.smallAct}
    aria-label={count > 0 ? `${label} ${count}` : label}
    title={label}
    aria-pressed={pressed}
    onClick={onClick}
  >
    <Icon name={icon} size={16} />
    {count > 0 && <span>{count}</span>}
  </button>
);

/** Opens the sheet of all that can be done with a part of a message. */
export const MoreAct = ({ message, of }: { message: Message; of: 'question' | 'reply' }) => {
  const { openMenu } = useChatActs();
  return <SmallAct icon="more" label="更多操作" onClick={() => openMenu(message, of)} />;
};

/** ‹ 2/3 ›: the branches at a message's place. The arrow keys turn it, too. */
export const Pager = ({ message }: { message: Message }) => {
  const acts = useChatActs();
  const { siblings, id } = message;
  if (siblings.length < 2 || !acts.owner || !acts.writable) return null;
  const at = siblings.indexOf(id);
  const go = (step: number) => {
    const next = siblings[at + step];
    if (next === undefined) return;
    // The row may come to stand elsewhere in the list; who turns by keys goes on turning.
    const back = (tries: number) => {
      if (document.activeElement === document.body)
        document
          .querySelector<HTMLElement>(`[data-branches="${siblings[0]}"] [data-step="${step}"]`)
          ?.focus({ preventScroll: true });
      if (tries > 0) setTimeout(() => back(tries - 1), 60);
    };
    void acts.choose(next).then(() => back(12));
  };
  const turn = (label: string, icon: 'back' | 'forward', step: number) => (
    <button
      type="button"
      className={rowCss.smallAct}
      aria-label={label}
      data-step={step}
      // A button that is disabled loses the focus that turns on.
      aria-disabled={siblings[at + step] === undefined || undefined}
      onClick={() => go(step)}
    >
      <Icon name={icon} size={14} />
    </button>
  );
  return (
    <span
      className={rowCss.pager}
      role="group"
      aria-label="分支"
      data-branches={siblings[0]}
      onKeyDown={(event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        if (event.key === 'ArrowLeft') go(-1);
        if (event.key === 'ArrowRight') go(1);
      }}
    >
      {turn('上一个分支', 'back', -1)}
      <span role="status">
        {at + 1}/{siblings.length}
      </span>
      {turn('下一个分支', 'forward', 1)}
    </span>
  );
};

/** Name of a model as people read it. */
export const ModelName = ({ name, face = false }: { name: string; face?: boolean }) => {
  const known = useModel(name);
  return (
    <span className={rowCss.speaker}>
      {face ? (
        <Avatar
          name={known?.label ?? name}
          src={known?.logo ?? ''}
          color={known?.color ?? ''}
          size={36}
        />
      ) : (
        <ChipDot color={known?.color} />
      )}
      {known?.label ?? name}
    </span>
  );
};

/** Like, favourite: the same for everybody's messages. */
export const Marks = ({ message }: { message: Message }) => {
  const { like, favourite, temporary } = useChatActs();
  if (temporary) return null;
  return (
    <>
      <SmallAct
        icon="like"
        label={message.liked ? '取消点赞' : '点赞'}
        count={message.like_count}
        pressed={message.liked}
        onClick={() => like(message)}
      />
      <SmallAct
        icon="star"
        label={message.in_favorites ? '取消收藏' : '收藏'}
        pressed={message.in_favorites}
        onClick={() => favourite(message)}
      />
    </>
  );
};

const Usage = ({ message }: { message: Message }) => {
  const { owner } = useChatActs();
  const { show_token_usage } = useSettings();
  const tokens = message.prompt_tokens + message.completion_tokens;
  const paid = message.deduct_tokens;
  if (!owner || tokens === 0 || show_token_usage !== 1) return null;
  return (
    <span
      className={rowCss.usage}
      title={`提问 ${message.prompt_tokens}，回复 ${message.completion_tokens}，扣 ${paid}`}
    >
      {tokens} tokens{paid > 0 && paid !== tokens && ` · 扣 ${paid}`}
      {message.cached_tokens !== undefined &&
        ` · 缓存命中 ${Math.round((message.cached_tokens / message.prompt_tokens) * 100)}%`}
    </span>
  );
};

/** What can be done with a reply, in one quiet row under it. */
export const ReplyActs = ({
  message,
  text,
  raw,
}: {
  message: Message;
  text: () => string;
  raw: boolean;
}) => {
  const acts = useChatActs();
  const again = acts.owner && acts.writable && !acts.people && !acts.temporary;
  return (
    // The keys that turn a reply's branches go on in the row that takes its place.
    <ActsRow now={message.siblings.length > 1}>
      {() => (
        <>
          <SmallAct icon="copy" label="复制回复" onClick={() => void copyMade(text())} />
          <Marks message={message} />
          {again && (
            <SmallAct icon="retry" label="重新回答" onClick={() => acts.regenerate(message)} />
          )}
          <SmallAct
            icon="code"
            label={raw ? '看排版' : '看原文'}
            pressed={raw}
            wide
            onClick={() => acts.toggle('raw', message.id)}
          />
          <MoreAct message={message} of="reply" />
          <Pager message={message} />
          <Usage message={message} />
        </>
      )}
    </ActsRow>
  );
};
