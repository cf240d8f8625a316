import { maskName } from '#src/platform/format.ts';
import { copyMade, copyText } from '#src/platform/copy.ts';
import { feel } from '#src/platform/haptics.ts';
import { useChatModels } from '#src/platform/queries.ts';
import { readQuestion } from '#src/platform/question.ts';
import { readAloud } from '#src/platform/speaking.ts';
import { ActMenu, type MenuAct } from '#src/ui/act.tsx';
import { ModelSheet } from '#src/widgets/model/model-sheet.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import type { Message } from '#contract/chat.ts';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useEffect, useState } from 'react';
import { useChatActs } from '#src/widgets/conversation/chat-context.ts';
import { acceptAnswer, copyLink, quote } from './question-acts.ts';
import { useQuestion } from './question-context.ts';

const ReportSheet = lazyAsked(() =>
  import('./question-sheets.tsx').then(({ ReportSheet: part }) => ({ default: part })),
);
const EditsSheet = lazyAsked(() =>
  import('./question-sheets.tsx').then(({ EditsSheet: part }) => ({ default: part })),
);

export interface MenuTarget {
  message: Message;
  part: 'question' | 'reply';
}

/** What is shown instead of the menu. */
type Shown =
  | { kind: 'report' | 'edits'; id: number }
  | { kind: 'words'; text: string }
  | { kind: 'models'; message: Message };

/** All that this person can do with a message, or with its reply. */
const useMessageActs = (show: (next: Shown) => void) => {
  const acts = useChatActs();
  const severalModels = (useChatModels().data?.length ?? 0) > 1;
  const question = useQuestion();
  return ({ message, part }: MenuTarget): readonly (MenuAct | false)[] => {
    const { id } = message;
    const reply = part === 'reply';
    const text = reply ? message.ai : readQuestion(message).text;
    const mine = message.user_id === acts.me;
    const saved = id > 0;
    const branches =
      saved && acts.owner && acts.writable && !acts.people && !acts.temporary && !acts.sessionType;
    const accepted = question?.accepted_id === id;
    // Where a model answered, its answer is what is accepted.
    const acceptable =
      question?.owner === true && (reply || (message.title === '' && message.ai === ''));
    const person = { id: message.user_id, name: maskName(message.user_name) };
    const asks = saved && question !== null && !reply;
    return [
      { icon: 'copy', label: '复制', act: () => void (reply ? copyMade(text) : copyText(text)) },
      { icon: 'document', label: '选择文字', act: () => show({ kind: 'words', text }) },
      saved &&
        !acts.temporary && {
          icon: 'like',
          label: message.liked ? '取消点赞' : '点赞',
          act: () => acts.like(message),
        },
      saved &&
        !acts.temporary && {
          icon: 'star',
          label: message.in_favorites ? '取消收藏' : '收藏',
          act: () => acts.favourite(message),
        },
      reply &&
        text !== '' &&
        !acts.sessionType && {
          icon: 'sound',
          label: '朗读',
          act: () => readAloud({ historyId: acts.temporary ? 0 : id, text }),
        },
      reply && {
        icon: 'code',
        label: acts.is('raw', id) ? '看排版' : '看原文',
        act: () => acts.toggle('raw', id),
      },
      !reply &&
        (branches || (acts.people && mine)) && {
          icon: 'edit',
          label: acts.people ? '修改' : '编辑后重新生成',
          act: () => acts.toggle('edit', id),
        },
      !reply &&
        acts.people &&
        acts.writable &&
        !mine && { icon: 'reply', label: `回复${person.name}`, act: () => acts.answerTo(person) },
      saved &&
        acceptable && {
          icon: 'check',
          label: accepted ? '取消采纳' : '采纳这个回答',
          act: () => void acceptAnswer(acts.uuid, id, !accepted),
        },
      asks &&
        acts.writable && {
          icon: 'quote',
          label: '引用回复',
          act: () => quote(acts.uuid, person, text, !mine),
        },
      asks && { icon: 'link', label: '复制链接', act: () => copyLink(acts.uuid, id) },
      asks &&
        message.edited && {
          icon: 'retry',
          label: '修改记录',
          act: () => show({ kind: 'edits', id }),
        },
      asks &&
        !mine &&
        acts.me > 0 && { icon: 'warning', label: '举报', act: () => show({ kind: 'report', id }) },
      branches && { icon: 'retry', label: '重新回答', act: () => acts.regenerate(message) },
      branches &&
        severalModels && {
          icon: 'spark',
          label: '换个模型重新回答',
          act: () => show({ kind: 'models', message }),
        },
      saved &&
        acts.forkable &&
        !acts.sessionType && { icon: 'fork', label: '新建分支', act: () => acts.fork(id) },
      saved &&
        (acts.people ? mine : acts.owner) && {
          icon: 'trash',
          label: `删除这${question === null ? '条消息' : message.title === '' ? '个回答' : '个问题'}`,
          danger: true,
          act: () => acts.remove(message),
        },
    ];
  };
};

/** All that can be done with a message; opened by a long press or its ⋯. */
const MessageMenu = ({ target, onClose }: { target: MenuTarget | null; onClose: () => void }) => {
  const acts = useChatActs();
  const question = useQuestion();
  const [shown, show] = useState<Shown | null>(null);
  const actsOf = useMessageActs(show);
  const close = () => show(null);
  useEffect(() => {
    if (target) feel('tick');
  }, [target]);
  const named = target?.message.title === '' ? '这个回答' : '这个问题';
  const asked = question === null ? '这条提问' : named;
  const asking = shown?.kind === 'models' ? shown.message : null;
  return (
    <>
      <Sheet
        popover="list"
        open={target !== null}
        onClose={onClose}
        title={target?.part === 'reply' ? '这条回复' : asked}
      >
        {target && <ActMenu acts={actsOf(target)} onClose={onClose} />}
      </Sheet>
      {shown?.kind === 'report' && <ReportSheet uuid={acts.uuid} id={shown.id} onClose={close} />}
      {shown?.kind === 'edits' && <EditsSheet uuid={acts.uuid} id={shown.id} onClose={close} />}
      <Sheet open={shown?.kind === 'words'} onClose={close} title="选择文字">
        <p className="selectable">{shown?.kind === 'words' && shown.text}</p>
      </Sheet>
      <ModelSheet
        open={asking !== null}
        title="由哪个模型重新回答"
        value={asking?.model || acts.model}
        onClose={close}
        onChoose={(model) => {
          if (asking) acts.regenerate(asking, model);
        }}
      />
    </>
  );
};

export default MessageMenu;
