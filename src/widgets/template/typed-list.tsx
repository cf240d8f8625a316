import { useCall } from '#src/platform/call-query.ts';
import { useDraft } from '#src/platform/draft.ts';
import { useModelPicks } from '#src/widgets/composer/model-picks.tsx';
import { PickList, type Pick as Offer, type TakeKeys } from '#src/widgets/composer/pick-list.tsx';
import { Avatar } from '#src/ui/avatar.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { useState } from 'react';
import { useServersWithMore } from '#src/widgets/tool/servers-with-more.ts';
import { FillSheet } from './fill-sheet.tsx';
import type { PromptSheetProps } from './prompt-sheet-props.ts';
import { PromptSheet } from './prompt-sheet.tsx';
import { typedAtEnd, withRecent } from './typed-words.ts';

/** So many of the prompts that were used last stand first. */
const lastUsed = 3;

/** Somebody who can be named behind an @. */
export interface Named {
  id: number | string;
  name: string;
  /** What naming them does. */
  note: string;
  run: () => void;
}

/** A template for the next session, behind a slash. */
export interface OfferedScenario {
  id: number;
  name: string;
  about: string;
}

const readIds = (text: string): number[] => {
  try {
    const ids = JSON.parse(text || '[]') as unknown;
    return Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : [];
  } catch {
    return [];
  }
};

type Prompt = { id: number; title: string; content: string; hasVars: boolean };

/** Prompts that fit, in their categories; each once. */
const usePromptOffers = (
  { type, model, words, wanted }: { type: 0 | 1; model: string; words: string; wanted: boolean },
  choose: (prompt: Prompt) => void,
): Offer[] => {
  const list = useCall('promptList', { type }, { enabled: wanted });
  const [kept, keep] = useDraft(`recent.prompts.${type}`);
  const recent = readIds(kept);
  const offers = (list.data?.prompts ?? []).flatMap((prompt) => {
    const { id, hidden, attrs, top, own } = prompt;
    const { title, content, vars } = prompt.prompt_json;
    const fits =
      !hidden &&
      (attrs.include.length === 0 || attrs.include.includes(model)) &&
      !attrs.exclude.includes(model) &&
      `${title} ${content}`.toLowerCase().includes(words);
    if (!fits) return [];
    const at = recent.indexOf(id);
    const group = at >= 0 ? '最近用过' : top ? '置顶' : own ? '我的提示词' : '提示词';
    const run = () => {
      keep(JSON.stringify(withRecent(recent, id, lastUsed)));
      choose({ id, title, content, hasVars: vars.length > 0 });
    };
    return [{ order: at, key: String(id), group, label: title, note: content, run }];
  });
  const groups = ['最近用过', '置顶', '我的提示词', '提示词'];
  return offers.toSorted(
    (a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.order - b.order,
  );
};

const scenarioOffers = (
  scenarios: readonly OfferedScenario[],
  fits: (said: string) => boolean,
  choose: (scenario: OfferedScenario) => void,
): Offer[] =>
  scenarios
    .filter(({ name, about }) => fits(`${name} ${about}`))
    .map((each) => ({
      key: `scenario ${each.id}`,
      group: '场景',
      label: each.name,
      note: each.about,
      run: () => choose(each),
    }));

const personOffers = (
  people: readonly Named[],
  fits: (said: string) => boolean,
  clear: () => void,
): Offer[] =>
  people
    .filter(({ name }) => fits(name))
    .map(({ id, name, note, run }) => ({
      key: `person ${id}`,
      group: '人',
      label: name,
      note,
      lead: <Avatar name={name} size={28} />,
      run: () => {
        clear();
        run();
      },
    }));

/**
 * The one list beside the box: behind a slash that begins a line the prompts (and where a session
 * begins the scenarios) that fit, behind an @ that begins a word the people and then the models.
 */
const TypedList = ({
  text,
  type,
  model,
  below = false,
  people = [],
  scenarios = [],
  chosen = '',
  onKeys,
  onText,
  onModel,
  onScenario,
}: Pick<PromptSheetProps, 'model'> & {
  type: 0 | 1;
  text: string;
  below?: boolean;
  people?: readonly Named[];
  scenarios?: readonly OfferedScenario[];
  /** The model that answers now: Enter takes it at first. */
  chosen?: string;
  onKeys: TakeKeys;
  /** Gets what stands in the box instead. */
  onText: (text: string) => void;
  /** Undefined: no model is named here. */
  onModel?: ((name: string) => void) | undefined;
  onScenario?: ((scenario: OfferedScenario) => void) | undefined;
}) => {
  const typed = typedAtEnd(text);
  const [dismissed, setDismissed] = useState('');
  if (dismissed !== '' && !typed) setDismissed('');
  const [filling, setFilling] = useState<{ name: string; text: string; before: string } | null>(
    null,
  );
  const [all, setAll] = useState<{ server?: number; before: string } | null>(null);
  const { sign, words, before } = typed ?? { sign: null, words: '', before: '' };
  const put = (added: string) => onText(before + added);
  const fits = (said: string) => said.toLowerCase().includes(words);

  const servers = useServersWithMore(sign === '/' && type === 0);
  const prompts = usePromptOffers(
    { type, model, words, wanted: sign === '/' },
    ({ title, content, hasVars }) => {
      if (hasVars) setFilling({ name: title, text: content, before });
      put(hasVars ? '' : content);
    },
  );
  const models = useModelPicks(words, (name) => {
    onModel?.(name);
    put('');
  });
  const offers = [
    ...prompts,
    ...scenarioOffers(scenarios, fits, (scenario) => {
      put('');
      onScenario?.(scenario);
    }),
    ...servers
      .filter(({ name }) => fits(name))
      .map(({ id, name }) => ({
        key: `server ${id}`,
        group: '工具服务的提示词',
        label: name,
        run: () => {
          put('');
          setAll({ server: id, before });
        },
      })),
  ];
  const manage: Offer = {
    key: 'manage',
    label: '新建与管理提示词',
    lead: <Icon name="plus" size={18} />,
    run: () => {
      put('');
      setAll({ before });
    },
  };
  // Words that fit nothing are the message itself: nothing stands over them.
  const behindSlash = offers.length === 0 ? [] : [manage, ...offers];
  const behindAt = [
    ...personOffers(people, fits, () => put('')),
    ...(onModel ? models.map((each) => ({ ...each, group: '模型' })) : []),
  ];
  const picks = sign === '/' ? behindSlash : sign === '@' ? behindAt : [];
  const first =
    sign === '/'
      ? 1
      : Math.max(
          0,
          picks.findIndex(({ key }) => key === chosen),
        );
  return (
    <>
      {picks.length > 0 && dismissed !== text && (
        <PickList
          label={sign === '/' ? '提示词' : '请谁回答'}
          picks={picks}
          first={words === '' ? first : sign === '/' ? 1 : 0}
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
          onText((filling?.before ?? '') + filled);
          setFilling(null);
        }}
      />
      <PromptSheet
        open={all !== null}
        type={type}
        model={model}
        server={all?.server}
        onClose={() => setAll(null)}
        onChoose={(added) => onText((all?.before ?? '') + added)}
      />
    </>
  );
};

export default TypedList;
