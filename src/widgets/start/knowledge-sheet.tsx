import { useAuth } from '#src/platform/auth-store.ts';
import { useCall } from '#src/platform/call-query.ts';
import { toast } from '#src/platform/toast.ts';
import { Button, ButtonLink } from '#src/ui/button.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import { limits } from '#contract/limits.ts';
import { StartList } from './start-list.tsx';
import css from './start-sheets.module.css';

/** Where one is made, once there is an account. */
const newBase = '/train';

type Chosen = readonly { key: string; name: string }[];

/** A base of one's own belongs to an account; a single file needs none. */
const AccountFirst = ({ onLeave }: { onLeave: () => void }) => (
  <div className={css.startGuest}>
    <p className={css.startNote}>
      想建自己的知识库，要先登录。只问一两个文件不用登录：添加为附件，直接提问。
    </p>
    <div className="row">
      <ButtonLink to="/register" search={{ back: newBase }} onClick={onLeave}>
        注册
      </ButtonLink>
      <ButtonLink to="/login" search={{ back: newBase }} onClick={onLeave}>
        去登录
      </ButtonLink>
    </div>
  </div>
);

/** Texts that the answers of a session shall rest on; several may be chosen. */
const KnowledgeSheet = ({
  open,
  chosen,
  onClose,
  onChoose,
}: {
  open: boolean;
  chosen: Chosen;
  onClose: () => void;
  onChoose: (knowledge: { key: string; name: string }[]) => void;
}) => {
  const list = useCall('embeddingList', {});
  const { token, user } = useAuth();
  const guest = token === '' || user?.guest === true;
  const turn = (key: string, name: string) => {
    const others = chosen.filter((each) => each.key !== key);
    if (others.length === chosen.length && chosen.length >= limits.bases) {
      toast(`一次最多问 ${limits.bases} 个知识库`, 'error');
      return;
    }
    onChoose(others.length === chosen.length ? [...chosen, { key, name }] : others);
  };
  return (
    <Sheet popover="panel" open={open} onClose={onClose} title="选择知识库">
      <div className={css.startSheet}>
        <p className={css.startNote}>回答会先在知识库里查找，并注明出处。可以一次选几个。</p>
        <StartList
          query={list}
          items={({ list }) => list.map(({ key, name, desc }) => ({ key, name, about: desc }))}
          lines={3}
          chosen={chosen.map(({ key }) => key)}
          empty={
            <EmptyPlace
              drawing="lighthouse"
              text={
                guest
                  ? '还没有公开的知识库可以提问。'
                  : '还没有可以提问的知识库。上传几个文件，就能向它们提问。'
              }
            />
          }
          onChoose={({ key, name }) => turn(String(key), name)}
        />
        {guest ? (
          <AccountFirst onLeave={onClose} />
        ) : (
          <ButtonLink to="/train" onClick={onClose}>
            新建知识库
          </ButtonLink>
        )}
        <Button kind={chosen.length === 0 ? 'plain' : 'primary'} onClick={onClose}>
          {chosen.length === 0 ? '不用知识库' : `用这 ${chosen.length} 个`}
        </Button>
      </div>
    </Sheet>
  );
};

export default KnowledgeSheet;
