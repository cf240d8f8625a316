import { modelTypes } from '#contract/kinds.ts';
import type { Model } from '#contract/model.ts';
import { Avatar } from '#src/ui/avatar.tsx';
import { Button } from '#src/ui/button.tsx';
import { Tag } from '#src/ui/chip.tsx';
import { useState } from 'react';
import { Facts } from './model-details.tsx';
import { priceOf } from '#src/widgets/model/model-words.ts';
import {
  badgesOf,
  rateText,
  rateTip,
  sessionTypeOf,
  untrained,
  type Health,
} from './model-facts.ts';
import css from './model.module.css';

/** Where a logo stands that the mouse is over, px of the window. */
interface Hovered {
  left: number;
  middle: number;
}

const hoveredAt = (logo: Element): Hovered => {
  const { right, top, bottom } = logo.getBoundingClientRect();
  return { left: right + 8, middle: (top + bottom) / 2 };
};

/** Beside the logo and whole within the window. */
const HoverCard = ({
  at: { left, middle },
  model,
  health,
}: {
  at: Hovered;
  model: Model;
  health: Health | undefined;
}) => {
  const place = (card: HTMLElement | null) => {
    if (!card) return;
    const { offsetHeight: height, offsetWidth: width } = card;
    const top = Math.min(middle - height / 2, innerHeight - height - 8);
    card.style.top = `${Math.max(8, top)}px`;
    card.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`;
  };
  return (
    <div className={css.hover} role="tooltip" ref={place}>
      <Facts model={model} health={health} />
    </div>
  );
};

/** What a press on a card begins, by the type of the session. */
const beginWords = { 0: '开始聊', 1: '开始画', 4: '做视频' } as const;

/** A model for people: what it is good at, what it costs, and the way into a session with it. */
export const ModelCard = ({
  model,
  health,
  compared,
  onLook,
  onBegin,
  onCompare,
}: {
  model: Model;
  health: Health | undefined;
  /** Whether it is chosen to be compared; null: nothing is compared now. */
  compared: boolean | null;
  onLook: () => void;
  onBegin: () => void;
  onCompare: () => void;
}) => {
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const { price, unit } = priceOf(model);
  const type = sessionTypeOf(model);
  const success = health && health.count > 0 ? health.success / health.count : 1;
  return (
    <li className={css.card} data-chosen={compared === true || undefined}>
      <div className={css.model}>
        <button
          type="button"
          className={css.logo}
          aria-label={`关于${model.label}`}
          onClick={() => {
            setHovered(null);
            onLook();
          }}
          onPointerEnter={({ pointerType, currentTarget }) => {
            if (pointerType === 'mouse') setHovered(hoveredAt(currentTarget));
          }}
          onPointerLeave={() => setHovered(null)}
          onFocus={({ currentTarget }) => {
            if (currentTarget.matches(':focus-visible')) setHovered(hoveredAt(currentTarget));
          }}
          onBlur={() => setHovered(null)}
        >
          <Avatar name={model.label} src={model.logo} color={model.color} size={40} />
        </button>
        <button type="button" className={css.name} onClick={onLook}>
          {model.label}
        </button>
        {untrained(model) && <Tag>未训练</Tag>}
        {success < 0.9 && <Tag className={css.poor}>近一天成功 {Math.floor(success * 100)}%</Tag>}
      </div>
      {model.remark !== '' && <p className={css.about}>{model.remark}</p>}
      <ul className={css.badges} aria-label="特点">
        {badgesOf(model, health).map((badge) => (
          <li key={badge}>
            <Tag>{badge}</Tag>
          </li>
        ))}
      </ul>
      <div className={css.foot}>
        <p className={css.price} title={rateTip(model)}>
          <b>{price}</b> {unit}{' '}
          {model.type === modelTypes.chat && model.factor > 0 && (
            <small role="note" aria-label={rateTip(model)}>
              {rateText(model)}
            </small>
          )}
        </p>
        {compared === null ? (
          <Button kind="primary" size="small" onClick={onBegin}>
            {type === undefined ? '去会话里用' : beginWords[type]}
          </Button>
        ) : (
          <Button size="small" aria-pressed={compared} onClick={onCompare}>
            {compared ? '已选' : '选它'}
          </Button>
        )}
      </div>
      {hovered && <HoverCard at={hovered} model={model} health={health} />}
    </li>
  );
};
