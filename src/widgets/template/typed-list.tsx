import { useCall } from '#src/platform/call-query.ts';
import { useModelPicks } from '#src/widgets/composer/model-picks.tsx';
import { PickList, type Pick as Offer, type TakeKeys } from '#src/widgets/composer/pick-list.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { useState } from 'react';
import { useServersWithMore } from '#src/widgets/tool/servers-with-more.ts';
import { FillSheet } from './fill-sheet.tsx';
import type { PromptSheetProps } from './prompt-sheet-props.ts';
import { PromptSheet } from './prompt-sheet.tsx';

/** What was typed behind a sign at the beginning, or null. */
const behind = (sign: RegExp, text: string): string | null => {
  const typed = text.trimStart();
  return sign.test(typed) && !/[\s/／]/.test(typed.slice(1)) ? typed.slice(1) : null;
};

/**
 * Beside the box while a message is nothing but a sign and some letters: behind a slash the prompts
 * that fit, behind an @ the models.
 */
const TypedList = ({
  text,
  type,
  model,
  below = false,
  onKeys,
  onText,
  onModel,
}: Pick<PromptSheetProps, 'type' | 'model'> & {
  text: string;
  below?: boolean;
  onKeys: TakeKeys;
  /** Gets what stands in the box instead. */
  onText: (text: string) => void;
  /** Undefined: an @ means nothing here. */
  onModel?: (name: string) => void;
}) => {
  const slash = behind(/^[/／]/, text);
  const at = onModel ? behind(/^[@＠]/, text) : null;
  const [dismissed, setDismissed] = useState('');
  if (dismissed !== '' && slash === null && at === null) setDismissed('');
  const [filling, setFilling] = useState<{ name: string; text: string } | null>(null);
  const [all, setAll] = useState<{ server?: number } | null>(null);
  const servers = useServersWithMore(slash !== null && type === 0);
  const list = useCall('promptList', { type }, { enabled: slash !== null });
  const models = useModelPicks(at ?? '', (name) => {
    onModel?.(name);
    onText('');
  });
  const sought = (slash ?? '').toLowerCase();
  const fitting = (list.data?.prompts ?? []).filter(
    ({ hidden, attrs, prompt_json: { title, content } }) =>
      !hidden &&
      (attrs.include.length === 0 || attrs.include.includes(model)) &&
      !attrs.exclude.includes(model) &&
      `${title} ${content}`.toLowerCase().includes(sought),
  );
  const prompts: Offer[] = fitting.map(
    ({ id, top, own, prompt_json: { title, content, vars } }) => ({
      key: String(id),
      label: title,
      note: content,
      tail: top ? '置顶' : own ? '我的' : '',
      run: () => {
        if (vars.length > 0) setFilling({ name: title, text: content });
        onText(vars.length > 0 ? '' : content);
      },
    }),
  );
  const manage: Offer = {
    key: 'manage',
    label: '新建与管理提示词',
    lead: <Icon name="plus" size={18} />,
    run: () => {
      onText('');
      setAll({});
    },
  };
  const served: Offer[] = servers
    .filter(({ name }) => name.toLowerCase().includes(sought))
    .map(({ id, name }) => ({
      key: `server ${id}`,
      label: name,
      note: '工具服务的提示词',
      run: () => {
        onText('');
        setAll({ server: id });
      },
    }));
  const offers = [...prompts, ...served];
  const picks = slash === null ? models : offers.length > 0 ? [manage, ...offers] : [];
  const open = (slash !== null || at !== null) && picks.length > 0 && dismissed !== text;
  return (
    <>
      {open && (
        <PickList
          label={slash === null ? '选择模型' : '提示词'}
          picks={picks}
          first={slash === null ? 0 : 1}
          below={below}
          onKeys={onKeys}
          onClose={() => setDismissed(text)}
        />
      )}
      <FillSheet
        template={filling}
        action="放进输入框"
        onClose={() => setFilling(null)}
        onDone={(filled) => {
          setFilling(null);
          onText(filled);
        }}
      />
      <PromptSheet
        open={all !== null}
        type={type}
        model={model}
        server={all?.server}
        onClose={() => setAll(null)}
        onChoose={onText}
      />
    </>
  );
};

export default TypedList;
