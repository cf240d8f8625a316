import Rate from 'antd-mobile/es/components/rate';
import css from './stars.module.css';

const most = 5;

/** Stars to choose from, half by half; none is 0. Keys move the slider that a screen reader reads. */
export const Stars = ({ value, onChange }: { value: number; onChange: (next: number) => void }) => (
  <div className={css.stars}>
    <input
      type="range"
      className="sr-only"
      min={0}
      max={most}
      step={0.5}
      value={value}
      aria-label="评分"
      aria-valuetext={value === 0 ? '还没有评分' : `${value} 星`}
      onChange={(event) => onChange(Number(event.target.value))}
    />
    <div aria-hidden="true">
      <Rate allowHalf count={most} value={value} onChange={onChange} />
    </div>
  </div>
);
