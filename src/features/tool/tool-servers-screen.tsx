import type { ToolServer } from '#contract/tool-server.ts';
import { quietly } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { useCall } from '#src/platform/call-query.ts';
import { useMe } from '#src/platform/queries.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { usePageTitle } from '#src/platform/use-page-title.ts';
import { BackHead } from '#src/ui/back-head.tsx';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { Tag } from '#src/ui/chip.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { authorize } from '#src/widgets/tool/authorize.ts';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import { useState } from 'react';
import { ToolServerForm } from './tool-server-form.tsx';
import css from './tool-servers.module.css';

const remove = async (server: ToolServer): Promise<void> => {
  const yes = await confirmDialog({
    text: `删除“${server.name}”？模型就不能再用它的工具了。`,
    ok: '删除',
    danger: true,
  });
  if (!yes) return;
  await api.deleteToolServer({ id: server.id });
  toast('删除成功', 'success');
};

const check = async (id: number): Promise<void> => {
  const { ok, message } = await api.checkToolServer({ id });
  toast(message, ok ? 'success' : 'error');
};

const logins = {
  none: '',
  wanted: '要授权',
  given: '已授权',
  lost: '要重新授权',
} as const satisfies Record<ToolServer['login'], string>;

/** Turns one tool on as it describes itself now, or off. */
const choose = ({ id, tools }: ToolServer, name: string, on: boolean): Promise<unknown> =>
  api.chooseTools({
    id,
    tools: tools
      .filter((tool) => (tool.name === name ? on : tool.on))
      .map((tool) => ({ name: tool.name, digest: tool.digest })),
  });

const stateOf = ({ enabled, last_error: error, last_ok_at: at }: ToolServer): string => {
  if (!enabled) return '已停用';
  if (error !== '') return error;
  return at === null ? '还没有连接过' : `${relativeTime(at)}连上过`;
};

const Tools = ({ server }: { server: ToolServer }) => {
  const { busy, run } = useAct();
  if (server.tools.length === 0)
    return <p className={css.state}>按“检查”读出它有哪些工具，再选要用的。</p>;
  return (
    <ul className={css.tools} aria-label={`${server.name} 的工具`}>
      {server.tools.map(({ name, description, on, changed }) => (
        <li key={name}>
          {server.mine ? (
            <SwitchField
              label={name}
              hint={changed ? `说明变了，看过再打开：${description}` : description}
              checked={on}
              disabled={busy}
              onChange={(next) => void run(() => choose(server, name, next))}
            />
          ) : (
            <p className={css.tool}>
              {name}
              <small>{description}</small>
            </p>
          )}
        </li>
      ))}
    </ul>
  );
};

const ServerCard = ({ server, onEdit }: { server: ToolServer; onEdit: () => void }) => {
  const { busy, run } = useAct();
  return (
    <section className={`card ${css.server}`} aria-label={server.name}>
      <h2 className={css.name}>
        {server.name}
        {server.shared && <Tag>大家的</Tag>}
        {logins[server.login] !== '' && <Tag>{logins[server.login]}</Tag>}
      </h2>
      {server.url !== '' && <p className={css.url}>{server.url}</p>}
      <p className={css.state} data-bad={server.last_error !== '' || undefined} role="status">
        {stateOf(server)}
      </p>
      <Tools server={server} />
      {server.mine && (
        <div className={css.acts}>
          <Button size="small" busy={busy} onClick={() => void run(() => check(server.id))}>
            检查
          </Button>
          {server.login !== 'none' && (
            <Button
              size="small"
              kind={server.login === 'given' ? 'plain' : 'primary'}
              busy={busy}
              onClick={() => void run(() => authorize(server.id))}
            >
              {server.login === 'wanted' ? '授权' : '重新授权'}
            </Button>
          )}
          <Button size="small" onClick={onEdit}>
            修改
          </Button>
          <Button size="small" onClick={() => quietly(remove(server))}>
            删除
          </Button>
        </div>
      )}
    </section>
  );
};

/** Servers of tools that models may use: everybody's, and one's own. */
export const ToolServersScreen = () => {
  usePageTitle('工具服务');
  const { signedIn } = useAuth();
  const manager = useMe().data?.admin === true;
  const servers = useCall('toolServers', {}, { enabled: signedIn });
  const [editing, setEditing] = useState<ToolServer | 'new'>();
  const list = servers.data?.list;
  return (
    <div className={`page ${css.screen}`}>
      <BackHead to="/account" back="返回" title="工具服务">
        {signedIn && (
          <Button kind="primary" size="small" onClick={() => setEditing('new')}>
            添加
          </Button>
        )}
      </BackHead>
      <p className={css.state}>
        用 MCP
        协议的工具服务，能让模型查您的日历、仓库、数据库……选中的工具，模型要用时会先把内容给您看，您同意了才发过去。每个工具的说明会随提问一起发给模型，按字数计费。
      </p>
      {!signedIn && (
        <EmptyState
          icon="lock"
          text="登录后可以添加自己的工具服务。"
          action={
            <ButtonLink kind="primary" to="/login" search={{ back: '/tools' }}>
              登录
            </ButtonLink>
          }
        />
      )}
      {servers.isError && <QueryFailed query={servers} />}
      {signedIn && servers.isPending && <Skeleton />}
      {list?.length === 0 && (
        <EmptyPlace
          drawing="neon"
          text="还没有工具服务。添加之后，它的工具都列在这里，一个一个地选。"
          action={
            <Button kind="primary" onClick={() => setEditing('new')}>
              添加工具服务
            </Button>
          }
          example={{ label: '不用它也能算', prompt: '2028 年 2 月 29 日是星期几？用工具算。' }}
        />
      )}
      {list?.map((server) => (
        <ServerCard key={server.id} server={server} onEdit={() => setEditing(server)} />
      ))}
      <Sheet
        open={editing !== undefined}
        onClose={() => setEditing(undefined)}
        title={editing === 'new' ? '添加工具服务' : '修改工具服务'}
      >
        {editing !== undefined && (
          <ToolServerForm
            server={editing === 'new' ? null : editing}
            manager={manager}
            onSaved={(id) => {
              setEditing(undefined);
              quietly(check(id));
            }}
          />
        )}
      </Sheet>
    </div>
  );
};
