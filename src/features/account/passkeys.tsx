import '#src/platform/late-calls.ts';
import type { Out } from '#contract/calls.ts';
import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { dateTime } from '#src/platform/format.ts';
import { toast } from '#src/platform/toast.ts';
import { useAct } from '#src/platform/use-act.ts';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Form } from '#src/ui/form/form.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { answerPasskey, knowsPasskeys } from '#src/widgets/sign-in/passkey.ts';
import { useState } from 'react';
import { codeField, eitherCode } from './code-field.ts';
import css from './profile-tab.module.css';

type Passkey = Out<'signInMeans'>['passkeys'][number];

const nameOfDevice = (): string => {
  const { userAgent } = navigator;
  const [, found = '这台设备'] =
    /(iPhone|iPad|Android|Windows|Macintosh|Linux)/.exec(userAgent) ?? [];
  return found === 'Macintosh' ? 'Mac' : found;
};

const Row = ({ passkey }: { passkey: Passkey }) => {
  const [naming, setNaming] = useState(false);
  const remove = async () => {
    const sure = await confirmDialog({
      title: `删除“${passkey.name}”`,
      text: '之后不能再用它登录。设备里存着的那一份，请在设备的密码管理里一起删除。',
      ok: '删除',
      danger: true,
    });
    if (sure) await attempt(() => api.removePasskey({ id: passkey.id }), '已删除');
  };
  return (
    <li>
      <div>
        <b>{passkey.name}</b>
        <span>
          {dateTime(passkey.created_at)} 添加，
          {passkey.used_at === null ? '还没有用过' : `${dateTime(passkey.used_at)} 用过`}
        </span>
      </div>
      <Button size="small" onClick={() => setNaming(true)}>
        修改名称
      </Button>
      <Button size="small" onClick={() => void remove()}>
        删除
      </Button>
      <Sheet open={naming} onClose={() => setNaming(false)} title="修改名称">
        <Form
          fields={[{ name: 'name', label: '名称', kind: 'text', required: true, max: 40 }]}
          initial={{ name: passkey.name }}
          onSubmit={async ({ name }) => {
            await api.renamePasskey({ id: passkey.id, name: String(name) }, { quiet: true });
            setNaming(false);
          }}
        />
      </Sheet>
    </li>
  );
};

/** Signs in by a finger, a face or a number of the device: a person may have several. */
export const Passkeys = ({ list }: { list: readonly Passkey[] }) => {
  const { busy, run } = useAct();
  const guarded = useCall('totpState', {}).data?.enabled === true;
  const add = async (code: string) => {
    const { id, options } = await api.beginPasskey({ code }, { quiet: true });
    const response = await answerPasskey('make', options);
    if (response === null) {
      toast('没有添加：设备上取消了，或已经有一个');
      return;
    }
    await api.savePasskey({ id, name: nameOfDevice(), response }, { quiet: true });
    toast('已添加，可以用它登录', 'success');
  };
  return (
    <section className={`card ${css.part}`}>
      <h2>通行密钥</h2>
      <p>用手机或电脑的指纹、面容、锁屏密码登录，不用输入用户名和密码，也不用动态验证码。</p>
      {list.length > 0 && (
        <ul className={css.devices}>
          {list.map((passkey) => (
            <Row key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
      {knowsPasskeys() && guarded && (
        <Form
          fields={[{ ...codeField, label: '添加：验证码', hint: eitherCode }]}
          submit="添加通行密钥"
          onSubmit={({ code }) => add(String(code))}
        />
      )}
      {knowsPasskeys() && !guarded && (
        <Button busy={busy} onClick={() => void run(() => add(''))}>
          添加通行密钥
        </Button>
      )}
      {!knowsPasskeys() && <p>这个浏览器不支持通行密钥。</p>}
    </section>
  );
};
