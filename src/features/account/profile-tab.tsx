import { saveOwn } from '#src/platform/save-file.ts';
import { attempt } from '#src/platform/attempt.ts';
import { api } from '#src/platform/api.ts';
import { useCall } from '#src/platform/call-query.ts';
import { errorText, isCancelled } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { byteSize, dateTime, maskAccount } from '#src/platform/format.ts';
import { forgetPerson } from '#src/platform/forget-person.ts';
import type { PostFormOptions } from '#src/platform/post-form.ts';
import { refreshScreens } from '#src/platform/query-client.ts';
import { toast } from '#src/platform/toast.ts';
import { upload } from '#src/platform/upload.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Button } from '#src/ui/button.tsx';
import { confirmDialog } from '#src/ui/dialog.ts';
import { Form } from '#src/ui/form/form.tsx';
import { limits } from '#contract/limits.ts';
import { useNavigate } from '@tanstack/react-router';
import { lazyAsked } from '#src/platform/lazy-chunk.ts';
import { useRef, useState } from 'react';
import css from './profile-tab.module.css';

const AvatarCrop = lazyAsked(() => import('./avatar-crop.tsx'));

const Face = () => {
  const { user } = useAuth();
  const picker = useRef<HTMLInputElement>(null);
  const [picked, setPicked] = useState('');
  if (!user) return null;
  const close = () => {
    URL.revokeObjectURL(picked);
    setPicked('');
  };
  const save = async (image: Blob, options: PostFormOptions) => {
    try {
      await upload('uploadAvatar', image, { fileName: 'avatar.jpg', ...options });
      // Whatever shows the face asks for it anew.
      void refreshScreens();
      toast('头像已更新', 'success');
      close();
    } catch (error) {
      if (!isCancelled(error)) toast(`上传失败：${errorText(error)}`, 'error');
    }
  };
  return (
    <div className={css.face}>
      <Avatar name={user.user_name} src={user.avatar} size={72} />
      <div>
        <strong>{user.user_name}</strong>
        <span>{maskAccount(user.account)}</span>
      </div>
      <Button onClick={() => picker.current?.click()}>换头像</Button>
      <input
        ref={picker}
        type="file"
        accept="image/jpeg,image/png"
        hidden
        aria-label="选择头像"
        onChange={(event) => {
          const [file] = event.target.files ?? [];
          event.target.value = '';
          if (file) setPicked(URL.createObjectURL(file));
        }}
      />
      {picked !== '' && <AvatarCrop url={picked} onDone={save} onClose={close} />}
    </div>
  );
};

const Data = () => {
  const files = useCall(
    'accountFiles',
    {},
    { refetchInterval: ({ state }) => (state.data?.running === 1 ? 2_000 : false) },
  );
  const running = files.data?.running === 1;
  const begin = async () => {
    await attempt(async () => {
      await api.exportAccount({});
      toast('正在整理，好了之后在这里下载');
    });
    await files.refetch();
  };
  return (
    <section className={`card ${css.part}`}>
      <h2>带走我的数据</h2>
      <p>资料、订单、消费记录、全部会话与图片，整理成一个 zip。只有您能下载，三天后删除。</p>
      {files.data?.list.map((each) => (
        <Button
          key={each.id}
          onClick={() => void attempt(() => saveOwn('/api/account_file', { id: String(each.id) }))}
        >
          下载 {dateTime(each.created_at)} 的数据（{byteSize(each.size)}）
        </Button>
      ))}
      <Button busy={running} onClick={() => void begin()}>
        {running ? '正在整理…' : '整理我的数据'}
      </Button>
    </section>
  );
};

const Leave = () => {
  const navigate = useNavigate();
  const leave = async () => {
    const sure = await confirmDialog({
      title: '真的要注销吗',
      text: '注销之后，会话、图片、余额都没有了，不能恢复。',
      ok: '永久注销',
      danger: true,
    });
    if (!sure) return;
    await api.deleteAccount({});
    await forgetPerson();
    await navigate({ to: '/', replace: true });
    toast('账号已注销');
  };
  return (
    <section className={`card ${css.part}`}>
      <h2>注销账号</h2>
      <p>
        个人信息、会话与图片立即删除，余额与会员作废，不能恢复。订单按规定保留，不再与您的姓名相连。
      </p>
      <Button kind="danger" onClick={() => void attempt(leave)}>
        注销账号
      </Button>
    </section>
  );
};

const ProfileTab = () => {
  const { user } = useAuth();
  if (!user) return null;
  return (
    <>
      <section className={`card ${css.part}`}>
        <Face />
        <Form
          key={user.user_name}
          draft="profile"
          fields={[
            {
              name: 'user_name',
              kind: 'text',
              required: true,
              max: limits.name.max,
            },
          ]}
          initial={{ user_name: user.user_name }}
          submit="保存"
          onSubmit={async ({ user_name: name }) => {
            await api.saveUser({ user_name: String(name) }, { quiet: true });
            toast('修改成功', 'success');
          }}
        />
      </section>
      <Data />
      <Leave />
    </>
  );
};

export default ProfileTab;
