import AdmSteps from 'antd-mobile/es/components/steps';
import css from './steps.module.css';

/** Where one is in a work of several steps; `current` counts from 0. */
export const Steps = ({ steps, current }: { steps: readonly string[]; current: number }) => (
  <div className={css.steps}>
    <p className="sr-only" role="status">
      第 {Math.min(current + 1, steps.length)} 步，共 {steps.length} 步：{steps[current] ?? '完成'}
    </p>
    <div aria-hidden="true">
      <AdmSteps current={current}>
        {steps.map((title) => (
          <AdmSteps.Step key={title} title={title} />
        ))}
      </AdmSteps>
    </div>
  </div>
);
