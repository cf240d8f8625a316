import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import kitCss from './send-kit.module.css';

/** The balance does not reach for what the box would send: recharge, or a model that takes nothing. */
export const ShortBalance = ({
  children,
  onFree,
}: {
  /** How much is needed, and how much there is. */
  children: ReactNode;
  /** Null: no model takes nothing. */
  onFree: (() => void) | null;
}) => (
  <div className={kitCss.sendNote} role="status">
    <p>余额不足：{children}。</p>
    <Link className={kitCss.sendNoteAct} to="/account" search={{ tab: 'recharge' }}>
      去充值
    </Link>
    {onFree && (
      <button type="button" className={kitCss.sendNoteAct} onClick={onFree}>
        使用免费模型
      </button>
    )}
  </div>
);
