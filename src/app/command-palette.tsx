import { sessionTitle } from '#src/features/session/session-title.ts';
import { useSessionList } from '#src/features/session/session-queries.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { keepLast, steady, useCall } from '#src/platform/call-query.ts';
import { prefsStore } from '#src/platform/prefs.ts';
import { priceText, useChatModels, useOfficialSite } from '#src/platform/queries.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { Icon, PathIcon } from '#src/ui/icon.tsx';
import { useLocked } from '#src/widgets/model/use-locked.ts';
import { useNavigate, type LinkProps } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { findEntries, markAfter } from './command-filter.ts';
import { CommandPanel } from './command-panel.tsx';
import css from './command-palette.module.css';
import { groups, manage, others, subscribe } from './menu-places.ts';
import { placeIcons, type PlaceIcon } from '#src/ui/place-icons.ts';
import { account, place } from './places.ts';
import type { CommandKey } from './use-command-keys.ts';

interface Entry {
  key: string;
  group: '会话' | '页面' | '模型' | '操作' | '帮助';
  label: string;
  /** Found by it, too, and shown small behind the label. */
  hint?: string;
  icon: PlaceIcon;
  run: () => void;
}

/** So many sessions and models are shown while nothing is typed. */
const few = 5;

type Go = (link: Pick<LinkProps, 'to' | 'search'>) => void;

const accountTabs: readonly [string, string][] = [
  ['usage', '用量'],
  ['recharge', '充值'],
  ['vip', '会员'],
  ['settings', '设置'],
];

/** All places of the menus and the account. */
const usePages = (go: Go): Entry[] => {
  const { user } = useAuth();
  const site = useOfficialSite();
  const places = [
    ...groups.flatMap((group) => group.places),
    ...others,
    ...(site === '' ? [] : [subscribe]),
    ...(user?.admin ? [manage] : []),
    account,
    place('工具服务', 'link', '/tools'),
  ];
  return [
    ...places.map(({ label, icon, link }) => ({ label, icon, link })),
    ...accountTabs.map(([tab, label]) => ({
      label,
      icon: account.icon,
      link: { to: '/account', search: { tab } } as Pick<LinkProps, 'to' | 'search'>,
    })),
  ].map(({ label, icon, link }) => ({
    key: `page ${label}`,
    group: '页面',
    label,
    icon,
    run: () => go(link),
  }));
};

/** A new session with a model. */
const useModelEntries = (go: Go): Entry[] => {
  const isLocked = useLocked();
  return (useChatModels().data ?? []).map((model) => ({
    key: `model ${model.name}`,
    group: '模型',
    label: model.label,
    hint: model.locked === 1 ? '付费用户' : priceText(model),
    icon: 'cube',
    run: () => {
      if (isLocked(model)) return;
      prefsStore.set({ model: model.name });
      go({ to: '/', search: { new: 1 } });
    },
  }));
};

/** The sessions whose titles or messages have the words, and the way to all of them. */
const useSessionEntries = (words: string, go: Go): Entry[] => {
  const found = useSessionList({
    channel: 'private',
    page: 1,
    page_size: few,
    query: useDeferredValue(words) || undefined,
  });
  const list = found.isPlaceholderData ? [] : (found.data?.list ?? []);
  const entries = list.map((session): Entry => ({
    key: `session ${session.uuid}`,
    group: '会话',
    label: sessionTitle(session),
    hint: relativeTime(session.updated_at),
    icon: 'chat',
    run: () =>
      go({
        to: '/chat',
        search: { uuid: session.uuid, history_id: session.match?.history_id ?? undefined },
      }),
  }));
  if (words !== '' && entries.length === few)
    entries.push({
      key: 'session all',
      group: '会话',
      label: `在全部会话里搜索“${words}”`,
      icon: 'chat',
      run: () => go({ to: '/', search: { channel: 'private', query: words } }),
    });
  return entries;
};

/** The pages of the help that answer the words. */
const useHelpEntries = (words: string, go: Go): Entry[] => {
  const query = useDeferredValue(words);
  const found = useCall('helpList', { query }, { ...steady, ...keepLast, enabled: query !== '' });
  if (words === '') return [];
  return (found.data?.list ?? []).slice(0, few).map(({ slug, title, section }) => ({
    key: `help ${slug}`,
    group: '帮助',
    label: section || title,
    hint: section ? title : '',
    icon: 'help',
    run: () => go({ to: '/help', search: { page: slug, section: section || undefined } }),
  }));
};

/** Light after dark, dark after light. */
const turnLight = (isDark: boolean): Entry => ({
  key: 'act light',
  group: '操作',
  label: isDark ? '换成浅色' : '换成深色',
  hint: '外观',
  icon: 'spark',
  run: () => prefsStore.set({ dark: isDark ? 'light' : 'dark' }),
});

const useEntries = (words: string, go: Go, onCommand: (command: CommandKey) => void): Entry[] => {
  const act = (command: CommandKey, label: string, hint: string, icon: PlaceIcon): Entry => ({
    key: `act ${command}`,
    group: '操作',
    label,
    hint,
    icon,
    run: () => onCommand(command),
  });
  const acts = [
    act('new', '新会话', 'Ctrl Shift O', 'chat'),
    {
      key: 'act draw',
      group: '操作',
      label: '画一张图',
      icon: 'brush',
      run: () => go({ to: '/', search: { tab: 'imagine', new: 1 } }),
    } satisfies Entry,
    turnLight(document.documentElement.dataset['dark'] === '1'),
    act('keys', '快捷键', 'Ctrl /', 'help'),
  ];
  const models = useModelEntries(go);
  const pages = usePages(go);
  const sessions = useSessionEntries(words, go);
  const help = useHelpEntries(words, go);
  if (words === '') return [...acts, ...sessions, ...pages, ...models.slice(0, few)];
  // What the server finds comes later, and moves nothing that one is about to choose.
  return [...findEntries([...pages, ...models, ...acts], words), ...sessions, ...help];
};

/** Everything that one can go to or do, found by typing. */
export const CommandPalette = ({
  onClose,
  onCommand,
}: {
  onClose: () => void;
  onCommand: (command: CommandKey) => void;
}) => {
  const id = useId();
  const navigate = useNavigate();
  const list = useRef<HTMLDivElement>(null);
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useEntries(text.trim(), (link) => void navigate(link), onCommand);
  const heads = [...new Set(found.map(({ group }) => group))];
  // The arrows walk as the groups stand.
  const entries = heads.flatMap((head) => found.filter(({ group }) => group === head));
  const chosen = Math.min(at, entries.length - 1);
  useEffect(() => {
    list.current?.querySelectorAll('[role="option"]')[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const take = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const next = markAfter(event.key, chosen, entries.length);
    if (next !== undefined) setAt(next);
    else if (event.key === 'Enter') take(entries[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <CommandPanel label="搜索和命令" onClose={onClose}>
      <label className={css.box}>
        <Icon name="search" size={20} />
        <input
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={entries[chosen] && `${id}-${chosen}`}
          aria-label="搜索会话、页面、模型、操作和帮助"
          placeholder="搜索会话、页面、模型、操作和帮助"
          value={text}
          maxLength={200}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <div className={css.found} id={id} role="listbox" aria-label="找到的" ref={list}>
        {heads.map((head) => (
          <div key={head} role="group" aria-label={head}>
            <h3 aria-hidden>{head}</h3>
            {entries.map(
              (entry, index) =>
                entry.group === head && (
                  <button
                    type="button"
                    key={entry.key}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={index === chosen}
                    tabIndex={-1}
                    className={css.row}
                    onPointerMove={() => setAt(index)}
                    onClick={() => take(entry)}
                  >
                    <PathIcon path={placeIcons[entry.icon]} size={18} />
                    <span>{entry.label}</span>
                    {entry.hint && <small>{entry.hint}</small>}
                  </button>
                ),
            )}
          </div>
        ))}
        {entries.length === 0 && <p className={css.none}>没有找到</p>}
      </div>
    </CommandPanel>
  );
};
