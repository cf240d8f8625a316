import Rate from 'antd-mobile/es/components/rate';
import css from './stars.module.css';

/** Stars to choose from, half by half; none is 0. */
export const Stars = ({ value, onChange }: { value: number; onChange: (next: number) => void }) => (
  <Rate allowHalf className={css.stars} value={value} onChange={onChange} />
);
