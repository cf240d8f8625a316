import { ButtonLink } from '#src/ui/button.tsx';
import { EmptyPlace } from '#src/widgets/empty-place/empty-place.tsx';
import type { Channel } from '#contract/session.ts';

/** An empty list, and what to do next. */
const NoSessions = ({
  channel,
  filtered,
  visitor,
}: {
  channel: Channel;
  filtered: boolean;
  visitor: boolean;
}) => {
  if (filtered)
    return (
      <EmptyPlace
        drawing="lighthouse"
        text="没有符合条件的会话，换个词或者去掉筛选试试。"
        action={
          <ButtonLink to="/" search={{ channel }}>
            去掉筛选
          </ButtonLink>
        }
      />
    );
  if (channel === 'public')
    return (
      <EmptyPlace
        drawing="town"
        text="公共频道里还没有会话。在上面提一个问题，公开之后就会出现在这里。"
        action={
          <ButtonLink to="/" search={{ channel, new: 1 }}>
            提一个问题
          </ButtonLink>
        }
        example={{ label: '江南有哪些古镇', prompt: '江南有哪些值得去的古镇？各用一句话介绍。' }}
      />
    );
  const mine = channel === 'private';
  return (
    <EmptyPlace
      drawing={mine ? 'magpies' : 'snow'}
      text={
        mine
          ? '还没有会话。在上面写下第一个问题，回答会保存在这里。'
          : '还没有收藏。在会话的“更多操作”或消息的菜单里点“收藏”，以后在这里就能找到。'
      }
      action={
        <div className="row">
          {visitor && (
            <ButtonLink to="/login">
              {mine ? '登录后查看以前的会话' : '登录后查看以前的收藏'}
            </ButtonLink>
          )}
          <ButtonLink to="/" search={{ channel: 'public' }}>
            看看公共频道
          </ButtonLink>
        </div>
      }
      example={
        mine
          ? { label: '讲讲鹊桥的传说', prompt: '鹊桥的传说是怎么来的？讲给我听。' }
          : { label: '问一个值得收藏的', prompt: '旅行前要检查的十件事，做成清单。' }
      }
    />
  );
};

export default NoSessions;
