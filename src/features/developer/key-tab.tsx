import { api } from '#src/platform/api.ts';
import { copyText } from '#src/platform/copy.ts';
import { compactNumber } from '#common/compact-number.ts';
import { dateTime } from '#src/platform/format.ts';
import { relativeTime } from '#src/platform/relative-time.ts';
import { toast } from '#src/platform/toast.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { EmptyApi } from './empty-api.tsx';
import { Form } from '#src/ui/form/form.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { SwitchField } from '#src/ui/switch-field.tsx';
import type { Out } from '#contract/calls.ts';
import type { ApiKey } from '#contract/developer.ts';
import { limits } from '#contract/limits.ts';
import { Link } from '@tanstack/react-router';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { type ReactNode, useState } from 'react';
import css from './api.module.css';
import { BoundMeters } from './key-bounds.tsx';
import { setFreshKey, useFreshKey } from './fresh-key.ts';
import { useKeys } from './key-queries.ts';

const KeyForm = lazyAsked(() => import('./key-form.tsx'), <Skeleton lines={6} />);

/** As many as one person may have. */
const mostKeys = 5;

const remove = async (key: ApiKey) => {
  const sure = await confirmDialog({
    title: '删除 API-KEY',
    text: `删除“${key.name || key.mask}”之后，用它的程序立刻不能再调用，正在进行的回复也会停止。不能恢复。`,
    ok: '删除',
    danger: true,
  });
  if (!sure) return;
  await api.delKey({ id: key.id });
  toast('删除成功', 'success');
};

const pause = async (key: ApiKey) => {
  const on = !key.paused;
  const sure =
    !on ||
    (await confirmDialog({
      title: '停用 API-KEY',
      text: `“${key.name || key.mask}”立刻不能再调用，正在进行的回复也会停止。以后可以重新打开。`,
      ok: '停用',
      danger: true,
    }));
  if (!sure) return;
  await api.pauseKey({ id: key.id, on });
  toast(on ? '已停用' : '已重新打开', 'success');
};

const Fact = ({
  name,
  numbers,
  children,
}: {
  name: string;
  numbers?: true;
  children: ReactNode;
}) => (
  <div>
    <dt>{name}</dt>
    <dd className={numbers && 'tabular'}>{children}</dd>
  </div>
);

const Bounds = ({ row }: { row: ApiKey }) => {
  const { month_limit: limit, month_used: used, at_once: atOnce, call_tokens: longest } = row;
  return (
    <dl className={css.facts}>
      <Fact name="本月已用" numbers>
        {compactNumber(used)}
        {limit !== null && ` / ${compactNumber(limit)}`} token
      </Fact>
      <Fact name="最近使用">
        {row.last_used_at === null ? '还没有用过' : relativeTime(row.last_used_at)}
      </Fact>
      <Fact name="创建">{dateTime(row.created_at)}</Fact>
      <Fact name="一次最多" numbers>
        {(longest ?? limits.apiTokens).toLocaleString('zh-CN')} token
        {longest === null && '（可以调高）'}
      </Fact>
      {atOnce !== null && (
        <Fact name="同时进行" numbers>
          {atOnce} 个
        </Fact>
      )}
      {row.old_until !== null && <Fact name="旧的 KEY 还能用到">{dateTime(row.old_until)}</Fact>}
      {row.expires_at !== null && <Fact name="有效期到">{dateTime(row.expires_at)}</Fact>}
      {row.models.length > 0 && <Fact name="只能用">{row.models.join('、')}</Fact>}
      {row.addresses.length > 0 && <Fact name="只能从">{row.addresses.join('、')}</Fact>}
    </dl>
  );
};

const Fresh = ({ value, once, onDone }: { value: string; once: boolean; onDone: () => void }) => (
  <section className={css.fresh} aria-label="新的 API-KEY">
    <p>
      {once ? (
        <>
          <strong>请现在就复制保存：</strong>
          完整的 API-KEY 只显示这一次，离开这个页面后谁也看不到它。
        </>
      ) : (
        '新的 API-KEY 可以用了。以后随时能在下面复制；不要交给别人，也不要写进网页。'
      )}
    </p>
    <code data-testid="fresh-key">{value}</code>
    <div className={css.acts}>
      <Button kind="primary" onClick={() => void copyText(value)}>
        <Icon name="copy" size={18} />
        复制
      </Button>
      <Link className="button" to="/api" search={{ tab: 'example' }}>
        看代码示例
      </Link>
      <Button kind="ghost" onClick={onDone}>
        {once ? '我已保存' : '知道了'}
      </Button>
    </div>
  </section>
);

const graces = [
  { value: '0', label: '立刻作废' },
  { value: '1', label: '1 小时' },
  { value: '24', label: '1 天' },
  { value: '168', label: '7 天' },
];

const RotateForm = ({ row, onMade }: { row: ApiKey; onMade: (key: string) => void }) => (
  <Form
    fields={[
      {
        name: 'grace_hours',
        label: '旧的 KEY 还能用',
        kind: 'choice',
        required: true,
        options: row.old_until === null ? graces : graces.slice(0, 1),
        hint:
          row.old_until === null
            ? '得到一个新的 KEY，名字和限制不变；在旧的失效之前，把程序里的换掉'
            : `上次换下来的 KEY 还能用到 ${dateTime(row.old_until)}。现在换新，它和现在的 KEY 都立刻作废`,
      },
    ]}
    initial={{ grace_hours: row.old_until === null ? '24' : '0' }}
    submit="换新"
    onSubmit={async (values) => {
      const { full_key: key } = await api.rotateKey(
        { id: row.id, grace_hours: Number(values['grace_hours']) },
        { quiet: true },
      );
      onMade(key);
      toast('已换新', 'success');
    }}
  />
);

const showOnce = async (on: boolean) => {
  const sure =
    !on ||
    (await confirmDialog({
      title: '只显示一次',
      text: '已保存的 API-KEY 会立刻忘掉，以后不能再复制，关掉这个选择也找不回来。它们照常能用。',
      ok: '打开',
      danger: true,
    }));
  if (sure) await api.keysShownOnce({ on });
};

type Keys = Out<'apiKeys'>;

const Balance = ({ me }: { me: Keys['userinfo'] }) => (
  <section className={css.status} aria-label="余额">
    <div>
      <span>可用余额</span>
      <strong className="tabular">{compactNumber(me.chatgpt_balance)} token</strong>
    </div>
    {me.may_use ? (
      <p>调用按余额扣费；会员每月的额度不用于 API。</p>
    ) : (
      <p className={css.warn}>
        API 只对付费用户开放。{me.hint}。<Link to="/account">去账户页</Link>
      </p>
    )}
  </section>
);

const KeyCard = ({
  row,
  whole,
  onEdit,
  onRotate,
}: {
  row: ApiKey;
  /** As a program sends it, where it is kept. */
  whole: string;
  onEdit: () => void;
  onRotate: () => void;
}) => (
  <li className={css.key}>
    <header>
      <div>
        <strong>
          {row.name || '未命名'}
          {row.paused && <span className={css.off}>已停用</span>}
        </strong>
        <code>{row.mask}</code>
        {row.used_for !== '' && <small>{row.used_for}</small>}
      </div>
      {row.kept && (
        <Button
          kind="ghost"
          size="icon"
          aria-label={`复制 ${row.name || row.mask}`}
          onClick={() => void copyText(whole)}
        >
          <Icon name="copy" />
        </Button>
      )}
    </header>
    <Bounds row={row} />
    <BoundMeters limits={row.limits} />
    <div className={css.acts}>
      <Button size="small" onClick={onEdit}>
        修改
      </Button>
      <Button size="small" onClick={onRotate}>
        换新
      </Button>
      <Button size="small" onClick={() => void pause(row)}>
        {row.paused ? '重新打开' : '停用'}
      </Button>
      <Button
        size="small"
        kind="ghost"
        aria-label={`删除 ${row.name || row.mask}`}
        onClick={() => void remove(row)}
      >
        <Icon name="trash" size={18} />
        删除
      </Button>
    </div>
  </li>
);

export const KeyTab = () => {
  const keys = useKeys();
  const fresh = useFreshKey();
  const [making, setMaking] = useState(false);
  const [edited, setEdited] = useState<ApiKey>();
  const [rotated, setRotated] = useState<ApiKey>();
  const [shown, setShown] = useState(false);
  const showFresh = (key: string) => {
    setFreshKey(key);
    setShown(true);
    setMaking(false);
    setRotated(undefined);
  };
  const list = keys.data?.list ?? [];
  const me = keys.data?.userinfo;
  const full = list.length >= mostKeys;
  return (
    <div className={css.tabBody}>
      {me && <Balance me={me} />}
      {shown && fresh !== '' && (
        <Fresh value={fresh} once={me?.keys_shown_once === true} onDone={() => setShown(false)} />
      )}
      {keys.isPending && (
        <div className="card">
          <Skeleton lines={6} />
        </div>
      )}
      {keys.isError && !keys.data && <QueryFailed query={keys} />}
      {keys.data && (
        <div className={css.bar}>
          <span className={css.count}>
            {list.length} / {mostKeys} 个
          </span>
          <Button kind="primary" disabled={full} onClick={() => setMaking(true)}>
            <Icon name="plus" size={18} />
            创建 API-KEY
          </Button>
        </div>
      )}
      {full && <p className={css.hint}>最多 {mostKeys} 个，要新建请先删除不用的。</p>}
      {keys.data && list.length === 0 && (
        <EmptyApi text="还没有 API-KEY。点上面的“创建 API-KEY”，复制两行代码就能用。" />
      )}
      <ul className={css.keys}>
        {list.map((row) => (
          <KeyCard
            key={row.id}
            row={row}
            whole={`${me?.user_id}-${row.api_key}`}
            onEdit={() => setEdited(row)}
            onRotate={() => setRotated(row)}
          />
        ))}
      </ul>
      {me && (
        <SwitchField
          label="只显示一次"
          hint="打开后，完整的 API-KEY 只在创建时显示，本站不再保存；已有的也立刻不能再复制"
          checked={me.keys_shown_once}
          onChange={(on) => void showOnce(on)}
        />
      )}
      <Sheet open={making} onClose={() => setMaking(false)} title="创建 API-KEY">
        <KeyForm
          onMade={(key) => {
            showFresh(key);
            toast('创建 API-KEY 成功', 'success');
          }}
          onSaved={() => setMaking(false)}
        />
      </Sheet>
      <Sheet
        open={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={`修改 ${edited?.name || 'API-KEY'}`}
      >
        {edited && (
          <KeyForm
            key={edited.id}
            row={edited}
            onMade={showFresh}
            onSaved={() => {
              setEdited(undefined);
              toast('已保存，立刻生效', 'success');
            }}
          />
        )}
      </Sheet>
      <Sheet
        open={rotated !== undefined}
        onClose={() => setRotated(undefined)}
        title={`换新 ${rotated?.name || 'API-KEY'}`}
      >
        {rotated && <RotateForm row={rotated} onMade={showFresh} />}
      </Sheet>
    </div>
  );
};
